// The page: reads the results that stand in it and builds itself from them.
import { environmentList, headline, warningList } from './about.js'
import { columnNames, differencesTable, differenceSummary, valuesTable } from './compare.js'
import { curveFigure, families } from './curves.js'
import { downloadButton, fileName } from './download.js'
import { ledgerTable, summary } from './ledger.js'
import { startTheme, themeSwitch } from './theme.js'
import { el, freshId } from './dom.js'
import { count } from './format.js'
import { findingsTable } from './findings.js'
import { hierarchyFigure } from './hierarchy.js'

const { page, results, diff } = JSON.parse(document.getElementById('fathom-data').textContent)

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
      downloadButton(results.length === 1 ? 'Result as JSON' : 'Results as JSON', fileName(name, 'json'), 'application/json', () => `${JSON.stringify(whole, null, 2)}\n`),
      downloadButton('Findings as CSV', fileName(name, 'csv'), 'text/csv', () => page.csv),
      diff && downloadButton('Differences as JSON', 'differences.json', 'application/json', () => `${JSON.stringify(diff, null, 2)}\n`)))
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

// Results held against each other: what differs, the curves overlaid, each picture on one scale.
function compared() {
  const names = columnNames(diff)
  document.title = `${diff.results.map(side => side.machine).join(' and ')} compared – Fathom`
  const anchors = new Map()
  return [
    el('div', { class: 'intro' }, el('h1', {}, results.length === 2 ? 'Two results compared' : `${results.length} results compared`),
      el('ol', { class: 'sides' }, results.map((result, i) => el('li', {}, el('span', { class: `key key${i % 8 + 1}`, 'aria-hidden': 'true' }),
        el('b', {}, `${names[i]} `), result.machine.name, el('span', { class: 'range' }, `${diff.results[i].file} · ${headline(result)}`)))),
      el('p', { class: 'lead' }, differenceSummary(diff))),
    section('Differences', 2, differencesTable(diff, names)),
    section('Curves', 2, families(results, names).map(family => curveFigure(family, 3, anchors))),
    section('Hierarchies', 2, results.map((result, i) => [el('h3', {}, `${names[i]}: ${result.machine.name}`), hierarchyFigure(result, results)])),
    section('All values', 2, valuesTable(diff, results, names)),
    section('Surroundings', 2, results.map((result, i) => [el('h3', {}, `${names[i]}: ${result.machine.name}`), environmentList(result), warningList(result)])),
    data(2)]
}

function build() {
  startTheme()
  const main = el('main', { id: 'content', tabindex: -1 }, diff ? compared() : results.length === 1 ? single() : several())
  document.body.append(
    el('a', { class: 'skip', href: '#content' }, 'Skip to the report'),
    el('header', {}, el('p', { class: 'brand' }, 'Fathom'), themeSwitch()),
    main,
    el('footer', {}, el('p', {}, `Measured by Fathom ${page.version}. Ranges are where a repeated survey ` +
      'lands 99 times of 100.')))
}

build()
