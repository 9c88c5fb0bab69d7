// The hierarchy to scale: boxes that nest, as wide as the level reaches on a logarithmic axis of
// sizes that caches and TLBs share, and beside them what a reference pays there.
import { count, number, percent, range, show, size } from './format.js'
import { el, freshId, svg, table } from './dom.js'
import { hierarchy, interval, structureName } from './model.js'

const WIDE = 700       // from here on costs have a scale of their own, beside the boxes
const COST_WIDTH = 190
const TITLE = 34, AXIS = 22, GAP = 14
const TICK = 62        // what a label of the axis takes

const known = finding => finding?.status === 'measured' && typeof finding.value === 'number'

function words(row, wide) {
  const parts = []
  if (known(row.entries))
    parts.push(count(row.entries.value, 'entry', 'entries'))
  if (row.cost && !wide)
    parts.push(costText(row))
  if (row.line)
    parts.push(row.line.status === 'measured' ? `${show(row.line.value)} B lines` : 'line unknown')
  if (row.ways?.status === 'measured')
    parts.push(row.ways.value === 'full' ? 'fully associative' : count(row.ways.value, 'way'))
  else if (row.ways?.status === 'undetermined')
    parts.push('ways unknown')
  return parts
}

function sure(row) {
  const finding = row.outermost ? row.cost : row.extent ?? row.entries
  if (finding?.status === 'measured')
    return `${percent(finding.confidence)} sure`
  return typeof finding?.claimed === 'number' ? `claimed ${size(finding.claimed)}` : ''
}

function costText(row) {
  if (!known(row.cost))
    return row.cost ? 'cost unknown' : ''
  const cycles = row.cycles ? ` · ${number(row.cycles.value, 'cycles')}` : ''
  return `${row.adds ? '+' : ''}${number(row.cost.value, row.cost.unit)}${cycles}`
}

const extentText = row => (known(row.extent) ? size(row.extent.value)
  : row.outermost ? '' : 'size undetermined')

// Sizes from so far below the smallest that its box has room for its words to well beyond the largest, where memory goes on.
function sizeScale(groups, width) {
  const values = groups.flatMap(group => group.rows).flatMap(row =>
    [row.extent?.value, row.extent?.claimed, row.physical?.value]).filter(v => typeof v === 'number' && v > 0)
  const smallest = values.length ? Math.min(...values) : 4096
  const largest = values.length ? Math.max(...values) : 1 << 20
  const high = Math.ceil(Math.log2(largest)) + 3
  const room = Math.min(210, width * 0.3)
  const low = Math.floor(Math.log2(smallest) - Math.max(4, (high - Math.log2(smallest)) * room / (width - room)))
  const at = bytes => (Math.log2(bytes) - low) / (high - low) * width
  const every = Math.max(1, Math.ceil((high - low) * TICK / width))
  const ticks = []
  for (let power = low + 1; power < high; power += every)
    ticks.push(2 ** power)
  return { at, ticks, width }
}

function costScale(groups, width) {
  const values = groups.flatMap(group => group.rows).map(row => row.cost?.value)
    .filter(v => typeof v === 'number' && v > 0)
  if (!values.length)
    return undefined
  const low = Math.log10(Math.min(...values)) - 0.35, high = Math.log10(Math.max(...values)) + 0.02
  return value => Math.max(3, (Math.log10(value) - low) / (high - low) * width)
}

// Right corners rounded, the left side is the edge of the picture.
function box(x, y, width, height) {
  const r = Math.min(7, width / 2, height / 2)
  return `M${x},${y}h${width - r}q${r},0 ${r},${r}v${height - 2 * r}q0,${r} ${-r},${r}h${r - width}z`
}

function drawBoxes(parent, group, top, rowHeight, scale) {
  const depth = group.rows.length
  // From the outermost inward, so that the inner ones lie on top.
  for (let i = depth - 1; i >= 0; i--) {
    const row = group.rows[i]
    if (!row.outermost && !known(row.extent))
      continue
    const width = row.outermost ? scale.width : Math.max(6, scale.at(row.extent.value))
    const shade = Math.round(100 * (depth - i) / depth)
    parent.append(svg('path', { d: box(0, top, width, (i + 1) * rowHeight), class: `box shade${Math.ceil(shade / 20)}` }))
  }
}

function drawMarks(parent, row, y, rowHeight, scale, wide) {
  const { extent } = row
  if (!known(extent))
    return
  // Narrow pictures have words below the first line.
  const height = wide ? rowHeight : 28
  const [low, high] = interval(extent).map(end => Math.min(scale.width, Math.max(0, scale.at(Math.max(1, end)))))
  if (high - low > 1)
    parent.append(svg('rect', { x: low, y: y + 4, width: high - low, height: height - 8, class: 'interval' }))
  const claimed = typeof extent.claimed === 'number' && extent.claimed > 0 ? scale.at(extent.claimed) : undefined
  const edge = scale.at(extent.value)
  if (claimed === undefined || Math.abs(claimed - edge) < 3)
    return
  const middle = Math.round(y + height / 2) + 0.5
  parent.append(svg('path', {
    d: `M${edge},${middle}H${claimed}M${claimed},${y + 7}V${y + height - 7}`, class: 'claimed'
  }))
  if (wide && claimed > 320 && claimed < scale.width - 90)
    parent.append(svg('text', { x: claimed + 6, y: middle + 4, class: 'claimed-text' }, `claimed ${size(extent.claimed)}`))
}

