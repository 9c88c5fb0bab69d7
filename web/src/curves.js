// Every curve of a result: which belong together, what they are called, how they are read.
import { curvesCsv, downloadButton, fileName } from './download.js'
import { el, freshId, table } from './dom.js'
import { find, interval, structureName } from './model.js'
import { member, memberLabel, place, words } from './words.js'
import { number, show } from './format.js'
import { drawChart } from './chart.js'

// Numbers by size, structures by name, caches before TLBs.
const isTlb = rank => /tlb/.test(rank ?? '')
const byRank = (a, b) => (typeof a === 'number' ? a - b : isTlb(a) - isTlb(b) || String(a ?? '').localeCompare(b ?? ''))

// Curves that share a stem and axes are one figure; so are those of compared results.
export function families(results, labels) {
  const found = new Map()
  results.forEach((result, r) => {
    for (const whole of result.curves) {
      // A reading that is no number is none.
      const curve = { ...whole, points: whole.points.filter(([x, y]) => x > 0 && typeof y === 'number') }
      if (!curve.points.length)
        continue
      const { stem, rank } = member(curve.id)
      const key = [stem, curve.x.name, curve.x.unit, curve.y.name, curve.y.unit].join('\n')
      if (!found.has(key))
        found.set(key, { stem, curves: [] })
      const label = [results.length > 1 && labels[r], memberLabel(stem, rank)].filter(Boolean).join(', ')
      found.get(key).curves.push({ curve, result, rank, side: r, label: label || curve.id })
    }
  })
  return [...found.values()].map(family => ({
    ...family, ...words(family.stem, family.curves[0].curve),
    curves: family.curves.sort((a, b) => byRank(a.rank, b.rank))
  })).sort((a, b) => place(a.stem) - place(b.stem))
}

// The finding that a step's label and the axis belong to: the interval of the edge is its own.
function edgeOf(result, curve, step) {
  const attributes = curve.x.unit === 'B' ? ['capacity', 'reach'] : ['entries']
  for (const attribute of attributes) {
    const finding = step.label && find(result, `${step.label}.${attribute}`)
    if (finding?.status === 'measured' && typeof finding.value === 'number' &&
        finding.evidence?.includes(`curve:${curve.id}`))
      return finding
  }
  return undefined
}

// The height of a step is drawn where the curve has it, up to the edge.
function stretch({ steps, points }, i) {
  const left = steps[i - 1]?.x ?? 0
  const to = steps[i].x
  const reached = points.find(([x, y]) => x > left && y > steps[i].y * 0.9)
  return { from: Math.min(to, reached?.[0] ?? to), to }
}

// The interval of an edge, as far as the curve goes.
function ends(finding, { points }) {
  if (!finding)
    return {}
  const [low, high] = interval(finding)
  return { low: Math.max(low, points[0][0]), high: Math.min(high, points[points.length - 1][0]) }
}

// The structure that ends there: the step says it, or the curve is of one alone. A step that no finding was made of
// is doubtful; one of a structure that no finding speaks of has no name.
function edgeName(result, finding, { label }, rank) {
  if (typeof rank === 'string')
    return structureName(structureOf(rank))
  if (!/^(l\d|[di]tlb\d|memory)/.test(label))
    return label ?? ''
  const name = structureName(label).replace(/ @.*/, '')
  if (finding || label === 'memory')
    return name
  return result.findings.some(each => each.property.startsWith(`${label}.`)) ? `${name}?` : ''
}

// Where levels end: as the finding has it that was made of the curve, or else where the curve
// leaves its plateau.
function marksOf(family) {
  const alone = family.curves.length === 1
  // Levels of compared results would stand in each other's way; the table has them.
  if (new Set(family.curves.map(each => each.side)).size > 1)
    return []
  return family.curves.flatMap(({ curve, result, rank }) => curve.steps.map((step, i) => {
    const finding = edgeOf(result, curve, step)
    return {
      x: finding?.value ?? step.x, y: alone ? step.y : 0, ...stretch(curve, i),
      label: edgeName(result, finding, step, rank), edge: step.x < curve.points[curve.points.length - 1][0],
      ...ends(finding, curve)
    }
  })).sort((a, b) => a.x - b.x)
}

