// One interactive curve, or a family of them, drawn by uPlot: logarithmic axes, steps and intervals
// marked, read and zoomed by mouse, touch and keyboard.
import uPlot from 'uplot'
import { drawable, floorOf, padded, sizeTicks, tickText, valueTicks } from './scales.js'
import { colour, onThemeChange } from './theme.js'
import { el } from './dom.js'
import { followFingers } from './touch.js'
import { marksPlugin } from './marks.js'
import { readout } from './readout.js'

const FONT = '12px system-ui, sans-serif'
const MOST_BANDS = 4
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]]

const charts = new Set()
onThemeChange(() => charts.forEach(chart => chart.redraw(false, true)))

// Colours are written #rrggbb; two digits more make them transparent.
const fade = (paint, part) => `${paint}${Math.round(part * 2.55).toString(16).padStart(2, '0')}`
const lineColour = curve => colour(`line${curve.colour + 1}`)

// All x of the family, and for each curve its y, low and high there; null where it has no point.
function columns(spec) {
  const floor = spec.linear ? undefined : floorOf(spec.curves.flatMap(curve => curve.points))
  const places = [...new Set(spec.curves.flatMap(curve => curve.points.map(point => point[0])))]
    .filter(x => x > 0).sort((a, b) => a - b)
  const data = [places]
  for (const curve of spec.curves) {
    const at = new Map(curve.points.map(point => [point[0], drawable(point, floor, spec.linear)]))
    for (const part of [0, 1, 2])
      data.push(places.map(x => at.get(x)?.[part] ?? null))
  }
  return { data, floor }
}

function seriesOf(spec) {
  const series = [{}]
  const bands = []
  spec.curves.forEach(curve => {
    const stroke = () => lineColour(curve)
    const at = series.length
    const few = curve.points.length < 120
    series.push({
      label: curve.label, stroke, width: 2, spanGaps: true, dash: DASHES[curve.dash % DASHES.length],
      points: { show: few, size: curve.points.length < 12 ? 8 : 5, fill: stroke, stroke, width: 0 }
    })
    const edge = { stroke: 'transparent', width: 0, points: { show: false }, spanGaps: true }
    series.push({ ...edge }, { ...edge })
    if (spec.curves.length <= MOST_BANDS)
      bands.push({ series: [at + 2, at + 1], fill: () => fade(lineColour(curve), 18) })
  })
  return { series, bands }
}

function axesOf(spec, floor) {
  const common = {
    stroke: () => colour('quiet'), font: FONT, grid: { stroke: () => colour('rule'), width: 1 },
    ticks: { show: false }, filter: (u, splits) => splits
  }
  return [
    {
      ...common, gap: 6, size: 34,
      splits: (u, axis, low, high) => sizeTicks(low, high, u.bbox.width / devicePixelRatio),
      values: (u, splits) => splits.map(v => tickText(v, spec.x.unit))
    },
    {
      ...common, gap: 6, size: 52,
      splits: (u, axis, low, high) => (spec.linear ? linearTicks(low, high)
        : valueTicks(floor === undefined ? low : Math.max(low, floor * 1.7), high)),
      values: (u, splits) => splits.map(v => tickText(v, spec.y.unit))
    }
  ]
}

function linearTicks(low, high) {
  const step = [0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find(s => (high - low) / s <= 6) ?? (high - low) / 5
  const ticks = []
  for (let i = Math.ceil(low / step); i * step <= high; i++)
    ticks.push(Number((i * step).toPrecision(12)))
  return ticks
}

function zoomBy(chart, ends, factor) {
  const { min, max } = chart.scales.x
  const cursor = chart.cursor.left >= 0 ? chart.posToVal(chart.cursor.left, 'x') : Math.sqrt(min * max)
  const low = Math.max(ends[0], cursor * (min / cursor) ** factor)
  const high = Math.min(ends[1], cursor * (max / cursor) ** factor)
  if (high / low > 1.02)
    chart.setScale('x', { min: low, max: high })
}

function onKey(chart, ends, event) {
  const last = chart.data[0].length - 1
  const at = chart.cursor.idx
  const visible = i => chart.data[0][i] >= chart.scales.x.min && chart.data[0][i] <= chart.scales.x.max
  const go = i => {
    const y = chart.data.slice(1).map(column => column[i]).find(v => v !== null) ?? chart.scales.y.min
    chart.setCursor({ left: chart.valToPos(chart.data[0][i], 'x'), top: chart.valToPos(y, 'y') })
  }
  const first = chart.data[0].findIndex((x, i) => visible(i))
  const actions = {
    ArrowRight: () => go(Math.min(last, at === null || at === undefined ? first : at + 1)),
    ArrowLeft: () => go(Math.max(0, at === null || at === undefined ? first : at - 1)),
    Home: () => go(0),
    End: () => go(last),
    '+': () => zoomBy(chart, ends, 0.6),
    '=': () => zoomBy(chart, ends, 0.6),
    '-': () => zoomBy(chart, ends, 1 / 0.6),
    0: () => chart.setScale('x', { min: ends[0], max: ends[1] }),
    Escape: () => chart.setScale('x', { min: ends[0], max: ends[1] })
  }
  if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey)
    return
  event.preventDefault()
  actions[event.key]()
}

