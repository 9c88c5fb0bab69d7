// A result with one of everything that a survey can say, whatever probes there are today.
import { equal, ok } from './tap.mjs'
import { chartOf, inkOf, open } from './browser.mjs'
import { dataOf, withData } from './data.mjs'

function finding(property, unit, value, more = {}) {
  const known = value !== null
  return {
    property, unit, status: known ? 'measured' : 'undetermined', value, low: value, high: value,
    confidence: known ? 0.98 : null, method: 'some', witnesses: ['clock'], claimed: null, claimed_by: null, evidence: [],
    candidates: null, note: null, ...more
  }
}

const MORE = [
  finding('l1i.capacity', 'B', 32768, { claimed: 32768, claimed_by: 'sysfs' }), finding('l1i.latency', 'ns', 1.5, { confidence: 1 }),
  finding('itlb1.entries', '', 32), finding('itlb1.reach', 'B', 131072),
  finding('dtlb1@2MiB.entries', '', 16), finding('dtlb1@2MiB.reach', 'B', 33554432),
  finding('l7.capacity', 'B', null, { claimed: 1 << 27, claimed_by: 'sysfs', note: 'no step of its own was seen' }),
  finding('l8.capacity', 'B', 1 << 28, { claimed: 1 << 30, claimed_by: 'sysfs', low: 2 ** 27.8, high: 2 ** 28.2 }),
  finding('l8.physical_capacity', 'B', 1 << 30),
  finding('l9.capacity', 'B', 2 ** 29, { low: 2 ** 28.5, high: null, evidence: ['curve:cache-only'] }),
  finding('l8.ways', '', 12, { claimed: 16, claimed_by: 'sysfs' }),
  finding('l1d.replacement', '', null, { candidates: ['tree-plru', 'bit-plru'], note: 'nothing separates them' }),
  finding('l1d.banks', '', null, { status: 'unsupported', note: 'needs a counter' })
]

// The ledger is the survey's; of these figures none is worked out by the page.
const LEDGER = [
  ['l1i.capacity', 'agrees', 32768, null, 32768, null],
  ['l7.capacity', 'open', 1 << 27, null, null, 'no step of its own was seen'],
  ['l8.ways', 'differs', 16, 12, null, 'the OS claims 16; measured are 12'],
  ['l8.capacity', 'differs', 1 << 30, 1 << 30, 1 << 28, 'others may share this level']
].map(([property, verdict, claimed, physical, effective, why]) => ({
  property, unit: /ways/.test(property) ? '' : 'B', verdict, claimed, claimed_by: 'sysfs', physical, effective,
  low: effective, high: effective, why
}))

const family = [64, 128, 256].map(stride => ({
  id: `stride-${stride}`, x: { name: 'size', unit: 'B' }, y: { name: 'latency', unit: 'ns' },
  points: [10, 12, 14, 16, 18].map(power => [2 ** power, power === 12 ? null : power * stride / 64, power * stride / 70, null]), steps: []
}))

// Paper 000's: counted misses of each level over the footprint.
const misses = [['dtlb1', 16], ['l2', 18], ['l1d', 14]].map(([level, full]) => ({
  id: `misses-${level}`, x: { name: 'footprint', unit: 'B' }, y: { name: 'misses', unit: 'per reference' },
  points: [10, 12, 14, 16, 18, 20, 22].map(power => [2 ** power, power > full ? 0.9 : 0, 0, power > full ? 1 : 0]),
  steps: [{ x: 2 ** full, y: 0, label: 'fits' }]
}))

// What a survey that ended early may leave: one point, and by chance below nothing.
const lonely = {
  id: 'lonely', x: { name: 'stripe', unit: 'B' }, y: { name: 'loneliness', unit: '' }, points: [[64, -5, -5, -5]], steps: []
}