function pointsTable(family) {
  const [{ curve }] = family.curves
  const heading = axis => `${axis.name}${axis.unit ? ` (${axis.unit})` : ''}`
  return family.curves.map(each => table({
    caption: family.curves.length > 1 ? `Points of ${each.label}` : 'Points of the curve',
    classes: 'points',
    headings: [heading(curve.x), heading(curve.y), 'low', 'high'],
    groups: [{ rows: each.curve.points.map(([x, y, low, high]) => [String(x), show(y), show(low), show(high)]) }]
  }))
}

function description(family) {
  const [{ curve, result, rank }] = family.curves
  const steps = family.curves.length > 1 ? [] : curve.steps
    .map(step => ({ ...step, name: edgeName(result, edgeOf(result, curve, step), step, rank) })).filter(step => step.name)
    .map(step => `${step.name} ${number(step.y, curve.y.unit)} up to ${number(step.x, curve.x.unit)}`)
  return `${family.title}. ${steps.length ? `Levels: ${steps.join('; ')}.` : ''}`
}

// Charts are drawn when they come near the window, or before printing.
const waiting = new Map()
const observer = new IntersectionObserver(entries => {
  for (const entry of entries)
    if (entry.isIntersecting)
      drawNow(entry.target)
}, { rootMargin: '400px' })

function drawNow(host) {
  const draw = waiting.get(host)
  waiting.delete(host)
  observer.unobserve(host)
  draw?.()
}
const drawn = []
const PRINTED = 660 // as wide as an upright page leaves room for
addEventListener('beforeprint', () => {
  [...waiting.keys()].forEach(drawNow)
  drawn.forEach(each => each.resize(Math.min(PRINTED, each.chart.width)))
})

const COLOURS = 8

// The structure that a member is of: what it misses of integers and of doubles is one colour.
const structureOf = rank => typeof rank === 'string' ? rank.split('-')[0] : rank

// A colour for each structure; where results are compared for each result, and a dash for each member.
function look(family, each) {
  const sides = new Set(family.curves.map(other => other.side))
  if (sides.size === 1) {
    const at = [...new Set(family.curves.map(other => structureOf(other.rank)))].indexOf(structureOf(each.rank))
    const again = structureOf(each.rank) !== each.rank
    return { colour: at % COLOURS, dash: again ? 1 : Math.floor(at / COLOURS) }
  }
  const ranks = [...new Set(family.curves.map(other => other.rank))]
  return { colour: each.side % COLOURS, dash: ranks.indexOf(each.rank) }
}

// A part of a whole lies between nothing and one; and a logarithmic axis has no place for what is all nothing.
function isLinear(family) {
  const heights = family.curves.flatMap(each => each.curve.points.map(point => point[1]))
  const isPart = /^(per .*)?$/.test(family.curves[0].curve.y.unit) && heights.every(y => Math.abs(y) < 4)
  return isPart || !heights.some(y => y > 0)
}

export function curveFigure(family, level, anchors) {
  const [{ curve, result }] = family.curves
  const id = freshId(), heading = freshId()
  family.curves.forEach(each => anchors.set(each.curve.id, id))
  const spec = {
    curves: family.curves.map(each => ({ label: each.label, points: each.curve.points, ...look(family, each) })),
    x: curve.x, y: curve.y, marks: marksOf(family),
    linear: isLinear(family)
  }
  const host = el('div', { class: 'chart' })
  waiting.set(host, () => drawn.push(drawChart(spec, host, description(family))))
  observer.observe(host)
  const details = el('details', {}, el('summary', {}, 'Table of this figure'))
  details.addEventListener('toggle', () => {
    if (details.open && details.children.length === 1)
      details.append(...pointsTable(family))
  })
  return el('figure', { class: 'curve', id, 'aria-labelledby': heading },
    el(`h${level}`, { id: heading }, family.title),
    el('figcaption', {}, family.reading),
    host,
    el('div', { class: 'below' }, details, el('div', { class: 'downloads' },
      downloadButton('CSV', fileName(`${result.machine.name} ${family.stem}`, 'csv'), 'text/csv',
        () => curvesCsv(family.curves.map(each => ({ ...each.curve, id: each.label })))))))
}