function buttons(chart, ends) {
  const button = (label, action) => el('button', { type: 'button', click: action }, label)
  const reset = button('Reset zoom', () => chart.setScale('x', { min: ends[0], max: ends[1] }))
  const refresh = () => {
    reset.disabled = chart.scales.x.min <= ends[0] * 1.0001 && chart.scales.x.max >= ends[1] * 0.9999
  }
  const bar = el('div', { class: 'zoom' }, button('Zoom in', () => zoomBy(chart, ends, 0.6)),
    button('Zoom out', () => zoomBy(chart, ends, 1 / 0.6)), reset)
  return { bar, refresh }
}

const heightFor = width => Math.round(Math.min(380, Math.max(240, width * 0.5)))

// spec: curves [{label, points, colour (0..7), dash}], x and y axes, linear (y), marks [{x, low, high, label}].
export function drawChart(spec, host, description) {
  const { data, floor } = columns(spec)
  const { series, bands } = seriesOf(spec)
  const places = data[0]
  const room = Math.max((places[places.length - 1] / places[0]) ** 0.015, places.length < 12 ? 1.15 : 1)
  const ends = places.length > 1 ? [places[0] / room, places[places.length - 1] * room] : [places[0] / 2, places[0] * 2]
  const reading = readout(spec)
  const marks = marksPlugin(spec, floor, ends)
  let controls
  const width = Math.max(260, Math.floor(host.clientWidth))
  const chart = new uPlot({
    width, height: heightFor(width), legend: { show: false }, series, bands, axes: axesOf(spec, floor),
    // Labels need more rows where there is less room, as on paper.
    padding: [u => marks.height(u.width), 24, 0, 0],
    scales: {
      x: { time: false, distr: 3, log: 2, range: (u, low, high) => (low === null ? ends : [low, high]), min: ends[0], max: ends[1] },
      y: { distr: spec.linear ? 1 : 3, log: 10, range: (u, low, high) => padded(low, high, spec.linear) }
    },
    cursor: { drag: { x: true, y: false }, points: { size: 9 }, y: false },
    plugins: [marks.plugin],
    hooks: {
      setCursor: [u => reading.show(u.cursor.idx === null || u.cursor.idx === undefined ? undefined : places[u.cursor.idx])],
      setScale: [() => controls?.refresh()]
    }
  }, data, host)
  chart.setScale('x', { min: ends[0], max: ends[1] })
  controls = buttons(chart, ends)
  controls.refresh()
  charts.add(chart)
  chart.over.addEventListener('dblclick', () => chart.setScale('x', { min: ends[0], max: ends[1] }))
  followFingers(chart, ends)
  host.tabIndex = 0
  host.setAttribute('role', 'group')
  host.setAttribute('aria-roledescription', 'interactive chart')
  host.setAttribute('aria-label', `${description} Arrow keys read the points, plus and minus zoom, zero shows all.`)
  host.addEventListener('keydown', event => onKey(chart, ends, event))
  host.before(reading.node)
  host.after(controls.bar)
  const resize = width => {
    width = Math.max(260, Math.floor(width))
    if (width !== chart.width)
      chart.setSize({ width, height: heightFor(width) })
  }
  new ResizeObserver(entries => resize(entries[0].contentRect.width)).observe(host)
  return { chart, resize }
}
