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

// The points of a curve, as `fathom curve --format csv` writes them.
export function curveCsv(curve) {
  const column = (name, unit) => `${name}${unit ? '_' : ''}${unit}`.replace(/[",\r\n]/g, ' ')
  const heading = [column(curve.x.name, curve.x.unit), column(curve.y.name, curve.y.unit),
    column('low', curve.y.unit), column('high', curve.y.unit)]
  return [heading, ...curve.points].map(row => row.map(v => v ?? '').join(',')).join('\n') + '\n'
}
