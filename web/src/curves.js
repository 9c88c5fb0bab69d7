// Every curve of a result: which belong together, what they are called, how they are read.
import { curvesCsv, downloadButton, fileName } from './download.js'
import { el, freshId, table } from './dom.js'
import { find, structureName } from './model.js'
import { number, show } from './format.js'
import { drawChart } from './chart.js'

// By the stem of a curve's id. Others are titled by their axes.
const KNOWN = [
  [/^cache-only/, 'Latency over footprint',
    'Read it from the left: each flat stretch is a level of the hierarchy, and where the line leaves it, ' +
    'the footprint no longer fits there.'],
  [/^tlb/, 'Cost of translation over pages',
    'The line stays down while a TLB holds every page that is visited, and rises where one runs out of entries.'],
  [/^linesize/, 'Misses over the width of stripes',
    'Every other stripe is left out: misses stay while stripes are narrower than a line, since every line is ' +
    'touched all the same, and are gone as soon as a stripe is one line wide.'],
  [/^(calibrator|stride)/, 'Latency over size, for several strides',
    'Each line reads its memory at one stride: all rise where a level is full, and strides shorter than a line rise ' +
    'less, since some of their reads hit a line that is there already.'],
  [/^spots/, 'Latency over spots, for several strides',
    'Each line visits spots that lie one stride apart: a rise at the same number of spots whatever the stride is a ' +
    'TLB running out of entries, one that moves with the stride a cache that is full.']
]

const capital = text => text.charAt(0).toUpperCase() + text.slice(1)

function words(stem, curve) {
  const known = KNOWN.find(([pattern]) => pattern.test(stem))
  const qualifier = stem.split('@')[1]
  if (known)
    return { title: known[1] + (qualifier ? `, on ${qualifier} pages` : ''), reading: known[2] }
  if (/miss/.test(curve.y.name))
    return {
      title: `${capital(curve.y.name)} over ${curve.x.name}${qualifier ? `, ${qualifier}` : ''}`,
      reading: 'Nothing is missed while all fits; where the line leaves the ground, a level is full.'
    }
  return {
    title: `${capital(curve.y.name)} over ${curve.x.name}${qualifier ? `, ${qualifier}` : ''}`,
    reading: `Where the line changes its height, ${curve.x.name} has passed a limit of what is measured; ` +
      'a flat line means that it does not matter.'
  }
}

// 'spots-4096' and 'spots-512' are members of one family, 4096 and 512 of it.
function member(id) {
  const parts = id.match(/^(.*[^-\d])-(\d+)((?:@.*)?)$/)
  return parts ? { stem: parts[1] + parts[3], rank: Number(parts[2]) } : { stem: id, rank: undefined }
}

function memberLabel(stem, rank) {
  if (/^(spots|calibrator|stride)/.test(stem))
    return `stride ${number(rank, 'B')}`
  if (/^linesize/.test(stem))
    return rank === 1 ? 'L1d' : `L${rank}`
  return String(rank)
}

// Curves that share a stem and axes are one figure; so are those of compared results.
export function families(results, labels) {
  const found = new Map()
  results.forEach((result, r) => {
    for (const curve of result.curves) {
      if (!curve.points.length)
        continue
      const { stem, rank } = member(curve.id)
      const key = [stem, curve.x.name, curve.x.unit, curve.y.name, curve.y.unit].join('\n')
      if (!found.has(key))
        found.set(key, { stem, curves: [] })
      const label = [results.length > 1 && labels[r], rank !== undefined && memberLabel(stem, rank)].filter(Boolean).join(', ')
      found.get(key).curves.push({ curve, result, rank, side: r, label: label || curve.id })
    }
  })
  const order = family => {
    const at = KNOWN.findIndex(([pattern]) => pattern.test(family.stem))
    return at < 0 ? 1.5 : at
  }
  return [...found.values()].map(family => ({
    ...family, ...words(family.stem, family.curves[0].curve),
    curves: family.curves.sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
  })).sort((a, b) => order(a) - order(b))
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

// The height of a step is drawn where the curve has it: on TLBs, whose step is the cost of a miss,
// beyond the edge, otherwise up to it.
function stretch(curve, i, beyond) {
  const { steps, points } = curve
  const last = points[points.length - 1][0]
  const left = beyond ? steps[i].x : steps[i - 1]?.x ?? 0
  const to = beyond ? steps[i + 1]?.x ?? last : steps[i].x
  const reached = points.find(([x, y]) => x > left && y > steps[i].y * 0.9)
  return { from: Math.min(to, reached?.[0] ?? to), to }
}

// Where levels end: as the finding has it that was made of the curve, or else where the curve
// leaves its plateau.
function marksOf(family) {
  if (family.curves.length > 1)
    return []
  const [{ curve, result }] = family.curves
  const last = curve.points[curve.points.length - 1][0]
  return curve.steps.map((step, i) => {
    const finding = edgeOf(result, curve, step)
    return {
      x: finding?.value ?? step.x, y: step.y, ...stretch(curve, i, /tlb/.test(curve.id)),
      label: step.label ? structureName(step.label).replace(/ @.*/, '') : '', edge: step.x < last,
      low: finding?.low, high: finding?.high
    }
  })
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
  const [{ curve }] = family.curves
  const steps = family.curves.length > 1 ? [] : curve.steps.filter(step => step.label)
    .map(step => `${structureName(step.label)} ${number(step.y, curve.y.unit)} up to ${number(step.x, curve.x.unit)}`)
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

// A colour for each curve; where results are compared for each result, and a dash for each member.
function look(family, each, i) {
  const sides = new Set(family.curves.map(other => other.side))
  if (sides.size === 1)
    return { colour: i % COLOURS, dash: Math.floor(i / COLOURS) }
  const ranks = [...new Set(family.curves.map(other => other.rank))]
  return { colour: each.side % COLOURS, dash: ranks.indexOf(each.rank) }
}

export function curveFigure(family, level, anchors) {
  const [{ curve, result }] = family.curves
  const id = freshId(), heading = freshId()
  family.curves.forEach(each => anchors.set(each.curve.id, id))
  const spec = {
    curves: family.curves.map((each, i) => ({ label: each.label, points: each.curve.points, ...look(family, each, i) })),
    x: curve.x, y: curve.y, marks: marksOf(family),
    // A part of a whole lies between nothing and one.
    linear: !curve.y.unit && family.curves.every(each => each.curve.points.every(point => Math.abs(point[1]) < 4))
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
