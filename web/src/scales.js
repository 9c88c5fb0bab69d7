// Ticks and ranges of logarithmic axes.
import { number, three } from './format.js'

// A logarithmic axis has no place for nothing. Where a curve comes down to it, as the cost of
// translation does, the axis ends at this part of the highest reading, and nothing is drawn there.
const NEXT_TO_NOTHING = 0.005

const isNothing = ([, y, low]) => !(y > 0 && (low ?? y) > 0)

// The height nothing is drawn at, or undefined where no point is nothing.
export function floorOf(points) {
  if (!points.some(isNothing))
    return undefined
  const real = points.filter(point => !isNothing(point)).map(point => point[1])
  const high = real.length ? Math.max(...real) : Math.max(...points.map(point => point[3] ?? point[1]))
  return high > 0 ? high * NEXT_TO_NOTHING : undefined
}

// y, low and high of a point as they can be drawn.
export function drawable(point, floor, linear) {
  const [, y, low, high] = point
  if (linear)
    return [y, low ?? y, high ?? y]
  if (isNothing(point))
    return floor === undefined ? [null, null, null] : [floor, floor, Math.max(floor, high ?? floor)]
  return [y, low ?? y, high ?? y].map(v => (floor === undefined ? v : Math.max(v, floor)))
}

// A flat curve is drawn as one: without this its noise would fill the picture.
export function padded(low, high, linear) {
  if (low === null || high === null || low === undefined || !Number.isFinite(low))
    return linear ? [0, 1] : [1, 10]
  if (linear) {
    const room = (high - low || 1) * 0.06
    return [Math.min(0, low) - (low < 0 ? room : 0), Math.max(high, 1e-9) + room]
  }
  if (high < low * 2)
    return [low / 1.4, high * 1.4]
  return [low / 1.12, high * 1.18]
}

// Powers of two as far apart as there is room; closer looks need ticks between them.
export function sizeTicks(low, high, width) {
  const octaves = Math.log2(high / low)
  const most = Math.max(2, Math.floor(width / 72))
  const ticks = []
  if (octaves >= 2.5) {
    const every = Math.max(1, Math.ceil(octaves / most))
    const start = Math.ceil(Math.log2(low) - 1e-9)
    for (let power = Math.ceil(start / every) * every; 2 ** power <= high * 1.000001; power += every)
      ticks.push(2 ** power)
    return ticks
  }
  for (const parts of [1, 2, 4, 8, 16, 32]) {
    ticks.length = 0
    for (let power = Math.floor(Math.log2(low)); power <= Math.log2(high); power++)
      for (let part = 0; part < parts; part++) {
        const tick = 2 ** power * (1 + part / parts)
        if (tick >= low && tick <= high)
          ticks.push(tick)
      }
    if (ticks.length >= 3)
      break
  }
  return ticks.slice(0, Math.max(most, 3))
}

// 1, 2 and 5 times powers of ten, fewer where many decades are shown.
export function valueTicks(low, high) {
  const decades = Math.log10(high / low)
  const steps = decades > 4 ? [1] : decades > 2.4 ? [1, 3] : decades > 0.6 ? [1, 2, 5] : [1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9]
  const ticks = []
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
    for (const step of steps) {
      const tick = step * 10 ** power
      if (tick >= low && tick <= high)
        ticks.push(tick)
    }
  if (ticks.length >= 2)
    return ticks
  return [low, (low + high) / 2, high].map(v => Number(v.toPrecision(3)))
}

export const tickText = (value, unit) =>
  (unit === 'B' ? number(value, 'B') : Number.isInteger(value) ? String(value) : String(Number(three(value))))
