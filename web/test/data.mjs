// The data that stand in a page, taken out and put in.
const PLACE = /(id="fathom-data">)(.*?)(<\/script>)/s

export const dataOf = text => JSON.parse(text.match(PLACE)[2])

// Escaped as src/report/html.c does it.
export function withData(text, data) {
  const json = JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return text.replace(PLACE, (whole, before, old, after) => before + json + after)
}
