// The pages as such: which there are, that their links lead somewhere, and that their tables are what the code says.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import test from 'node:test';
import { ECOSYSTEMS } from '../../src/gate/detect/detect.ts';
import { EDGES, type Edge } from '../../src/team/rules/log/session.ts';
import { MESSAGES } from '../../src/team/rules/message.ts';
import { nextSpecId, specName } from '../../src/team/rules/spec-documents/spec.ts';
import { fencesOf, PAGES, pageText } from '../support/pages.ts';

const NAMES = ['daemon', 'team', 'phases', 'configuration', 'team-configuration', 'hooks', 'security', 'recovery'];
const MORE = ['operations', 'scaling', 'troubleshooting', 'quality', 'spec', 'selection', 'architecture', 'errors'];
/** Of blocks that hold no command. `claude`: what is typed into Claude Code; `sql`: test/support/stores.ts runs it. */
const QUIET = ['yaml', 'text', 'claude', 'sql'];

test('there is one page for each topic, and the README leads to all of them', () => {
  const pages = readdirSync('docs').filter((name) => name.endsWith('.md'));
  assert.deepEqual(pages.sort(), [...NAMES, ...MORE].map((name) => `${name}.md`).sort());
  const linked = linksOf('README.md').map(({ path }) => path);
  for (const page of pages) assert.ok(linked.includes(`docs/${page}`), `README.md does not lead to docs/${page}`);
});

type Link = { readonly path: string; readonly anchor: string | null };

/** Links to files of this repository, from its root. */
function linksOf(page: string): readonly Link[] {
  const text = pageText(page).replaceAll(/^ *```[\s\S]*?^ *```/gm, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = '', anchor = null] = target.split('#');
    return [{ path: path === '' ? page : relative('.', join(dirname(page), path)), anchor }];
  });
}

/** The anchors that a page names itself, and those that a code host gives to its headings. */
function anchorsOf(page: string): readonly string[] {
  const text = pageText(page);
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, words = '']) =>
    words
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return [...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)];
}

