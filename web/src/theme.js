// Light and dark: the system's choice unless the reader makes one.
import { el } from './dom.js'

const system = matchMedia('(prefers-color-scheme: dark)')
const print = matchMedia('print')
const listeners = new Set()
let choice = 'system'

function apply() {
  const dark = choice === 'dark' || (choice === 'system' && system.matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
  for (const listener of listeners)
    listener()
}

// Called whenever colours have changed; what is on a canvas has to be drawn again.
export function onThemeChange(listener) {
  listeners.add(listener)
}

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
}

export function startTheme() {
  system.addEventListener('change', apply)
  print.addEventListener('change', apply)
  addEventListener('beforeprint', apply)
  addEventListener('afterprint', apply)
  apply()
}

export function themeSwitch() {
  const option = (value, label) => el('label', {},
    el('input', {
      type: 'radio', name: 'theme', value, checked: value === choice,
      change: () => { choice = value; apply() }
    }), el('span', {}, label))
  return el('fieldset', { class: 'theme' }, el('legend', { class: 'unseen' }, 'Colours'),
    option('system', 'System'), option('light', 'Light'), option('dark', 'Dark'))
}