function drawRow(parent, row, y, scale, cost, wide) {
  const line = (dy, attributes, ...content) =>
    parent.append(svg('text', { x: 10, y: y + dy, ...attributes }, ...content))
  line(20, {}, svg('tspan', { class: 'name' }, structureName(row.structure).replace(/ @.*/, '')), ' ',
    svg('tspan', { dx: 5, class: 'extent' }, extentText(row)))
  const parts = [...words(row, wide), sure(row)].filter(Boolean)
  if (wide)
    line(37, { class: 'detail' }, parts.join(' · '))
  else {
    line(36, { class: 'detail' }, parts.slice(0, 2).join(' · '))
    line(51, { class: 'detail' }, parts.slice(2).join(' · '))
  }
  if (!wide || !cost)
    return
  const left = scale.width + 24
  parent.append(svg('text', { x: left, y: y + 20, class: 'cost-text' }, costText(row)))
  if (known(row.cost))
    parent.append(svg('rect', { x: left, y: y + 28, width: cost(row.cost.value), height: 5, rx: 2.5, class: 'cost' }))
}

function draw(groups, width, beside) {
  const wide = width >= WIDE
  const rowHeight = wide ? 48 : 60
  const scale = sizeScale(beside, wide ? width - COST_WIDTH - 24 : width - 1)
  const cost = costScale(beside, COST_WIDTH)
  const height = AXIS + groups.reduce((sum, group) => sum + TITLE + group.rows.length * rowHeight + GAP, 0)
  const root = svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, 'aria-hidden': 'true', class: 'hierarchy' })
  const grid = svg('g', { class: 'grid' })
  for (const tick of scale.ticks) {
    const x = Math.round(scale.at(tick)) + 0.5
    grid.append(svg('path', { d: `M${x},${AXIS - 4}V${height}` }))
    if (x < width - TICK / 2)
      grid.append(svg('text', { x, y: 11, 'text-anchor': 'middle' }, size(tick)))
  }
  root.append(grid)
  let top = AXIS
  groups.forEach((group, i) => {
    root.append(svg('text', { x: 0, y: top + 22, class: 'title' }, group.title))
    if (wide)
      root.append(svg('text', { x: scale.width + 24, y: top + 22, class: 'title' },
        group.rows[0].adds ? 'Cost of a miss' : group.rows.some(row => row.cost) ? 'Load to use' : ''))
    top += TITLE
    const boxes = svg('g', { class: i > 0 ? 'other' : '' })
    root.append(boxes)
    drawBoxes(boxes, group, top, rowHeight, scale)
    group.rows.forEach((row, j) => {
      drawMarks(boxes, row, top + j * rowHeight, rowHeight, scale, wide)
      drawRow(root, row, top + j * rowHeight, scale, cost, wide)
    })
    top += group.rows.length * rowHeight + GAP
  })
  return root
}

function asTable(groups) {
  const cell = finding => (finding ? show(finding.value, finding.unit) || finding.status : '–')
  return table({
    caption: 'The same figures as a table',
    classes: 'figures stack',
    headings: ['Level', 'Size', 'Range', 'Claimed', 'Entries', 'Line', 'Ways', 'Cost', 'Cycles', 'Sure'],
    groups: groups.map(group => ({
      heading: group.title,
      rows: group.rows.map(row => [
        structureName(row.structure), row.outermost ? '–' : cell(row.extent), row.extent ? range(row.extent) || '–' : '–',
        row.extent ? show(row.extent.claimed, 'B') || '–' : '–', cell(row.entries), cell(row.line), cell(row.ways),
        (row.adds && known(row.cost) ? '+' : '') + cell(row.cost), cell(row.cycles), sure(row)])
    }))
  })
}

// Results that are looked at side by side share one scale.
export function hierarchyFigure(result, others = [result]) {
  const groups = hierarchy(result)
  const beside = others.flatMap(hierarchy)
  if (!groups.length)
    return el('p', { class: 'nothing' }, 'No level of the hierarchy was measured.')
  const picture = el('div', { class: 'picture' })
  const caption = freshId()
  let drawn = 0
  const redraw = width => {
    width = Math.floor(width)
    if (width > 0 && width !== drawn)
      picture.replaceChildren(draw(groups, drawn = width, beside))
  }
  new ResizeObserver(entries => redraw(entries[0].contentRect.width)).observe(picture)
  return el('figure', { 'aria-labelledby': caption },
    picture,
    el('figcaption', { id: caption }, 'Each box is as wide as the level reaches, on a logarithmic scale; what fits in ' +
      'a box is served there. A shaded edge is the range in which a repeated survey lands. Where a claim differs from ' +
      'what was measured, a broken line leads to it.'),
    el('details', {}, el('summary', {}, 'Table of this figure'), asTable(groups)))
}
