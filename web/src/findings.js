// Every finding, with what it rests on.
import { percent, range, show } from './format.js'
import { el, table } from './dom.js'
import { split, structureName, structures } from './model.js'

const STATUS = {
  measured: 'measured', undetermined: 'undetermined', unsupported: 'not possible here', absent: 'not there'
}

// The method leads to the curve it was applied to.
function how(finding, curveAnchors) {
  const [curve] = (finding.evidence ?? []).map(item => item.replace(/^curve:/, '')).filter(id => curveAnchors.has(id))
  const method = finding.method ?? (curve ? 'curve' : '')
  return [
    curve ? el('a', { href: `#${curveAnchors.get(curve)}` }, method) : method,
    finding.witnesses?.length > 0 && el('span', { class: 'range' }, `by ${finding.witnesses.join(', ')}`)]
}

function value(finding) {
  if (finding.status !== 'measured')
    return finding.candidates?.length
      ? ['one of ', finding.candidates.map(v => show(v, finding.unit)).join(', ')] : '–'
  return [show(finding.value, finding.unit), range(finding) && el('span', { class: 'range' }, range(finding))]
}

function line(finding, curveAnchors) {
  const [, attribute] = split(finding.property)
  return {
    class: finding.status,
    cells: [
      el('code', {}, attribute || finding.property),
      value(finding),
      percent(finding.confidence) || '–',
      el('span', { class: `status ${finding.status}` }, STATUS[finding.status] ?? finding.status),
      how(finding, curveAnchors),
      finding.note ?? '']
  }
}

export function findingsTable(result, curveAnchors) {
  return table({
    caption: 'All findings, by structure',
    classes: 'findings stack',
    headings: ['Property', 'Value', 'Sure', 'Status', 'Method', { text: 'Note', class: 'note' }],
    groups: structures(result).map(structure => ({
      heading: structureName(structure),
      rows: result.findings.filter(finding => split(finding.property)[0] === structure)
        .map(finding => line(finding, curveAnchors))
    }))
  })
}
