// A result whose every text tries to become markup or script.
import { equal, ok } from './tap.mjs'
import { open } from './browser.mjs'
import { dataOf, withData } from './data.mjs'

const TRICKS = '</script><script>document.title="taken"</script><!--<img src=x onerror="alert(1)">\u2028"\'`${alert(2)}'

// Every text of a result made hostile, but for the few words that steer the page; these too, once.
function spoil(value, key, keep) {
  if (typeof value === 'string')
    return keep.has(key) ? value : `${TRICKS}${value}`
  if (Array.isArray(value))
    return value.map(item => spoil(item, key, keep))
  if (value && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, spoil(v, k, keep)]))
  return value
}

async function check(browser, name, file) {
  const page = await open(browser, file)
  await page.locator('main').waitFor()
  ok(`${name}: the page stands`, await page.locator('section').count() >= 6)
  const state = await page.evaluate(() => ({
    title: document.title === 'taken', scripts: document.scripts.length, images: document.images.length,
    handlers: document.querySelectorAll('[onerror], [onload], [onclick]').length
  }))
  equal(`${name}: text has become no markup`, state, { title: false, scripts: 2, images: 0, handlers: 0 })
  equal(`${name}: nothing ran, nothing was asked for`, page.trouble, [])
  await page.context().close()
}

export async function checkHostile(browser, text, save) {
  const data = dataOf(text)
  const steering = new Set(['property', 'status', 'unit', 'id', 'label', 'evidence', 'kind'])
  await check(browser, 'hostile names and notes', save('hostile.html', withData(text, spoil(data, '', steering))))
  await check(browser, 'hostile words everywhere', save('spoilt.html', withData(text, spoil(data, '', new Set()))))
}
