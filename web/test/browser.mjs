// Pages in Debian's Chromium: opened from disk, watched for errors and requests.
import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

const PLACES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser']

export async function startBrowser() {
  const executablePath = PLACES.find(place => place && existsSync(place))
  if (!executablePath)
    throw new Error('no chromium: run tools/install-deps test, or name one in CHROMIUM')
  // Its own sandbox needs rights that a container does not give. The pages are ours.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
}

// A page that keeps what went wrong in page.trouble.
export async function open(browser, file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1000, height: 900 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(20000)
  page.trouble = []
  page.on('console', message => {
    // One advice is about the tests' own look at the pixels.
    if (['error', 'warning'].includes(message.type()) && !message.text().includes('willReadFrequently'))
      page.trouble.push(message.text())
  })
  page.on('pageerror', error => page.trouble.push(String(error)))
  page.on('dialog', dialog => {
    page.trouble.push(`dialog ${dialog.message()}`)
    dialog.dismiss()
  })
  page.on('request', request => {
    if (request.url() !== `file://${file}` && !request.url().startsWith('blob:'))
      page.trouble.push(`request of ${request.url()}`)
  })
  await page.goto(`file://${file}`)
  return page
}

// Brings a figure into view, so that it draws itself, and gives its chart.
export async function chartOf(page, index) {
  const chart = page.locator('figure.curve .chart').nth(index)
  await chart.scrollIntoViewIfNeeded()
  await chart.locator('canvas').waitFor()
  return chart
}

// How many pixels of a chart's canvas have the colour of that name, give or take smoothing.
export function inkOf(chart, name) {
  return chart.locator('canvas').evaluate(async (canvas, name) => {
    await new Promise(requestAnimationFrame)
    const hex = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
    const want = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16))
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    let found = 0
    for (let i = 0; i < data.length; i += 4)
      if (data[i + 3] > 200 && want.every((w, k) => Math.abs(data[i + k] - w) < 12))
        found++
    return found
  }, name)
}
