// What is under the cursor, in words: the legend of a chart, and what a screen reader hears.
import { el } from './dom.js'
import { number, range, show } from './format.js'


function valueText(spec, point) {
  if (!point)
    return '–'
  const [, y, low, high] = point
  const spread = range({ low, high, unit: spec.y.unit })
  return `${show(y, spec.y.unit)}${spread && ` (${spread})`}`
}

export function readout(spec) {
  const many = spec.curves.length > 1
  const where = el('span', { class: 'where' })
  const items = spec.curves.map(curve => {
    const value = el('span', { class: 'value' })
    const item = el('span', { class: 'item' }, el('span', { class: `key key${curve.colour + 1}`, 'aria-hidden': 'true' }),
      many && el('span', { class: 'label' }, curve.label), ' ', value)
    return { value, item, at: new Map(curve.points.map(point => [point[0], point])) }
  })
  const node = el('output', { class: 'readout', 'aria-live': 'polite' }, where, items.map(each => each.item))
  const hint = `${spec.y.name}${spec.y.unit ? ` (${spec.y.unit})` : ''} over ${spec.x.name}`
  const clear = () => {
    where.textContent = hint
    items.forEach(each => { each.value.textContent = '' })
    if (!many)
      items[0].item.hidden = true
  }
  clear()
  return {
    node,
    show: x => {
      if (x === undefined)
        return clear()
      where.textContent = `${spec.x.name} ${spec.x.unit ? number(x, spec.x.unit) : String(x)}`
      for (const each of items) {
        each.item.hidden = false
        each.value.textContent = valueText(spec, each.at.get(x))
      }
    }
  }
}
