// Writes docs/template-reference.md from the function tables, the resource fields and the types of the calico context.
//
//   node scripts/generate-template-reference.mjs            write the file
//   node scripts/generate-template-reference.mjs --check    exit 1 when it is not what would be written
//
// A unit test holds that the committed file is current.

import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import nunjucks from 'nunjucks';
import { readContextTypes } from './context-types.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = new URL('../docs/template-reference.md', import.meta.url);

/** The text of docs/template-reference.md. */
export async function generateTemplateReference() {
  const tables = await loadTables();
  return `${[
    introduction(),
    strictness(),
    fragments(),
    functions(tables),
    calicoContext(),
    plainResources(tables),
    resourceFields(tables),
    fromConfd(),
  ].join('\n\n')}\n`;
}

/** The tables are TypeScript; they are bundled into one module and evaluated. */
async function loadTables() {
  const contents = `
    export { functionGroups } from './src/render/functions/all.ts';
    export { KEPT_FILTERS, KEPT_GLOBALS } from './src/render/functions/builtin.ts';
    export { createLookupScope, NO_LOOKUPS } from './src/render/lookup-table.ts';
    export { KEY_FUNCTIONS } from './src/model/keys/functions.ts';
    export { RESOURCE_FIELDS } from './src/config/resource-fields.ts';
  `;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
  });
  const bundle = Buffer.from(outputFiles[0].contents).toString('base64');
  return import(`data:text/javascript;base64,${bundle}`);
}

function introduction() {
  return `# Template reference

<!-- Made by scripts/generate-template-reference.mjs. Do not edit. -->

Templates are [nunjucks](https://mozilla.github.io/nunjucks/templating.html) (a close relative of Jinja2), with stricter
rules and with confd's functions. They are read from the \`templates/\` folders; a name is the path below that folder, also
in \`include\` and \`import\`, and a file in your own folder replaces the shipped one of the same name.

\`\`\`jinja
{# A comment. #}
{% import "dialect/bird2.njk" as bird %}
{% for s in ipv4.sessions %}
  neighbor {{ s.address | bird_ip }} as {{ s.asNumber | bird_number }};
{% endfor %}
\`\`\`

The line end after a tag is dropped, and so is white space before a tag at the beginning of a line (\`trim_blocks\`,
\`lstrip_blocks\`); \`{%-\` and \`-%}\` trim more. Nothing is escaped. \`{{ content_mark }}\` prints the first 32 digits of the
digest of the rendered files: put it into a constant (\`define birdfeed_mark = {{ content_mark | bird_string }};\`), and BIRD
can be asked what it runs.

**Templates are code.** They run inside birdfeed, so their folders must be writable only by those who may run programs
there. What stands in the datastore never becomes template text. A template that never ends cannot be stopped: it blocks
the process until a liveness probe ends it.`;
}

function strictness() {
  return `## What is an error

An error names template, line and column, shows the lines around, and leaves the last good generation in place.

| in a template | result |
|---|---|
| a name or member that does not exist, anywhere | error, with the name that may be meant |
| \`null\` printed, joined with \`~\` or \`+\`, calculated or looped over, or given to a filter | error |
| \`null\` in \`if\`, \`==\`, \`is none\`, \`default(x, true)\` | allowed: optional members are \`null\`, never missing |
| \`x is defined\`, \`x \\| default("…")\` with a name or member that may be missing | allowed |
| a list, an object, a function or NaN printed | error: use \`join\`, a member, \`()\` |
| a loop with one name over an object; over text; over a number | error |
| \`for key, value in object\` | in the order of the sorted keys |
| an unknown filter, test, function, macro or template | error when the template is read |
| members that lead out of the template (\`constructor\`, …), methods that change a value | error |`;
}

function fragments() {
  return `## Fragments

\`\`\`jinja
{% import "session.njk" as session %}
{% fragment s in ipv4.sessions %}
{{ session.protocol(s) -}}
{% endfragment %}
\`\`\`

A loop whose text is kept per item, for as long as the item is the very same object: after a change only the changed
sessions are rendered. So the body may use nothing but its item, variables that it sets itself, functions, and macros
imported at the top of the same template (without \`with context\`, by a fixed name). Everything else is an error when the
template is read: other names, \`loop\` of the loop around, \`include\`, functions whose result changes by itself.`;
}

function functions(tables) {
  const scope = () => tables.createLookupScope(tables.NO_LOOKUPS);
  const groups = Object.entries(tables.functionGroups(scope, {}));
  const sections = groups.map(([title, list]) => `### ${title}\n\n${functionTable(list)}`);
  const tests = Object.keys(new nunjucks.Environment(null, {}).tests).sort();
  return `## Functions and filters

Those marked *both* can be written as a function, \`split(x, ",")\`, and as a filter, \`x | split(",")\`. The keys of a plain
resource are read with [further functions](#plain-resources).

${sections.join('\n\n')}

### From nunjucks

Filters:

${table(
  ['filter', 'result'],
  Object.entries(tables.KEPT_FILTERS).map(([name, doc]) => [code(name), doc]),
)}

Functions:

${table(
  ['function', 'result'],
  Object.entries(tables.KEPT_GLOBALS).map(([name, doc]) => [code(name), doc]),
)}

Tests (\`x is …\`): ${tests.map(code).join(', ')}.`;
}

