// The ledger: each property as it is claimed, as it is built, and as a program gets it.
import { count, range, show } from './format.js'
import { el, table } from './dom.js'
import { find, ledger, structureName, structures } from './model.js'

const words = attribute => attribute.replaceAll('_', ' ')

function side(finding) {
  if (!finding)
    return '–'
  if (finding.status !== 'measured')
    return el('span', { class: 'quiet' }, finding.status)
  const spread = range(finding)
  return [show(finding.value, finding.unit), spread && el('span', { class: 'range' }, spread)]
}

function verdict(row) {
  if (row.verdict === 'differs') {
    const part = row.ratio !== undefined && row.attribute !== 'ways' ? `${Math.round(row.ratio * 100)} %` : ''
    return el('span', { class: 'mark differs' },
      part && row.asBuilt ? `built so, ${part} usable` : part ? `${part} of the claim` : 'differs')
  }
  if (row.verdict === 'open')
    return el('span', { class: 'mark open' }, 'not confirmed')
  if (row.verdict === 'agrees')
    return el('span', { class: 'mark agrees' }, 'agrees')
  return ''
}

function ledgerLine(row) {
  const { finding } = row
  return {
    class: row.verdict,
    cells: [
      `${structureName(row.structure)} ${words(row.attribute)}`,
      finding.claimed === null ? '–' : [show(finding.claimed, finding.unit),
        finding.claimed_by && el('span', { class: 'by' }, ` ${finding.claimed_by}`)],
      side(row.physical), side(row.effective), verdict(row)]
  }
}

function sentence(rows) {
  const claims = rows.filter(row => row.verdict)
  const differ = claims.filter(row => row.verdict === 'differs').length
  const open = claims.filter(row => row.verdict === 'open').length
  if (!claims.length)
    return 'Nobody claims anything about this machine.'
  const unchecked = open ? `; ${open} could not be checked` : ''
  const differing = differ === 0 ? 'none differs' : differ === 1 ? '1 differs' : `${differ} differ`
  return `Of ${count(claims.length, 'claim')}, ${differing} from what was measured${unchecked}.`
}

// What there is, and how far claims about it can be believed.
export function summary(result) {
  const of = pattern => structures(result).filter(name => pattern.test(name) &&
    ['measured', 'undetermined'].includes(find(result, `${name}.${/tlb/.test(name) ? 'entries' : 'line'}`)?.status)).length
  const caches = of(/^l\d+d?$/), tlbs = of(/^dtlb\d+$/)
  const parts = [caches && count(caches, 'data cache'), tlbs && count(tlbs, 'data TLB')].filter(Boolean)
  const rows = ledger(result)
  const wrong = rows.filter(row => row.verdict === 'differs').slice(0, 3).map(row => `${structureName(row.structure)} ${words(row.attribute)}`)
  return `${parts.length ? `${parts.join(' and ')} in front of memory. ` : ''}${sentence(rows)}` +
    (wrong.length ? ` The furthest off: ${wrong.join(', ')}.` : '')
}

export function ledgerTable(result) {
  const rows = ledger(result)
  if (!rows.length)
    return el('p', { class: 'nothing' }, 'Nobody claims anything about this machine.')
  return [
    el('p', { class: 'lead' }, sentence(rows), ' Physical is what is built in; effective is what a program gets of it, ' +
      'on the pages it was given and beside its neighbours. Claims never influence a measurement.'),
    table({
      caption: 'Claimed, physical and effective',
      classes: 'ledger stack',
      headings: ['Property', 'Claimed', 'Physical', 'Effective', 'Verdict'],
      groups: [{ rows: rows.map(ledgerLine) }]
    })]
}
