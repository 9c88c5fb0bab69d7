// What the analysis read from a curve, drawn over it: where a level ends, between which figures
// that lies, how high it is.
import { colour } from './theme.js'
import { tickText } from './scales.js'

const LINE = 15, MOST_LINES = 3
const FONT = '12px system-ui, sans-serif'

const text = (spec, mark) => `${mark.label ? `${mark.label} ` : ''}${tickText(mark.x, spec.x.unit)}`

// Rows of labels above the plot, each label ending at its edge where there is room.
function place(context, labels, width) {
  const rows = []
  for (const label of labels) {
    const wide = context.measureText(label.text).width
    const end = Math.min(width, Math.max(label.at + 4, wide))
    let row = 0
    while (rows[row] !== undefined && rows[row] + 10 > end - wide)
      row++
    if (row >= MOST_LINES)
      continue
    rows[row] = end
    label.row = row
    label.start = end - wide
  }
  return rows.length
}

// How many rows the labels need in a plot of this width that shows everything.
function rowsNeeded(spec, width, ends) {
  const context = document.createElement('canvas').getContext('2d')
  context.font = FONT
  const span = Math.log(ends[1] / ends[0])
  return place(context, spec.marks.filter(mark => mark.edge).map(mark =>
    ({ at: Math.log(mark.x / ends[0]) / span * width, text: text(spec, mark) })), width)
}

export function marksPlugin(spec, floor, ends) {
  const { marks } = spec

  function area(u) {
    const { left, top, width, height } = u.bbox
    return { left, top, width, height, ratio: devicePixelRatio }
  }

  // Behind the curve: intervals of the edges, and the heights of the levels.
  function behind(u) {
    const { left, top, width, height } = area(u)
    const { ctx } = u
    ctx.save()
    ctx.beginPath()
    ctx.rect(left, top, width, height)
    ctx.clip()
    for (const mark of marks) {
      if (mark.low < mark.high) {
        const a = u.valToPos(mark.low, 'x', true), b = u.valToPos(mark.high, 'x', true)
        ctx.fillStyle = colour('band')
        ctx.fillRect(a, top, Math.max(1, b - a), height)
      }
    }
    ctx.restore()
  }

  function over(u) {
    const { left, top, width, height, ratio } = area(u)
    const { ctx } = u
    ctx.save()
    ctx.font = FONT.replace('12', String(12 * ratio))
    ctx.lineWidth = ratio
    ctx.save()
    ctx.beginPath()
    ctx.rect(left, 0, width, top + height)
    ctx.clip()
    const labels = []
    for (const mark of marks) {
      const x = Math.round(u.valToPos(mark.x, 'x', true)) + 0.5
      if (mark.edge && x >= left && x <= left + width) {
        ctx.strokeStyle = colour('mark')
        ctx.setLineDash([4 * ratio, 3 * ratio])
        ctx.beginPath()
        ctx.moveTo(x, top)
        ctx.lineTo(x, top + height)
        ctx.stroke()
        labels.push({ at: (x - left) / ratio, text: text(spec, mark), x })
      }
      if (mark.y > 0 && (floor === undefined || mark.y >= floor)) {
        const from = Math.max(left, u.valToPos(mark.from, 'x', true))
        const to = Math.min(left + width, u.valToPos(mark.to, 'x', true))
        const y = Math.round(u.valToPos(mark.y, 'y', true)) + 0.5
        ctx.strokeStyle = colour('mark')
        ctx.setLineDash([])
        ctx.beginPath()
        ctx.moveTo(from, y)
        ctx.lineTo(to, y)
        ctx.stroke()
      }
    }
    ctx.restore()
    ctx.scale(ratio, ratio)
    ctx.font = FONT
    ctx.fillStyle = colour('ink')
    ctx.textAlign = 'left'
    ctx.textBaseline = 'alphabetic'
    place(ctx, labels, width / ratio)
    for (const label of labels)
      if (label.row !== undefined)
        ctx.fillText(label.text, left / ratio + label.start, top / ratio - 6 - label.row * LINE)
    if (floor !== undefined) {
      const y = u.valToPos(floor, 'y', true) / ratio
      ctx.textAlign = 'right'
      ctx.fillStyle = colour('quiet')
      ctx.fillText('0', left / ratio - 6, y + 4)
    }
    ctx.restore()
  }

  return {
    plugin: { hooks: { drawClear: [behind], draw: [over] } },
    height: width => 10 + rowsNeeded(spec, width - 66, ends) * LINE
  }
}
