// Fingers on a curve: one reads along it, two zoom and shift it. The browser keeps moves up and down
// of one finger, which scroll the page (touch-action in page.css).
const LEAST_SPREAD = 12 // pixels; closer fingers say nothing of a scale
const LEAST_ZOOM = 1.02

// Puts an interval of logarithms back between two ends, narrower where it has to be.
function within([low, high], [first, last]) {
  const span = Math.min(high - low, last - first)
  const from = Math.min(Math.max(low, first), last - span)
  return [from, from + span]
}

// What was under the two fingers stays under them: the axis is a line through both, in logarithms.
function pinched(held, at, width) {
  const slope = (held[1] - held[0]) / (at[1] - at[0])
  return [held[0] - at[0] * slope, held[0] + (width - at[0]) * slope]
}

export function followFingers(chart, ends) {
  const { over } = chart
  const fingers = new Map()
  let held // the logarithms that two fingers took hold of
  const place = event => event.clientX - over.getBoundingClientRect().left
  const spread = at => Math.abs(at[1] - at[0]) >= LEAST_SPREAD
  const hold = () => {
    const at = [...fingers.values()]
    held = at.length === 2 && spread(at) ? at.map(left => Math.log(chart.posToVal(left, 'x'))) : undefined
  }
  const read = event => chart.setCursor({ left: place(event), top: event.clientY - over.getBoundingClientRect().top })
  const pinch = () => {
    const at = [...fingers.values()]
    if (!held || !spread(at) || (at[1] > at[0]) !== (held[1] > held[0]))
      return
    const [low, high] = within(pinched(held, at, over.clientWidth), ends.map(Math.log))
    if (high - low > Math.log(LEAST_ZOOM))
      chart.setScale('x', { min: Math.exp(low), max: Math.exp(high) })
  }
  const on = (type, action) => over.addEventListener(type, event => {
    if (event.pointerType === 'touch')
      action(event)
  })
  on('pointerdown', event => {
    fingers.set(event.pointerId, place(event))
    hold()
  })
  on('pointermove', event => {
    if (!fingers.has(event.pointerId))
      return
    fingers.set(event.pointerId, place(event))
    if (fingers.size === 1)
      read(event)
    else
      pinch()
  })
  for (const type of ['pointerup', 'pointercancel'])
    on(type, event => {
      fingers.delete(event.pointerId)
      hold()
    })
}
