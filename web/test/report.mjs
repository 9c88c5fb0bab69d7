// The report of native, simulated and replayed runs, read in a real browser as a person would.
//
//     node report.mjs FATHOM SOURCE-TREE
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chartOf, inkOf, open, startBrowser } from './browser.mjs'
import { checkAccess, checkFirstKey } from './access.mjs'
import { equal, ok, plan } from './tap.mjs'
import { checkHostile } from './hostile.mjs'
import { checkRich } from './rich.mjs'
import { dataOf, withData } from './data.mjs'
import { clock, times } from '../src/format.js'
import { structures } from '../src/model.js'

const [fathom, top] = process.argv.slice(2)
const work = mkdtempSync(join(tmpdir(), 'fathom-report-'))
const place = name => join(work, name)
const environment = { ...process.env, LC_ALL: 'C', ASAN_OPTIONS: 'detect_leaks=0' }
const fathomOf = async (...options) => (await promisify(execFile)(fathom, options, { env: environment, maxBuffer: 1 << 26 })).stdout
const run = (...options) => fathomOf('survey', '--no-progress', ...options)

// What a page holds, as a program would read it.
const dataIn = file => dataOf(readFileSync(file, 'utf8'))

// Curves of one stem and the same axes are one figure; what was counted in the array of one structure is another.
const stemOf = id => /^strided-/.test(id)
  ? id.split('-').slice(0, 2).join('-')
  : id.replace(/-double$/, '').replace(/-(\d+|l\d+[di]?|[di]tlb\d+)(@.*)?$/, '$2')
const figureCount = result => new Set(result.curves.filter(curve => curve.points.length).map(curve =>
  JSON.stringify([stemOf(curve.id), curve.x, curve.y]))).size

// Whether any line is to be seen: one that lies wholly under another is not.
async function isInked(chart) {
  for (const line of ['line1', 'line2', 'line3'])
    if (await inkOf(chart, line) > 20)
      return true
  return false
}

async function checkDrawn(page, result, name) {
  equal(`${name}: one figure for each family of curves`, await page.locator('figure.curve').count(), figureCount(result))
  let inked = 0
  for (let i = 0; i < figureCount(result); i++)
    inked += await isInked(await chartOf(page, i))
  equal(`${name}: every curve is drawn`, inked, figureCount(result))
}

// Boxes are as wide as the logarithm of what they stand for.
async function checkScale(page, result, name) {
  const levels = ['l1d', 'l2', 'l3', 'l4'].map(level => result.findings.find(f => f.property === `${level}.capacity`))
    .filter(finding => finding?.status === 'measured')
  const widths = await page.locator('.hierarchy g').nth(1).locator('.box').evaluateAll(boxes => boxes.map(box => box.getBBox().width))
  const boxes = widths.sort((a, b) => a - b)
  equal(`${name}: a box for each level, and memory`, boxes.length, levels.length + 1)
  const octave = (boxes[1] - boxes[0]) / Math.log2(levels[1].value / levels[0].value)
  const uneven = levels.slice(2).filter((level, i) =>
    Math.abs((boxes[i + 2] - boxes[i + 1]) / Math.log2(level.value / levels[i + 1].value) - octave) > octave * 0.02 + 0.5)
  ok(`${name}: boxes are to scale`, octave > 3 && uneven.length === 0, { boxes, octave })
}

async function checkLoaded(browser, file, name) {
  const page = await open(browser, file)
  const { results } = dataIn(file)
  equal(`${name}: headed by the machine`, await page.locator('h1').innerText(), results[0].machine.name)
  await checkDrawn(page, results[0], name)
  equal(`${name}: a row for each finding`, await page.locator('.findings tbody tr:not(.group)').count(), results[0].findings.length)
  equal(`${name}: no error and no request`, page.trouble, [])
  return { page, result: results[0] }
}

async function readings(page, figure) {
  const readout = figure.locator('.readout')
  const box = await figure.locator('.u-over').boundingBox()
  const found = new Set()
  for (let i = 0; i < 16; i++) {
    await page.mouse.move(box.x + box.width * (i + 0.5) / 16, box.y + box.height / 2)
    found.add((await readout.innerText()).replace(/\s+/g, ' ').trim())
  }
  return [...found]
}

