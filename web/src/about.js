// Where and how it was measured, and what stood in the way.
import { clock, count, number, percent, show, size } from './format.js'
import { el } from './dom.js'
import { measured, structureName } from './model.js'

const NAMES = {
  kind: 'Kind of machine', arch: 'Architecture', cpu: 'CPU measured on', page_size: 'Page', page_sizes: 'Other page sizes',
  memory_limit: 'Largest arena', clock: 'Clock', counters: 'Counters', virtualised: 'Virtualised', thp: 'Transparent huge pages', steal: 'Stolen time', core_shared: 'Core shared with another thread',
  kernel: 'Kernel', cpus: 'CPUs', online: 'CPUs online', context_switches: 'Context switches', load_average: 'Load average',
  page_mapping: 'Page placement', hypervisor: 'Hypervisor', governor: 'Frequency governor'
}
const KINDS = { native: 'this computer', simulated: 'simulated', recorded: 'samples of an earlier survey' }

function fact(key, value) {
  if (key === 'kind')
    return KINDS[value] ?? value
  if (key === 'page_sizes')
    return value.map(size).join(', ')
  if (/(^|_)(size|limit)$/.test(key) && typeof value === 'number')
    return value > 2 ** 62 ? 'no limit' : size(value)
  if (key === 'clock')
    return `${value.name}, steps of ${number(value.resolution_ns, 'ns')}`
  if (key === 'counters')
    return `${value.meter}: misses of ${value.misses.map(structureName).join(', ')}`
  if (key === 'steal' || key === 'core_shared')
    return percent(value)
  if (key === 'load_average')
    return value.toFixed(2)
  return show(value)
}

export function environmentList(result) {
  const facts = { ...result.machine, ...result.environment }
  delete facts.name
  const rows = Object.entries(facts).filter(([, value]) => value !== null && value !== '' && !(Array.isArray(value) && !value.length))
  return el('dl', { class: 'facts' }, rows.map(([key, value]) => el('div', {},
    el('dt', {}, NAMES[key] ?? key.replaceAll('_', ' ')), el('dd', {}, fact(key, value)))))
}

export function warningList(result) {
  if (!result.warnings.length)
    return el('p', { class: 'nothing' }, 'No warnings.')
  return el('ul', { class: 'warnings' }, result.warnings.map(warning => el('li', {},
    el('p', {}, warning.text), warning.remedy && el('p', { class: 'remedy' }, el('b', {}, 'Remedy: '), warning.remedy))))
}

// 'aarch64 · CPU 0 · 2.50 GHz · measured in 7.1 s'
export function headline(result) {
  const { machine, environment } = result
  const cycle = measured(result, 'cpu.cycle_time')
  const parts = [machine.kind === 'native' ? machine.arch : KINDS[machine.kind] ?? machine.kind]
  if (machine.cpu !== null && machine.cpu !== undefined && machine.kind === 'native')
    parts.push(`CPU ${machine.cpu}`)
  if (cycle?.value > 0)
    parts.push(`${clock(1 / cycle.value)} (a cycle is ${cycle.value.toFixed(3)} ns)`)
  if (environment.virtualised === true)
    parts.push('in a virtual machine')
  const known = result.findings.filter(finding => finding.status === 'measured').length
  parts.push(`${known} of ${count(result.findings.length, 'property', 'properties')} measured in ${result.elapsed_s.toFixed(1)} s`)
  return parts.filter(Boolean).join(' · ')
}