function functionTable(list) {
  const rows = list.map(({ signature, doc, example, as }) => [
    code(signature),
    as === 'both' ? 'both' : as,
    doc,
    example === null ? '' : `${code(example[0])} → ${code(example[1].replaceAll('\n', '⏎'))}`,
  ]);
  return table(['name', 'as', 'result', 'example'], rows);
}

function calicoContext() {
  const { names, types } = readContextTypes();
  const sections = types.map(({ name, doc, members, variants, text }) => {
    const head = `### ${name}${doc === '' ? '' : `\n\n${doc}`}`;
    if (members !== undefined) return `${head}\n\n${memberTable(members)}`;
    if (variants === undefined) return `${head}\n\n${code(text)}`;
    return `${head}\n\nOne of:\n\n${table(
      ['value', ''],
      variants.map((v) => [code(v.type), v.doc]),
    )}`;
  });
  return `## What templates of \`model = "calico"\` see

The BGP configuration of this node: readonly, complete and sorted. A member that can be \`null\` always exists.

${memberTable(names)}

${sections.join('\n\n')}`;
}

function memberTable(members) {
  return table(
    ['name', 'type', ''],
    members.map(({ name, type, doc }) => [code(name), code(type), doc]),
  );
}

function plainResources(tables) {
  const rows = tables.KEY_FUNCTIONS.map(({ signature, doc }) => [code(signature), doc]);
  return `## Plain resources

Templates of \`model = "keys"\` (the default) see the keys that their resource declares, without its prefix, through confd's
functions. Reading any other key is an error that says so.

${table(['function', 'result'], rows)}`;
}

function resourceFields(tables) {
  const rows = Object.entries(tables.RESOURCE_FIELDS).map(([name, { doc }]) => [code(name), doc]);
  return `## Resource files

Every \`*.toml\` below \`conf.d/\` is one resource, with one \`[template]\` table. Unknown fields are errors.

${table(['field', 'meaning'], rows)}`;
}

function fromConfd() {
  return `## Coming from confd

| confd | here |
|---|---|
| \`{{getv "/db/host"}}\` | \`{{ getv("/db/host") }}\` |
| \`{{getv "/db/host" "localhost"}}\` | \`{{ getv("/db/host", "localhost") }}\` |
| \`{{range gets "/peers/*"}}{{.Key}} {{.Value}}{{end}}\` | \`{% for kv in gets("/peers/*") %}{{ kv.Key }} {{ kv.Value }}{% endfor %}\` |
| \`{{$d := json .Value}}{{$d.ip}}\` | \`{% set d = json(kv.Value) %}{{ d.ip }}\` |
| \`{{range $k, $v := json (getv "/x")}}…{{end}}\` | \`{% for k, v in json(getv("/x")) %}…{% endfor %}\` |
| \`{{range $i, $e := ls "/x"}}…{{end}}\` | \`{% for e in ls("/x") %}{{ loop.index0 }} …{% endfor %}\` |
| \`{{if exists "/x"}}…{{else}}…{{end}}\` | \`{% if exists("/x") %}…{% else %}…{% endif %}\` |
| \`{{if eq $a "1"}}\`, \`and\`, \`or\`, \`not\` | \`{% if a == "1" %}\`, \`and\`, \`or\`, \`not\` |
| \`{{join (getvs "/x/*") ","}}\` | \`{{ getvs("/x/*") \\| join(",") }}\` |
| \`{{printf "%s:%d" $h $p}}\` | \`{{ h ~ ":" ~ p }}\` |
| \`{{- … -}}\` | \`{{- … -}}\`; tags drop their line end by themselves |

What differs on purpose:

- Numbers of JSON keep their digits: 4200000000 prints as 4200000000, and whole numbers beyond 2^53 are exact.
- Sorting functions and \`reverse\` give a new list and are stable; \`sortByLength\` never changes its argument.
- \`datetime()\` and look-ups are answered before rendering and frozen, so that they alone never make a new generation with
  each rendering; a changed DNS answer does make one. Time is UTC and a layout is an argument: \`datetime("2006-01-02")\`.
- A failing resolver leaves the last answer in place, where confd prints nothing.
- \`mode = "644"\` is octal, as it looks. \`owner\` and \`group\` work. Misspelt fields are errors.
- The global prefix goes in front of a resource's \`prefix\`; it does not replace it.`;
}

function table(heads, rows) {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('\n', ' ')).join(' | ')} |`;
  return [
    line(heads),
    `|${heads.map(() => '---').join('|')}|`,
    ...rows.map((row) => line(row.map(escapeCell))),
  ].join('\n');
}

/** GitHub reads \`|\` as the end of a cell, in code too. */
function escapeCell(text) {
  return text.replace(/(?<!\\)\|/g, '\\|');
}

function code(text) {
  const fence = text.includes('`') ? '``' : '`';
  return `${fence}${text}${fence}`;
}

async function main() {
  const text = await generateTemplateReference();
  const current = await readFile(target, 'utf8').catch(() => '');
  if (current === text) return;
  const path = fileURLToPath(target);
  if (process.argv.includes('--check')) {
    console.error(`${path} is out of date; run node scripts/generate-template-reference.mjs`);
    process.exitCode = 1;
    return;
  }
  await writeFile(target, text);
  console.log(`wrote ${path}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