// What hovering says are points of the curve, and many of them.
async function checkHover(page, result) {
  const figure = page.locator('figure.curve').first()
  await figure.locator('.chart').scrollIntoViewIfNeeded()
  const { points } = result.curves.find(curve => curve.id === 'cache-only')
  const digits = y => y.toFixed(y < 9.995 ? 2 : y < 99.95 ? 1 : 0)
  const texts = await readings(page, figure)
  const known = text => points.some(([, y]) => text.includes(` ${digits(y)} ns`)) && /^footprint [\d.]+ (B|KiB|MiB)/.test(text)
  ok('hovering reads points of the curve', texts.length >= 5 && texts.every(known), texts)
  return texts
}

async function checkZoom(page, before) {
  const figure = page.locator('figure.curve').first()
  const chart = figure.locator('.chart')
  const reset = figure.getByRole('button', { name: 'Reset zoom' })
  ok('nothing to reset at first', await reset.isDisabled())
  const box = await chart.locator('.u-over').boundingBox()
  await page.mouse.move(box.x + box.width * 0.4, box.y + 60)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 4 })
  await page.mouse.up()
  ok('dragging zooms', await reset.isEnabled())
  const after = await readings(page, figure)
  ok('zoomed in, other points are under the cursor', after.some(text => !before.includes(text)) || after.length < before.length,
    { before, after })
  await reset.click()
  ok('and back', await reset.isDisabled())
  equal('all points are there again', (await readings(page, figure)).sort(), before.sort())
  await page.mouse.move(0, 0)
}

async function checkKeys(page, result) {
  const figure = page.locator('figure.curve').first()
  const where = figure.locator('.readout .where')
  const { points } = result.curves.find(curve => curve.id === 'cache-only')
  await figure.locator('.chart').focus()
  await page.keyboard.press('Home')
  equal('keys go to the first point', await where.innerText(), `footprint ${points[0][0]} B`)
  const first = await where.innerText()
  await page.keyboard.press('ArrowRight')
  ok('and on to the next', await where.innerText() !== first, first)
  await page.keyboard.press('+')
  const reset = figure.getByRole('button', { name: 'Reset zoom' })
  ok('plus zooms in', await reset.isEnabled())
  await page.keyboard.press('0')
  ok('zero shows all', await reset.isDisabled())
}

async function checkTheme(page) {
  const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
  const chart = await chartOf(page, 0)
  const light = await paper()
  await page.getByRole('radio', { name: 'Dark' }).check({ force: true })
  const dark = await paper()
  ok('dark is another paper', dark !== light, { dark, light })
  ok('curves change their ink with it', await inkOf(chart, 'line1') > 20)
  await page.emulateMedia({ media: 'print' })
  equal('paper is white in print', await paper(), 'rgb(255, 255, 255)')
  ok('so are curves', await inkOf(chart, 'line1') > 20)
  equal('tables are tables there', await page.locator('.ledger td').first().evaluate(cell => getComputedStyle(cell).display), 'table-cell')
  await page.emulateMedia({ media: 'screen', colorScheme: 'dark' })
  await page.getByRole('radio', { name: 'Light' }).check({ force: true })
  equal('light although the system is dark', await paper(), light)
  await page.getByRole('radio', { name: 'System' }).check({ force: true })
  equal('the system is followed', await paper(), dark)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.waitForFunction(wanted => getComputedStyle(document.documentElement).backgroundColor === wanted, light)
  ok('also when it changes', true)
}

async function checkDownloads(page, file, wantedCsv) {
  const fetched = async name => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name, exact: true }).first().click()])
    return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') }
  }
  const json = await fetched('Result as JSON')
  equal('the result can be taken along', JSON.parse(json.text), dataIn(file).results[0])
  ok('under a plain name', /^[a-z0-9-]+\.json$/.test(json.name), json.name)
  equal('findings as --format csv has them', (await fetched('Findings as CSV')).text, wantedCsv)
  const curve = dataIn(file).results[0].curves.find(c => c.id === 'cache-only')
  const lines = (await fetched('CSV')).text.trim().split('\n')
  equal('the points of a curve', [lines[0], lines.length], ['footprint_B,latency_ns,low_ns,high_ns', curve.points.length + 1])
}

async function checkPrint(page) {
  const pdf = await page.pdf({ format: 'A4' })
  const undrawn = await page.evaluate(() => [...document.querySelectorAll('.chart')].filter(chart => !chart.querySelector('canvas')).length)
  ok('it prints', pdf.length > 20000, pdf.length)
  equal('with every curve', undrawn, 0)
}

const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }

