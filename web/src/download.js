// Raw data, handed over by the page itself: nothing is fetched.
import { el } from './dom.js'

// A name that is safe as part of a file's name anywhere.
export function fileName(text, suffix) {
  const plain = text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 60)
  return `${plain || 'fathom'}.${suffix}`
}

export function downloadButton(label, name, type, text) {
  return el('button', {
    type: 'button',
    class: 'download',
    click: () => {
      const address = URL.createObjectURL(new Blob([text()], { type }))
      el('a', { href: address, download: name }).click()
      setTimeout(() => URL.revokeObjectURL(address), 10000)
    }
  }, label)
}

// The points of a curve, as `fathom curve --format csv` writes them; those of a family have their
// curve's name before them.
export function curvesCsv(curves) {
  const field = value => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)
  const column = (name, unit) => field(`${name}${unit ? '_' : ''}${unit}`)
  const [{ x, y }] = curves
  const heading = [column(x.name, x.unit), column(y.name, y.unit), column('low', y.unit), column('high', y.unit)]
  const rows = curves.flatMap(curve => curve.points.map(point => [field(curve.id), ...point.map(v => v ?? '')]))
  const from = curves.length > 1 ? 0 : 1
  return [['curve', ...heading], ...rows].map(row => row.slice(from).join(',')).join('\n') + '\n'
}
