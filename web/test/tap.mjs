// Cases in the Test Anything Protocol: one line each, the reason below one that fails.
let count = 0

export function ok(name, condition, why = '') {
  count++
  console.log(`${condition ? 'ok' : 'not ok'} ${count} - ${name}`)
  if (!condition && why !== '')
    console.log(String(typeof why === 'string' ? why : JSON.stringify(why)).slice(0, 800).replace(/^/gm, '# '))
}

export function equal(name, found, wanted) {
  ok(name, JSON.stringify(found) === JSON.stringify(wanted), `found ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`)
}

export function plan() {
  console.log(`1..${count}`)
}
