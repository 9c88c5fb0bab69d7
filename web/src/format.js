// Values as people read them; what is not known is never a number.

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

// Three digits, and no more than are known: 1.59, 34.6, 130.
export function three(number) {
  const size = Math.abs(number)
  if (size !== 0 && (size < 1e-3 || size >= 1e7))
    return number.toPrecision(3)
  return number.toFixed(size < 0.9995 && size > 0 ? 3 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0)
}

function short(number) {
  const text = String(number)
  return text.length <= 5 ? text : String(Number(number.toPrecision(3)))
}

export function size(bytes) {
  let unit = 0
  while (bytes >= 1024 && unit < UNITS.length - 1) {
    bytes /= 1024
    unit++
  }
  return `${short(bytes)} ${UNITS[unit]}`
}

export function number(value, unit) {
  if (unit === 'B')
    return size(value)
  if (!unit)
    return Number.isInteger(value) ? String(value) : three(value)
  if (unit === 'cycles')
    return `${value.toFixed(value < 99.95 ? 1 : 0)} cycles`
  return `${three(value)} ${unit}`
}

// A value of a finding, '' where it is null.
export function show(value, unit) {
  if (value === null || value === undefined)
    return ''
  if (typeof value === 'number')
    return number(value, unit)
  if (typeof value === 'boolean')
    return value ? 'yes' : 'no'
  return String(value)
}

// '562 – 680 KiB', '900 KiB – 1.2 MiB', 'at least 4 MiB', '' where both ends read the same.
export function range({ low, high, unit }) {
  const from = show(low, unit), to = show(high, unit)
  if (from === to)
    return ''
  if (!from || !to)
    return from ? `at least ${from}` : `at most ${to}`
  const [, value, suffix] = from.match(/^(\S+)( \S+)$/) ?? []
  return `${suffix && to.endsWith(suffix) ? value : from} – ${to}`
}

export function percent(fraction) {
  return typeof fraction === 'number' ? `${Number(three(fraction * 100))} %` : ''
}

// '2.60 GHz', '133 MHz'
export function clock(gigahertz) {
  return gigahertz >= 0.9995 ? `${gigahertz.toFixed(2)} GHz` : `${three(gigahertz * 1e3)} MHz`
}

// '× 4', '× 0.35', and '1/16', which is easier to see than × 0.0625
export function times(ratio) {
  const part = 1 / ratio
  if (ratio < 0.5 && (part > 99.5 || Math.abs(part - Math.round(part)) < 0.005 * part))
    return `1/${Math.round(part)}`
  return `× ${Number(ratio < 0.5 ? ratio.toPrecision(2) : ratio.toFixed(ratio < 99.95 ? 1 : 0))}`
}

// '1 claim', '3 claims'
export function count(n, word, words = `${word}s`) {
  return `${n} ${n === 1 ? word : words}`
}
