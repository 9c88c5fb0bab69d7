// Elements, made without ever reading text as markup: whatever a result says is a text node or the
// value of an attribute that cannot run.

const SVG = 'http://www.w3.org/2000/svg'

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false)
      continue
    if (typeof value === 'function')
      node.addEventListener(name, value)
    else
      node.setAttribute(name, value === true ? '' : String(value))
  }
  for (const child of children.flat(Infinity))
    if (child !== undefined && child !== null && child !== false)
      node.append(child instanceof Node ? child : document.createTextNode(String(child)))
  return node
}

// el('a', {href: '#x', click: open}, 'text', another): functions listen, the rest are attributes.
export function el(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children)
}

export function svg(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children)
}

let last = 0

// An id that no result can have chosen.
export function freshId() {
  return `f${++last}`
}

// A table whose cells keep their heading, so that a narrow screen can stack them; the roles keep
// it a table for screen readers even then.
export function table({ caption, headings, groups, classes }) {
  const cell = (content, i) => {
    const properties = {
      role: i === 0 ? 'rowheader' : 'cell',
      scope: i === 0 ? 'row' : null,
      'data-heading': headings[i].text ?? headings[i],
      // Stacked, what is not there needs no line.
      class: content === '–' ? 'none' : headings[i].class
    }
    return el(i === 0 ? 'th' : 'td', properties, content)
  }
  return el('table', { class: classes, role: 'table' },
    el('caption', {}, caption),
    el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, headings.map(heading =>
      el('th', { scope: 'col', role: 'columnheader', class: heading.class }, heading.text ?? heading)))),
    groups.map(group => el('tbody', { role: 'rowgroup' },
      group.heading && el('tr', { role: 'row', class: 'group' },
        el('th', { scope: 'rowgroup', role: 'rowheader', colspan: headings.length }, group.heading)),
      group.rows.map(row => el('tr', { role: 'row', class: row.class }, (row.cells ?? row).map(cell))))))
}
