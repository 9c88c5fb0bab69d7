// The page: reads the results that stand in it and builds itself from them.
import { environmentList, headline, warningList } from './about.js'
import { curveFigure, families } from './curves.js'
import { downloadButton, fileName } from './download.js'
import { ledgerTable, summary } from './ledger.js'
import { startTheme, themeSwitch } from './theme.js'
import { el, freshId } from './dom.js'
import { count } from './format.js'
import { findingsTable } from './findings.js'
import { hierarchyFigure } from './hierarchy.js'

const { page, results } = JSON.parse(document.getElementById('fathom-data').textContent)

function section(title, level, ...content) {
  const id = freshId()
  return el('section', { 'aria-labelledby': id }, el(`h${level}`, { id }, title), content)
}

function remarks(result) {
  const lines = []
  if (!result.complete)
    lines.push('The survey ended early; what was not reached is undetermined.')
  const open = result.findings.filter(finding => finding.status === 'undetermined').length
  if (open)
    lines.push(`${count(open, 'property', 'properties')} could not be determined; the findings say why.`)
  if (result.warnings.length)
    lines.push(`${count(result.warnings.length, 'warning')}: see the end of this report.`)
  return lines.length ? el('ul', { class: 'remarks' }, lines.map(line => el('li', {}, line))) : undefined
}

// One result: what it is, what was found, why to believe it.
function resultParts(result, level) {
  const anchors = new Map()
  const figures = families([result], []).map(family => curveFigure(family, level + 1, anchors))
  return [
    section('Hierarchy', level, hierarchyFigure(result)),
    section('Ledger', level, ledgerTable(result)),
    section('Curves', level, figures.length ? figures : el('p', { class: 'nothing' }, 'No curve was measured.')),
    section('Findings', level, findingsTable(result, anchors)),
    section('Environment', level, environmentList(result)),
    section('Warnings', level, warningList(result))
  ]
}

function intro(result, tag) {
  return el('div', { class: 'intro' }, el(tag, {}, result.machine.name), el('p', { class: 'headline' }, headline(result)),
    el('p', { class: 'lead' }, summary(result)), remarks(result))
}

function data(level) {
  const name = results.length === 1 ? results[0].machine.name : 'fathom results'
  const whole = results.length === 1 ? results[0] : results
  return section('Data', level, el('p', { class: 'lead' }, 'Everything this page shows, to work with elsewhere.'),
    el('div', { class: 'downloads' },
      downloadButton('Result as JSON', fileName(name, 'json'), 'application/json', () => `${JSON.stringify(whole, null, 2)}\n`),
      downloadButton('Findings as CSV', fileName(name, 'csv'), 'text/csv', () => page.csv)))
}

function single() {
  document.title = `${results[0].machine.name} – Fathom`
  return [intro(results[0], 'h1'), resultParts(results[0], 2), data(2)]
}

function several() {
  document.title = `${count(results.length, 'machine')} – Fathom`
  const ids = results.map(freshId)
  return [
    el('div', { class: 'intro' }, el('h1', {}, count(results.length, 'machine')),
      el('nav', { 'aria-label': 'Machines' }, el('ol', { class: 'contents' }, results.map((result, i) =>
        el('li', {}, el('a', { href: `#${ids[i]}` }, result.machine.name)))))),
    results.map((result, i) => el('article', { id: ids[i] }, intro(result, 'h2'), resultParts(result, 3))),
    data(2)]
}

function build() {
  startTheme()
  const main = el('main', { id: 'content', tabindex: -1 }, results.length === 1 ? single() : several())
  document.body.append(
    el('a', { class: 'skip', href: '#content' }, 'Skip to the report'),
    el('header', {}, el('p', { class: 'brand' }, 'Fathom'), themeSwitch()),
    main,
    el('footer', {}, el('p', {}, `Measured by Fathom ${page.version}, by timing alone. Ranges are where a repeated survey ` +
      'lands 99 times of 100.')))
}

build()
