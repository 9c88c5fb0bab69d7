// What keyboards, screen readers and weak eyes need.
import { equal, ok } from './tap.mjs'

// Runs in the page: text whose contrast with what it stands on is below 4.5.
function tooFaint() {
  const channel = v => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b)
  const parse = text => text.match(/[\d.]+/g).map(Number)
  const paper = node => {
    for (; node; node = node.parentElement) {
      const colour = parse(getComputedStyle(node).backgroundColor)
      if (colour.length === 3 || colour[3] > 0.99)
        return colour
    }
    return [255, 255, 255]
  }
  const faint = []
  for (const node of document.querySelectorAll('p, th, td, dt, dd, a, button:not(:disabled), summary, figcaption, caption, span, h1, h2, h3')) {
    if (!node.textContent.trim() || !node.getClientRects().length)
      continue
    const a = light(parse(getComputedStyle(node).color)), b = light(paper(node))
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
    if (contrast < 4.5)
      faint.push(`${node.tagName} ${node.className} ${contrast.toFixed(2)}: ${node.textContent.slice(0, 30)}`)
  }
  return [...new Set(faint)]
}

export async function checkAccess(page) {
  const counts = await page.evaluate(() => Object.fromEntries(['main', 'header', 'footer', 'h1'].map(tag =>
    [tag, document.querySelectorAll(tag).length])))
  equal('landmarks, and one heading of the page', counts, { main: 1, header: 1, footer: 1, h1: 1 })
  const levels = await page.locator('h1, h2, h3, h4').evaluateAll(nodes => nodes.map(node => Number(node.tagName[1])))
  ok('no level of headings is left out', levels.every((level, i) => i === 0 || level <= levels[i - 1] + 1), levels)
  for (const summary of await page.locator('summary').all())
    await summary.click()
  // A table is made when it is first unfolded, which a browser tells a little later; if none comes, the check below says so.
  await page.waitForFunction(() => [...document.querySelectorAll('figure')].every(figure => figure.querySelector('table')),
    null, { timeout: 5000 }).catch(() => {})
  const bare = await page.evaluate(() => ({
    tables: [...document.querySelectorAll('table')].filter(table => !table.caption?.textContent).length,
    figures: [...document.querySelectorAll('figure')].filter(figure =>
      !document.getElementById(figure.getAttribute('aria-labelledby'))?.textContent).length,
    without: [...document.querySelectorAll('figure')].filter(figure => !figure.querySelector('table')).length,
    charts: [...document.querySelectorAll('.chart')].filter(chart => !chart.ariaLabel || chart.tabIndex !== 0).length,
    sections: [...document.querySelectorAll('section')].filter(part => !part.getAttribute('aria-labelledby')).length,
    lang: document.documentElement.lang
  }))
  equal('tables have captions, figures names and tables behind them, charts can be reached', bare,
    { tables: 0, figures: 0, without: 0, charts: 0, sections: 0, lang: 'en' })
  for (const summary of await page.locator('summary').all())
    await summary.click()
  for (const theme of ['Dark', 'Light']) {
    await page.getByRole('radio', { name: theme }).check({ force: true })
    equal(`${theme}: text stands out from its paper`, await page.evaluate(tooFaint), [])
  }
}

// On a page that has just been opened.
export async function checkFirstKey(page) {
  await page.keyboard.press('Tab')
  const seen = await page.evaluate(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
    return [document.activeElement.textContent, outlineStyle, parseFloat(outlineWidth) > 0]
  })
  equal('the first key leads past the head of the page, and shows it', seen, ['Skip to the report', 'solid', true])
}
