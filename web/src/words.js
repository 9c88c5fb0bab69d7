// What curves are called and how they are read, by the stem of their ids. Others are titled by their
// axes.
import { number } from './format.js'
import { structureName } from './model.js'

// In the order in which figures stand: pattern, title, how to read it.
const KNOWN = [
  [/^cache-only/, 'Latency over footprint',
    'Read it from the left: each flat stretch is a level of the hierarchy, and where the line leaves it, ' +
    'the footprint no longer fits there.'],
  [/^stride$/, 'Latency over size, for several strides',
    'Each line reads its memory at one stride: all rise where a level is full, and strides shorter than a line rise ' +
    'less, since some of their reads hit a line that is there already.'],
  [/^misses(?!-code)/, 'Misses over footprint',
    'Counted rather than timed: nothing is missed while the footprint fits, and each line leaves the ground where its ' +
    'level is full.'],
  [/^refined/, 'Misses over footprint, looked at more closely',
    'Counted around the edge of each level alone: the line leaves the ground with the first line of memory that no ' +
    'longer fits.'],
  [/^misses-code/, 'Misses over the size of code',
    'Counted rather than timed: nothing is missed while the code fits, and each line leaves the ground where its level ' +
    'is full.'],
  [/^strided/, 'Misses over stride, in an array that does not fit',
    'The line rises while the stride is shorter than a line, since several reads share one, stays up from there on, and ' +
    'falls to nothing once the few elements that are left fit into one set.'],
  [/^code(?!-levels)/, 'Fetching code, over its size',
    'Read it from the left: each flat stretch is a level that instructions come from, and where the line leaves it, ' +
    'the code no longer fits there.'],
  [/^code-levels/, 'Fetching code, over its size, beyond the first level',
    'Read it from the left: each flat stretch is a level that data may share, and where the line leaves it, the code no ' +
    'longer fits there.'],
  [/^tlb/, 'Cost of translation over pages',
    'The line stays down while a TLB holds every page that is visited, and rises where one runs out of entries.'],
  [/^itlb/, 'Cost of translation over pages of code',
    'The line stays down while a TLB holds every page that code runs through, and rises where one runs out of entries.'],
  [/^spots/, 'Latency over spots, for several strides',
    'Each line visits spots that lie one stride apart: a rise at the same number of spots whatever the stride is a ' +
    'TLB running out of entries, one that moves with the stride a cache that is full.'],
  [/^linesize/, 'Misses over the width of stripes',
    'Every other stripe is left out: misses stay while stripes are narrower than a line, since every line is ' +
    'touched all the same, and are gone as soon as a stripe is one line wide.'],
  [/^laps/, 'Misses lap by lap',
    'Sets that are too full are gone through again and again: how many misses each lap still has tells which line a ' +
    'set gives up.']
]

const capital = text => text.charAt(0).toUpperCase() + text.slice(1)

export function words(stem, curve) {
  const known = KNOWN.find(([pattern]) => pattern.test(stem))
  const qualifier = stem.split('@')[1]
  const swept = stem.match(/^strided-(.*)/)?.[1]
  if (known) {
    const title = known[1] + (swept ? ` ${structureName(swept)}` : '') + (qualifier ? `, on ${qualifier} pages` : '')
    return { title, reading: known[2] }
  }
  return {
    title: `${capital(curve.y.name)} over ${curve.x.name}${qualifier ? `, ${qualifier}` : ''}`,
    reading: /miss/.test(curve.y.name)
      ? 'Nothing is missed while all fits; where the line leaves the ground, a level is full.'
      : `Where the line changes its height, ${curve.x.name} has passed a limit of what is measured; ` +
        'a flat line means that it does not matter.'
  }
}

// Where a figure stands among the others; unknown ones before the details.
export function place(stem) {
  const at = KNOWN.findIndex(([pattern]) => pattern.test(stem))
  return at < 0 ? 9.5 : at
}

// 'spots-4096' and 'spots-512' are members of one family, 4096 and 512 of it; 'misses-l1d' and 'misses-l2' of another,
// 'misses-l2-double' too, which counts other loads, and 'refined-l2' likewise. 'strided-l2-dtlb1' is what DTLB1 misses in the array that L2 was
// asked with, and stands beside 'strided-l2', what L2 itself misses there.
export function member(id) {
  const counted = id.match(/^(misses|refined|strided)-([di]tlb\d+|l\d+[di]?)(?:-([di]tlb\d+|l\d+[di]?))?(-double)?$/)
  if (counted) {
    const [, kind, first, second, double] = counted
    return { stem: kind === 'strided' ? `strided-${first}` : kind, rank: (second ?? first) + (double ?? '') }
  }
  const [, stem, rank, qualifier] = id.match(/^(.*[^-\d])-(\d+|l\d+[di]?|[di]tlb\d+)((?:@.*)?)$/) ?? []
  if (stem === undefined)
    return { stem: id, rank: undefined }
  return { stem: stem + qualifier, rank: /^\d+$/.test(rank) ? Number(rank) : rank }
}

// What the member of a family is called, '' where a curve stands alone.
export function memberLabel(stem, rank) {
  if (rank === undefined)
    return ''
  if (typeof rank === 'string') {
    const [name, double] = rank.split('-')
    return structureName(name) + (double ? ', doubles' : '')
  }
  if (/^(spots|stride)$/.test(stem))
    return `stride ${number(rank, 'B')}`
  if (/^linesize/.test(stem))
    return rank === 1 ? 'L1d' : `L${rank}`
  return String(rank)
}