test('every link leads to a file that is there, and to an anchor of it', () => {
  let count = 0;
  for (const page of [...PAGES, 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'])
    for (const { path, anchor } of linksOf(page)) {
      count += 1;
      assert.ok(existsSync(path), `${page}: ${path} is not there`);
      if (anchor !== null) assert.ok(anchorsOf(path).includes(anchor), `${page}: ${path} has no anchor #${anchor}`);
    }
  assert.ok(count > 30, `${count} links were looked at`);
});

test('every source file that the pages for maintainers name is there', () => {
  const named = ['docs/architecture.md', 'docs/security.md', 'CONTRIBUTING.md'].flatMap((page) =>
    [...pageText(page).matchAll(/`((?:src|hooks|native|scripts|test|bench)\/[\w./-]+)`/g)].map(([, path = '']) => path),
  );
  assert.ok(named.length > 50, `${named.length} names were looked at`);
  assert.deepEqual(
    named.filter((path) => !existsSync(path)),
    [],
  );
});

test('the README goes on with the SPEC that its feature gets', () => {
  const typed = fencesOf('README.md')
    .filter(({ language }) => language === 'claude')
    .flatMap(({ text }) => text.split('\n'));
  const [, feature = ''] =
    typed.map((line) => /^\s*\/tool:1-plan "([^"]+)"/.exec(line)).find((one) => one !== null) ?? [];
  const named = typed.flatMap((line) => /^\s*\/tool:[23]-\w+ (\S+)/.exec(line)?.[1] ?? []);
  const id = nextSpecId(specName(feature), []);
  assert.deepEqual(named, [id, id]);
});

test('every block says what it holds, so that none with commands goes by', () => {
  for (const page of PAGES)
    for (const { language, line } of fencesOf(page))
      assert.ok(
        ['sh', 'console', ...QUIET].includes(language),
        `${page}:${line}: expected sh, console, ${QUIET.join(', ')}, got "${language}"`,
      );
});

function cells(row: string): readonly string[] {
  return row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
}

function table(page: string, heading: string): readonly (readonly string[])[] {
  const part = pageText(page).split(`\n## ${heading}\n`)[1]?.split(/^## /m)[0] ?? '';
  const rows = part.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map(cells);
}

function ticked(cell: string): readonly string[] {
  return [...cell.matchAll(/`(\w+)`/g)].map(([, word = '']) => word);
}

test('the states of a session are those of the code, edge by edge', () => {
  const all = [...new Set(EDGES.flatMap(({ from, to }) => [from, to]))];
  const told = table('docs/phases.md', 'States').flatMap(([from = '', event = '', to = '', when = '']) =>
    (from.startsWith('any but') ? all.filter((one) => !ticked(from).includes(one)) : ticked(from)).map(
      (one) => `${one} ${ticked(event).join()} ${ticked(to).join()} ${when}`,
    ),
  );
  const line = ({ from, event, to, conditions: guards }: Edge) => `${from} ${event} ${to} ${guards.join(', ')}`;
  assert.deepEqual([...told].sort(), EDGES.map(line).sort());
});

test('the types of messages and their fields are those of the code', () => {
  const told = table('docs/team.md', 'Messages').map(([type = '', content = '']) => `${type}: ${content}`);
  const shape = (content: (typeof MESSAGES)['progress']['content']) =>
    content === 'text'
      ? 'text'
      : Object.entries(content)
          .map(([name, { optional }]) => `\`${name}${optional === true ? '?' : ''}\``)
          .join(', ');
  assert.deepEqual(
    told,
    Object.entries(MESSAGES).map(([type, { content }]) => `\`${type}\`: ${shape(content)}`),
  );
});

test('the table of projects with proposed commands has a row for each ecosystem', () => {
  const told = table('docs/quality.md', 'Commands').map(([name = '']) => name);
  for (const [manifest, { page }] of Object.entries(ECOSYSTEMS)) assert.ok(told.includes(page), `${manifest}: ${page}`);
});

/** What the page has to hold: the symptom, the cause and what mends it, in its words. */
const DAEMON: readonly (readonly [RegExp, RegExp, RegExp])[] = [
  [/serve init/, /old version/, /npm pack/],
  [/not picked up/, /tracker\.active_states/, /label/],
  [/clone fails/, /credential/, /gh auth status/],
  [/agent stalls/, /tool\.stall_timeout_ms/, /raise `tool\.stall_timeout_ms`/],
  [/port is in use/, /another program/, /--port.*server\.port: 0/],
];
const TEAM: readonly (readonly [RegExp, RegExp, RegExp])[] = [
  [/one agent at a time/, /version.*variable.*enabled/, /--force/],
  [/message is refused/, /not exact/, /team-restart/],
  [/two teammates change the same file/, /somebody else's/, /change_request/],
  [/idle and has no task/, /none is meant/, /TaskCreate.*owner/],
  [/not accepted as completed/, /coverage below the target, lint, findings/, /quality/],
];

test('troubleshooting has a row for every failure that there is a table of, and the versions', () => {
  const page = 'docs/troubleshooting.md';
  for (const [heading, wanted] of [
    ['The daemon', DAEMON],
    ['Teams', TEAM],
  ] as const) {
    const rows = table(page, heading);
    for (const [symptom, cause, mend] of wanted) {
      const row = rows.find(([first = '']) => symptom.test(first));
      assert.ok(row !== undefined, `${heading}: ${symptom}`);
      assert.match(row[1] ?? '', cause);
      assert.match(row[2] ?? '', mend);
    }
  }
  const { engines }: { engines: { node: string } } = JSON.parse(readFileSync('package.json', 'utf8'));
  assert.deepEqual(table(page, 'Versions'), [
    ['Team mode', 'experimental'],
    ['Its documentation', '1.1.0; previous: 1.0.0'],
    ['Claude Code', '2.1.32 or higher'],
    ["The daemon's HTTP interface", '`/api/v1/`'],
    ['Node', engines.node.replace('^', '').replace(' || >=', ' or a higher 20, ').concat(' or higher')],
  ]);
});
