// Results beside each other. What differs was decided when the results were compared; here it is
// shown.
import { el, table } from './dom.js'
import { count, range, show, times } from './format.js'
import { find, split, structureName } from './model.js'

// As `fathom diff` calls them.
export function columnNames(diff) {
  return diff.results.map((side, i) => (diff.results.length === 2 ? 'AB'[i] : String(i + 1)))
}

export function differenceSummary(diff) {
  const differ = diff.differences.length
  const rest = diff.not_compared ? ` ${count(diff.not_compared, 'other')} could not be compared, since no two results answer them.` : ''
  const odd = diff.results.map((side, i) => [side.odd, i]).filter(([times]) => times > 0)
    .map(([times, i]) => `${i + 1} in ${times}`)
  const names = odd.length ? ` The odd one out is result ${odd.join(', result ')}.` : ''
  if (!differ)
    return `None of ${count(diff.compared, 'property', 'properties')} differs beyond its interval.${rest}`
  return `${differ} of ${count(diff.compared, 'property', 'properties')} ${differ === 1 ? 'differs' : 'differ'} beyond their intervals.${names}${rest}`
}

function cell(side, unit) {
  if (!side)
    return '–'
  if (side.status !== 'measured')
    return el('span', { class: 'quiet' }, side.status === 'absent' ? 'none' : side.status)
  const spread = range({ ...side, unit })
  return [show(side.value, unit), side.odd && el('span', { class: 'mark differs' }, ' odd one out'),
    spread && el('span', { class: 'range' }, spread)]
}

// '+66 %', '× 4' or '1/16': what a reader would work out next.
function change([a, b]) {
  if (!(a?.value > 0 && b?.value > 0))
    return ''
  const ratio = b.value / a.value
  return ratio >= 0.5 && ratio <= 2 ? `${ratio >= 1 ? '+' : '−'}${Math.abs((ratio - 1) * 100).toFixed(Math.abs(ratio - 1) < 0.1 ? 1 : 0)} %`
    : times(ratio)
}

// Rows of one structure stand together.
function grouped(rows) {
  const groups = new Map()
  for (const { property, cells } of rows) {
    const [structure, attribute] = split(property)
    if (!groups.has(structure))
      groups.set(structure, { heading: structureName(structure), rows: [] })
    groups.get(structure).rows.push([el('code', {}, attribute || property), ...cells])
  }
  return [...groups.values()]
}

export function differencesTable(diff, names) {
  if (!diff.differences.length)
    return el('p', { class: 'nothing' }, 'There are none.')
  const two = names.length === 2
  return table({
    caption: 'What differs beyond its interval',
    classes: 'compared stack',
    headings: ['Property', ...names, ...(two ? ['Change'] : [])],
    groups: grouped(diff.differences.map(({ property, unit, sides }) =>
      ({ property, cells: [...sides.map(side => cell(side, unit)), ...(two ? [change(sides)] : [])] })))
  })
}

export function valuesTable(diff, results, names) {
  const properties = [...new Set(results.flatMap(result => result.findings.map(finding => finding.property)))]
  const differing = new Set(diff.differences.map(item => item.property))
  const row = property => ({
    property,
    cells: [...results.map(result => {
      const finding = find(result, property)
      return cell(finding, finding?.unit)
    }), differing.has(property) ? el('span', { class: 'mark differs' }, 'differs') : '']
  })
  return table({
    caption: 'Every property, differing or not',
    classes: 'compared stack',
    headings: ['Property', ...names, 'Verdict'],
    groups: grouped(properties.map(row))
  })
}
