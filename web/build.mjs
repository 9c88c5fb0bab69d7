// Bundles the page into one self-contained template and writes it as C, for src/report/html.c.
//
//     node build.mjs ESBUILD TEMPLATE.c
//
// ESBUILD is the program: npm's or that of a distribution.
//
// The template is an HTML file in two pieces: results go between them. What the browser may run is
// fixed here, by the checksums of the one script and the one style sheet in it.
import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [esbuild, output] = process.argv.slice(2)
const here = dirname(fileURLToPath(import.meta.url))
const read = (...path) => readFileSync(join(here, ...path), 'utf8')

// Bundled code keeps the terms it comes under.
const licence = read('node_modules', 'uplot', 'LICENSE').trim()

function bundle(entry, ...options) {
  const text = execFileSync(esbuild, [join(here, 'src', entry), '--bundle', '--minify', '--log-level=warning',
    '--target=chrome90,firefox90,safari15', ...options], { encoding: 'utf8' })
  return text.trim()
}

const script = bundle('main.js', '--format=iife',
  `--banner:js=/* This page contains uPlot.\n${licence.replaceAll('*/', '* /')} */`)
const style = bundle('page.css')

const checksum = text => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
const policy = [
  "default-src 'none'",
  `script-src ${checksum(script)}`,
  `style-src ${checksum(style)}`,
  "base-uri 'none'",
  "form-action 'none'"
].join('; ')

const pieces = read('src', 'page.html')
  .replace('{{policy}}', () => policy)
  .replace('{{style}}', () => style)
  .replace('{{script}}', () => script)
  .split('{{results}}')
if (pieces.length !== 2)
  throw new Error('page.html: {{results}} has to stand there exactly once')

function array(name, text) {
  const bytes = [...Buffer.from(text)]
  const lines = []
  for (let i = 0; i < bytes.length; i += 32)
    lines.push(bytes.slice(i, i + 32).join(','))
  return `static const unsigned char ${name}[] = {\n${lines.join(',\n')}};\n`
}

writeFileSync(output, `/* Made by web/build.mjs. */
#include "report/template.h"

${array('before', pieces[0])}
${array('after', pieces[1])}
const struct fm_template fm_template = {
    .before = before, .before_length = sizeof before,
    .after = after, .after_length = sizeof after};
`)