async function checkPhone(browser, file) {
  const page = await open(browser, file, PHONE)
  await checkFirstKey(page)
  await chartOf(page, 0)
  const wide = await page.evaluate(() => document.documentElement.scrollWidth)
  ok('a telephone shows it without scrolling sideways', wide <= 360, wide)
  const small = await page.locator('.hierarchy text, td, p').evaluateAll(nodes =>
    Math.min(...nodes.map(node => parseFloat(getComputedStyle(node).fontSize))))
  ok('and no letters too small to read', small >= 11, small)
  const figure = page.locator('figure.curve').first()
  await figure.locator('.u-over').tap()
  ok('a tap reads the curve', /^footprint .* ns/s.test((await figure.locator('.readout').innerText()).trim()))
  await checkFingers(page, figure)
  equal('no error on a telephone', page.trouble, [])
}

// A claim so large that the last label of the axis comes close to the edge.
async function checkLabels(browser, text, save) {
  const data = dataOf(text)
  data.results[0].findings.find(finding => finding.property === 'l2.capacity').claimed = 2 ** 26
  const page = await open(browser, save('labels.html', withData(text, data)), PHONE)
  const cut = await page.locator('.hierarchy .grid text').evaluateAll(texts => texts.filter(label =>
    label.getBBox().x + label.getBBox().width > label.ownerSVGElement.clientWidth).map(label => label.textContent))
  equal('no label of the picture is cut off', cut, [])
  await page.context().close()
}

// Touches as a screen reports them; places are parts of the chart's width.
async function checkFingers(page, figure) {
  const session = await page.context().newCDPSession(page)
  await figure.locator('.chart').scrollIntoViewIfNeeded()
  const box = await figure.locator('.u-over').boundingBox()
  const touch = (type, ...places) => session.send('Input.dispatchTouchEvent', {
    type, touchPoints: places.map((part, id) => ({ x: box.x + box.width * part, y: box.y + box.height / 2, id }))
  })
  const where = async () => (await figure.locator('.readout .where').innerText()).trim()
  const readAt = async part => {
    await touch('touchStart', part - 0.1)
    for (const step of [0.07, 0.03, 0])
      await touch('touchMove', part - step)
    await touch('touchEnd')
    return where()
  }
  const before = [await readAt(0.3), await readAt(0.7)]
  ok('a finger reads along the curve', before[0] !== before[1] && before.every(text => /^footprint /.test(text)), before)
  const reset = figure.getByRole('button', { name: 'Reset zoom' })
  const pinch = async (from, to) => {
    await touch('touchStart', ...from)
    for (const part of [0.25, 0.5, 0.75, 1])
      await touch('touchMove', ...from.map((start, i) => start + (to[i] - start) * part))
    await touch('touchEnd')
  }
  const held = [await readAt(0.4), await readAt(0.6)]
  await pinch([0.4, 0.6], [0.2, 0.8])
  ok('two fingers zoom in', await reset.isEnabled())
  equal('what was under them stays there', [await readAt(0.2), await readAt(0.8)], held)
  await pinch([0.1, 0.9], [0.45, 0.55])
  ok('and out', await reset.isDisabled())
  equal('as far as there are points', [await readAt(0.3), await readAt(0.7)], before)
}

async function checkSeveral(browser, file) {
  const page = await open(browser, file)
  equal('several machines, each by its name', await page.locator('article h2:first-child').allInnerTexts(),
    dataIn(file).results.map(result => result.machine.name))
  equal('several machines: no error', page.trouble, [])
}

// Compared results: what differs as `fathom diff` has it, and the curves of both in one figure.
async function checkCompared(browser, file) {
  const page = await open(browser, file)
  const { diff, results } = dataIn(file)
  equal('compared: a row for each difference', await page.locator('.compared').first().locator('tbody tr:not(.group)').count(),
    diff.differences.length)
  ok('compared: they do differ', diff.differences.length > 3)
  const chart = await chartOf(page, 0)
  const ink = [await inkOf(chart, 'line1'), await inkOf(chart, 'line2')]
  ok('compared: both curves are in one figure', ink.every(pixels => pixels > 20), ink)
  const keys = page.locator('figure.curve').first().locator('.readout .label')
  equal('compared: and named', await keys.allInnerTexts(), ['A', 'B'])
  const ticks = await page.locator('.hierarchy').evaluateAll(pictures => pictures.map(picture =>
    [...picture.querySelectorAll('.grid text')].map(text => text.textContent).join(' ')))
  ok('compared: hierarchies share a scale', ticks.length === results.length && ticks[0] === ticks[1], ticks)
  equal('compared: no error', page.trouble, [])
}

