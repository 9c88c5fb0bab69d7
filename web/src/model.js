// What a result says, as the page asks for it. Nothing is analysed again.

// 'dtlb1@2MiB.ways' is the structure dtlb1@2MiB and its attribute ways.
export function split(property) {
  const dot = property.lastIndexOf('.')
  return dot < 0 ? [property, ''] : [property.slice(0, dot), property.slice(dot + 1)]
}

export function find(result, property) {
  return result.findings.find(finding => finding.property === property)
}

// The finding, if it was measured.
export function measured(result, property) {
  const finding = find(result, property)
  return finding?.status === 'measured' ? finding : undefined
}

const ABBREVIATIONS = ['cpu', 'btb']

// What is numbered is an abbreviation, the rest are words: L1d, DTLB1 on 2MiB, Memory.
export function structureName(structure) {
  const [stem, qualifier] = structure.split('@')
  const digits = stem.search(/\d/)
  const capitals = ABBREVIATIONS.includes(stem) ? stem.length : digits < 0 ? 1 : digits
  const name = stem.slice(0, capitals).toUpperCase() + stem.slice(capitals)
  return qualifier ? `${name} @ ${qualifier}` : name
}

const isCache = structure => /^l\d+[di]?$/.test(structure)
// 10, 11, 12: what holds data, what holds code, what holds both, on level 1.
const place = cache => 10 * level(cache) + (cache.endsWith('d') ? 0 : cache.endsWith('i') ? 1 : 2)

// As they were found, but caches from the core outward: which of them a probe tells first is chance.
export function structures(result) {
  const found = [...new Set(result.findings.map(finding => split(finding.property)[0]))]
  const caches = found.filter(isCache).sort((a, b) => place(a) - place(b))
  return found.map(name => (isCache(name) ? caches.shift() : name))
}

const level = structure => Number(structure.match(/\d+/)?.[0] ?? 99)

// Whether there is such a thing, rather than a finding that there is none or cannot be asked for.
function exists(result, structure, attribute) {
  const status = find(result, `${structure}.${attribute}`)?.status
  return status !== 'absent' && status !== 'unsupported'
}

// One level of a picture: how far it reaches, what it costs.
function cacheRow(result, structure) {
  return {
    structure,
    extent: find(result, `${structure}.capacity`),
    physical: measured(result, `${structure}.physical_capacity`),
    cost: find(result, `${structure}.latency`),
    cycles: measured(result, `${structure}.latency_cycles`),
    line: find(result, `${structure}.line`),
    ways: find(result, `${structure}.ways`)
  }
}

function tlbRow(result, structure) {
  return {
    structure,
    extent: find(result, `${structure}.reach`),
    entries: find(result, `${structure}.entries`),
    cost: find(result, `${structure}.miss_cost`),
    cycles: measured(result, `${structure}.miss_cost_cycles`),
    ways: find(result, `${structure}.ways`),
    page: measured(result, `${structure}.page_size`),
    adds: true
  }
}

// The levels that a reference meets one after the other, in groups that nest.
export function hierarchy(result) {
  const all = structures(result)
  const group = (title, pattern, attribute, row) => {
    const rows = all.filter(name => pattern.test(name) && exists(result, name, attribute))
      .sort((a, b) => level(a) - level(b)).map(name => row(result, name))
    return { title, rows }
  }
  const data = group('Data caches and memory', /^l\d+d?$/, 'capacity', cacheRow)
  const memory = find(result, 'memory.latency')
  if (memory && memory.status !== 'absent')
    data.rows.push({
      structure: 'memory', outermost: true, cost: memory,
      cycles: measured(result, 'memory.latency_cycles')
    })
  const groups = [data, group('Instruction caches', /^l\d+i$/, 'capacity', cacheRow)]
  const pages = new Set(all.filter(name => /^[di]tlb\d/.test(name)).map(name => name.split('@')[1] ?? ''))
  for (const page of pages) {
    const where = page ? `, on ${page} pages` : ''
    const kind = letter => new RegExp(`^${letter}tlb\\d+$`)
    for (const [letter, name] of [['d', 'Data TLBs'], ['i', 'Instruction TLBs']]) {
      const names = all.filter(s => kind(letter).test(s.split('@')[0]) && (s.split('@')[1] ?? '') === page)
      const rows = names.filter(s => exists(result, s, 'entries')).sort((a, b) => level(a) - level(b))
        .map(s => tlbRow(result, s))
      groups.push({ title: name + where, rows })
    }
  }
  // Levels of a core type or node other than the first seen have pictures of their own.
  const others = new Set(all.filter(name => /^(l\d+[di]?|memory)@/.test(name)).map(name => name.split('@')[1]))
  for (const qualifier of others) {
    const rows = all.filter(name => name.endsWith(`@${qualifier}`) && /^l\d+d?@/.test(name))
      .sort((a, b) => level(a) - level(b)).map(name => cacheRow(result, name))
    groups.push({ title: `Data caches, ${qualifier}`, rows })
  }
  return groups.filter(each => each.rows.length > 0)
}

// The ends of a finding's interval, which may have none.
export function interval({ low, high }) {
  return [low ?? -Infinity, high ?? Infinity]
}

const ORDER = { differs: 0, open: 1, agrees: 2 }
const distance = entry => Math.abs(Math.log(ratio(entry) ?? 1))

// How much of what is claimed there is, undefined where that cannot be said.
export function ratio({ claimed, effective, physical }) {
  const there = effective ?? physical
  return typeof there === 'number' && typeof claimed === 'number' && claimed > 0 && there > 0 ? there / claimed : undefined
}

// The lines of the survey's ledger, disagreements first, of those the furthest off.
export function ledger(result) {
  return [...result.ledger ?? []].sort((a, b) => ORDER[a.verdict] - ORDER[b.verdict] ||
    (a.verdict === 'differs' ? distance(b) - distance(a) : 0))
}
