// Check of commit subjects: room first, imperative, at most 72 characters. Commits from before this check are not looked at.
// usage: tsx scripts/check-commits.ts [root]

import { readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execaSync } from 'execa';

const MOST_CHARACTERS = 72;
const SELF = 'scripts/check-commits.ts';
/** What a commit may concern beside a room of src. */
const BESIDE = [
  'bench',
  'build',
  'ci',
  'deploy',
  'docs',
  'hooks',
  'names',
  'package',
  'rooms',
  'scripts',
  'test',
  'texts',
];
/** Imperatives that end like a past form or a gerund. */
const IMPERATIVES = new Set([
  'bring',
  'embed',
  'exceed',
  'feed',
  'need',
  'proceed',
  'seed',
  'shed',
  'speed',
  'string',
  'wring',
]);

const root = resolve(process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url))));
const rooms = readdirSync(join(root, 'src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

function git(...args: readonly string[]): readonly string[] {
  const { failed, stdout } = execaSync('git', ['-C', root, ...args], { reject: false, lines: true });
  return failed ? [] : stdout.filter((line) => line !== '');
}

function problemOf(subject: string): string | null {
  const [, room = '', rest = ''] = /^([a-z-]+): (.+)$/.exec(subject) ?? [];
  if (subject.length > MOST_CHARACTERS) return `at most ${MOST_CHARACTERS} characters, got ${subject.length}`;
  if (!rooms.includes(room) && !BESIDE.includes(room))
    return `"room: …" with one of ${[...rooms, ...BESIDE].join(', ')}`;
  const [verb = ''] = rest.split(' ');
  const isImperative = /^[a-z]/.test(verb) && (!/(?:ed|ing)$/.test(verb) || IMPERATIVES.has(verb));
  return isImperative ? null : `an imperative behind "${room}:", got "${verb}"`;
}

/** Of a shallow clone the older part is missing, and with it perhaps the commit that added this check. */
const isShallow = git('rev-parse', '--is-shallow-repository').includes('true');
const isHistory = git('rev-parse', '--verify', '-q', 'HEAD').length > 0;
const [first] = git('log', '--diff-filter=A', '--format=%H', '--reverse', '--', SELF);
const commits = first === undefined ? [] : git('log', '--no-merges', '--format=%h %s', `${first}..HEAD`);
let isWrong = isShallow;
if (isShallow)
  process.stderr.write('not looked at: the history of a shallow clone; `git fetch --unshallow` brings it\n');
for (const commit of commits) {
  const at = commit.indexOf(' ');
  const problem = problemOf(commit.slice(at + 1));
  if (problem === null) continue;
  isWrong = true;
  process.stderr.write(`${commit}\n  expected ${problem}\n`);
}
if (isWrong) process.exitCode = 1;
else if (isHistory) process.stdout.write(`subjects hold: ${commits.length} commits looked at\n`);
else process.stdout.write('not looked at: subjects of commits, as this is no clone\n');