const P3 = join(top, 'machines/intel-pentium-iii-450.yaml'), ARM = join(top, 'machines/arm926ej-s.yaml')

// Which probe answers first differs from survey to survey.
function checkOrder() {
  const found = ['cpu', 'l3', 'l1i', 'dtlb1', 'l2i', 'l1d', 'l2d', 'memory']
  equal('caches are listed from the core outward, data first',
    structures({ findings: found.map(name => ({ property: `${name}.line` })) }),
    ['cpu', 'l1d', 'l1i', 'dtlb1', 'l2d', 'l2i', 'l3', 'memory'])
}

function checkNumbers() {
  equal('clocks', [2.6, 1, 0.133].map(clock), ['2.60 GHz', '1.00 GHz', '133 MHz'])
  equal('changes', [4, 3.54, 0.0625, 0.354, 1e-3].map(times), ['× 4', '× 3.5', '1/16', '× 0.35', '1/1000'])
}

async function main() {
  checkOrder()
  checkNumbers()
  const [here, again, p3, counted, arm, two] =
    ['native.html', 'replayed.html', 'p3.html', 'counted.html', 'arm.html', 'two.html'].map(place)
  const simulated = ['--machine', ARM, '--seed', '1', '--quick']
  const [browser, csv] = await Promise.all([
    startBrowser(),
    run(...simulated, '--format', 'csv'),
    run('--quick', '--budget', '4', '--record', place('samples'), '-o', here)
      .then(() => run('--replay', place('samples'), '-o', again)),
    run('--machine', P3, '--seed', '1', '--quick', '--method', 'calibrator', '-o', p3)
      .then(() => run('--machine', P3, '--seed', '1', '--quick', '-o', place('p3.json')))
      .then(() => run('--machine', P3, '--seed', '1', '--method', 'papi-cache', '--meter', 'sim', '-o', counted))
      .then(() => run(...simulated, '-o', place('arm.json')))
      .then(() => fathomOf('diff', place('arm.json'), place('p3.json'), '-o', place('diff.html')).catch(difference => difference))
      .then(() => run(...simulated, '-o', arm))
      .then(() => run('--machine', ARM, '--machine', P3, '--only', 'levels', '--quick', '-o', two))])
  try {
    await (await checkLoaded(browser, here, 'native')).page.context().close()
    await (await checkLoaded(browser, again, 'replayed')).page.context().close()
    const calibrated = (await checkLoaded(browser, p3, 'calibrator')).page
    const strides = calibrated.locator('figure.curve').filter({ hasText: 'Latency over size, for several strides' })
    ok("Calibrator's strides are one family", await strides.locator('.readout .label').count() > 3)
    await calibrated.context().close()
    const misses = (await checkLoaded(browser, counted, 'papi-cache')).page
    for (const title of ['Misses over footprint', 'Misses over stride'])
      ok(`paper 000's curves: ${title}`, (await misses.locator('figure.curve').filter({ hasText: title })
        .locator('.readout .label').allInnerTexts()).includes('L1d'))
    ok('the page says what was counted', /sim: misses of L1d/.test(await misses.locator('.facts').innerText()))
    await misses.context().close()
    const { page, result } = await checkLoaded(browser, arm, 'simulated')
    await checkScale(page, result, 'simulated')
    const before = await checkHover(page, result)
    await checkZoom(page, before)
    await checkKeys(page, result)
    await checkTheme(page)
    await checkDownloads(page, arm, csv)
    await checkAccess(page)
    await checkPrint(page)
    equal('no error and no request in all that', page.trouble, [])
    await page.context().close()
    await checkPhone(browser, arm)
    await checkSeveral(browser, two)
    await checkCompared(browser, place('diff.html'))
    const save = (name, text) => {
      writeFileSync(place(name), text)
      return place(name)
    }
    await checkLabels(browser, readFileSync(arm, 'utf8'), save)
    await checkRich(browser, readFileSync(arm, 'utf8'), save)
    await checkHostile(browser, readFileSync(arm, 'utf8'), save)
  } finally {
    await browser.close()
    rmSync(work, { recursive: true, force: true })
  }
  plan()
}

main().catch(error => {
  ok('the tests run to their end', false, error.stack)
  plan()
  process.exitCode = 1
})
