// The ledger: each property as it is claimed, as it is built, and as a program gets it.
import { count, range, show } from './format.js'
import { el, table } from './dom.js'
import { find, ledger, ratio, split, structureName, structures } from './model.js'

const words = attribute => attribute.replaceAll('_', ' ')

function nameOf({ property }) {
  const [structure, attribute] = split(property)
  return `${structureName(structure)} ${words(attribute)}`
}

const known = (value, unit) => (value === null ? '–' : show(value, unit))

function verdict(entry) {
  const text = { open: 'not confirmed', agrees: 'agrees', differs: 'differs' }[entry.verdict]
  const of = entry.verdict === 'differs' && !/ways$/.test(entry.property) ? ratio(entry) : undefined
  const part = of && `${Math.round(of * 100)} %`
  const differs = entry.physical === entry.claimed ? `built so, ${part} usable` : `${part} of the claim`
  return el('span', { class: `mark ${entry.verdict}` }, part ? differs : text)
}

function ledgerLine(entry) {
  const { claimed, claimed_by: by, unit } = entry
  const spread = entry.effective !== null && range(entry)
  return {
    class: entry.verdict,
    cells: [
      nameOf(entry),
      [show(claimed, unit), by && el('span', { class: 'by' }, ` ${by}`)],
      known(entry.physical, unit),
      spread ? [show(entry.effective, unit), el('span', { class: 'range' }, spread)] : known(entry.effective, unit),
      [verdict(entry), entry.why && el('span', { class: 'why' }, entry.why)]]
  }
}

function sentence(rows) {
  const differ = rows.filter(row => row.verdict === 'differs').length
  const open = rows.filter(row => row.verdict === 'open').length
  if (!rows.length)
    return 'Nobody claims anything about this machine.'
  const unchecked = open ? `; ${open} could not be checked` : ''
  const differing = differ === 0 ? 'none differs' : differ === 1 ? '1 differs' : `${differ} differ`
  return `Of ${count(rows.length, 'claim')}, ${differing} from what was measured${unchecked}.`
}

// What there is, and how far claims about it can be believed.
export function summary(result) {
  const of = pattern => structures(result).filter(name => pattern.test(name) &&
    ['measured', 'undetermined'].includes(find(result, `${name}.${/tlb/.test(name) ? 'entries' : 'line'}`)?.status)).length
  const caches = of(/^l\d+d?$/), tlbs = of(/^dtlb\d+$/)
  const parts = [caches && count(caches, 'data cache'), tlbs && count(tlbs, 'data TLB')].filter(Boolean)
  const rows = ledger(result)
  const wrong = rows.filter(row => row.verdict === 'differs').slice(0, 3).map(nameOf)
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