export async function checkRich(browser, text, save) {
  const data = dataOf(text)
  const [result] = data.results
  const more = new Set(MORE.map(each => each.property))
  result.findings = [...result.findings.filter(each => !more.has(each.property)), ...MORE]
  result.ledger = LEDGER
  result.curves.push(...family, ...misses, lonely)
  result.warnings.push({ id: 'noise', text: 'time was lost', remedy: 'try again' })
  result.curves.find(curve => curve.id === 'cache-only').steps.push({ x: 2 ** 20, y: 60, label: 'l7' }, { x: 2 ** 21, y: 61, label: 'l6' })
  result.complete = false
  const page = await open(browser, save('rich.html', withData(text, data)))

  const titles = await page.locator('.hierarchy .title').allTextContents()
  equal('pictures of both sides and other pages', ['Instruction caches', 'Instruction TLBs', 'Data TLBs, on 2MiB pages']
    .filter(title => !titles.includes(title)), [])
  const ledger = await page.locator('.ledger tbody tr').evaluateAll(rows => rows.map(row =>
    [row.cells[0].textContent, row.querySelector('.mark').textContent, row.querySelector('.why')?.textContent ?? '']))
  const verdicts = ledger.map(([, verdict]) => (/^(built|\d)|differs/.test(verdict) ? 0 : verdict === 'not confirmed' ? 1 : 2))
  equal('disagreements first, then what is open', verdicts, [...verdicts].sort())
  equal('the furthest off first', ledger[0], ['L8 capacity', 'built so, 25 % usable', 'others may share this level'])
  equal('the ledger is that of the result', ledger.length, LEDGER.length)
  equal('an open line says why', ledger.find(([name]) => name === 'L7 capacity')[2], 'no step of its own was seen')
  ok('a count that differs is no percentage', ledger.some(([name, verdict]) => name === 'L8 ways' && verdict === 'differs'), ledger)
  const rows = await page.locator('.findings tbody tr').allInnerTexts()
  const row = word => rows.find(each => each.startsWith(word))?.replace(/\s+/g, ' ')
  ok('candidates are named, with the reason', /one of tree-plru, bit-plru.*undetermined.*nothing separates them/.test(row('replacement')), rows)
  ok('certainty is 100 %', rows.some(each => /^latency\s+1\.50 ns\s+100 %/.test(each)), rows)
  ok('an interval may have no end', rows.some(each => /512 MiB\s+at least 362 MiB/.test(each)), rows)
  const shapes = await page.locator('.hierarchy').innerHTML()
  ok('and is drawn nevertheless', !/NaN|Infinity|undefined/.test(shapes))
  ok('what cannot be asked says why', /not possible here.*needs a counter/.test(row('banks')))
  ok('warnings have their remedy', /time was lost\s*Remedy: try again/.test(await page.locator('.warnings').innerText()))
  ok('an early end is said at the head', (await page.locator('.remarks').innerText()).includes('ended early'))
  await chartOf(page, 0)
  const told = await page.locator('figure.curve .chart').first().getAttribute('aria-label')
  ok('a step is named after what was found, with a doubt where it was not', /L1d \d.*L7\? 60/.test(told) && !/L6/.test(told), told)
  const figure = page.locator('figure.curve').filter({ hasText: 'for several strides' })
  for (let i = 0; i < await page.locator('figure.curve').count(); i++)
    await chartOf(page, i)
  equal('a family is one figure', await figure.locator('.readout .label').allInnerTexts(), ['stride 64 B', 'stride 128 B', 'stride 256 B'])
  const counted = page.locator('figure.curve').filter({ hasText: 'Counted rather than timed' })
  equal('counted misses are another', await counted.locator('.readout .label').allInnerTexts(), ['L1d', 'L2', 'DTLB1'])
  const lone = page.locator('figure.curve').filter({ hasText: 'Loneliness over stripe' })
  ok('a lonely point below nothing is drawn', await inkOf(lone.locator('.chart'), 'line1') > 20)
  equal('one of everything: no error', page.trouble, [])
  await page.context().close()
}
