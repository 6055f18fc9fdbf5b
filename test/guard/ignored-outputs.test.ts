// With real Git: what of a project's paths is only built or installed there.

import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { ignoredOutputs } from '../../src/guard/ignored-outputs.ts';
import type { Target } from '../../src/guard/rules/writes.ts';
import { gitIn } from '../support/git.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const IGNORED = [
  'dist/*',
  '!dist/keep.txt',
  '/lib/*',
  '!/lib/*.ts',
  'out/',
  'cache/*',
  'node_modules/*',
  '*.log',
  'kept/',
  '.env',
];
const FILES = ['lib/c.ts', 'out/a.js', 'cache/a', 'node_modules/a/b.js', 'scripts/a.sh', '.env', '.venv/bin/python'];
const TRACKED = ['build.log', 'src/a.ts', 'kept/a.js', 'gone.log'];

type Project = { readonly root: string; readonly git: (...args: readonly string[]) => void };

function projectIn(t: Cleanup): Project {
  const root = tempDir(t);
  const git = gitIn(root);
  git('init', '-q');
  const write = (path: string, text = '') => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('.gitignore', IGNORED.join('\n'));
  // As tools make it for their own directories.
  write('.venv/.gitignore', '*\n');
  for (const path of [...FILES, ...TRACKED]) write(path);
  git('add', '-f', ...TRACKED);
  execaSync`rm ${join(root, 'gone.log')}`;
  return { root, git };
}

const file = (path: string): Target => ({ path, tree: false, directory: null });
const tree = (path: string): Target => ({ path, tree: true, directory: null });
const there = (path: string): Target => ({ path, tree: true, directory: 'there' });
const made = (path: string): Target => ({ path, tree: false, directory: 'made' });

test('what Git ignores as a whole is built or installed', async (t) => {
  const { root } = projectIn(t);
  const targets = [
    file('dist/a.js'),
    file('dist/deep/a.js'),
    file('lib/c.js'),
    there('out'),
    made('out/deep'),
    tree('out/native'),
    file('out/a.js'),
    there('cache'),
    there('node_modules'),
    tree('node_modules/new'),
    there('.venv'),
    tree('dist'),
  ];
  assert.deepEqual(
    [...(await ignoredOutputs(root, targets))],
    targets.map(({ path }) => path),
  );
});

test('what Git has, or does not ignore itself, is no output', async (t) => {
  const { root } = projectIn(t);
  const cases = [
    // left out of the pattern that ignores the others
    file('dist/keep.txt'),
    file('lib/c.ts'),
    file('lib/new.ts'),
    there('lib'),
    // tracked, though a pattern names it
    tree('build.log'),
    file('build.log'),
    tree('gone.log'),
    made('gone.log'),
    there('kept'),
    file('kept/b.js'),
    // ignored by itself, in a directory that is not
    file('.env'),
    tree('.env'),
    file('src/a.log'),
    there('scripts'),
    { path: '.', tree: true, directory: 'there' },
    file('/tmp/a'),
  ] as const;
  for (const target of cases) assert.deepEqual([...(await ignoredOutputs(root, [target]))], [], JSON.stringify(target));
});

test('a directory of which some files are left out again is none, though none of them is there', async (t) => {
  const { root } = projectIn(t);
  execaSync`rm -r ${join(root, 'lib')}`;
  assert.deepEqual([...(await ignoredOutputs(root, [tree('lib')]))], []);
  mkdirSync(join(root, 'lib'));
  const targets = [there('lib'), tree('lib/new'), file('lib/new.js'), there('cache'), there('.venv')];
  assert.deepEqual([...(await ignoredOutputs(root, targets))], ['lib/new', 'lib/new.js', 'cache', '.venv']);
  // rules that lie elsewhere count too, if they count more
  writeFileSync(join(root, '.git', 'info', 'exclude'), 'made/*\n');
  writeFileSync(join(root, '.gitignore'), '!*.html\n');
  assert.deepEqual([...(await ignoredOutputs(root, [tree('made')]))], []);
  writeFileSync(join(root, '.gitignore'), '!other/*.html\n');
  assert.deepEqual([...(await ignoredOutputs(root, [tree('made')]))], ['made']);
});

test('one of two writes to a path that is no output is enough', async (t) => {
  const { root } = projectIn(t);
  assert.deepEqual([...(await ignoredOutputs(root, [there('lib'), made('lib'), there('out')]))], ['out']);
});

test('programs that the checks start are no outputs by themselves', async (t) => {
  const { root } = projectIn(t);
  const targets = [
    file('node_modules/.bin/vitest'),
    tree('packages/a/node_modules/.bin'),
    file('.venv/bin/python'),
    file('node_modules/.bin-links'),
    file('.venv/lib/a.py'),
  ];
  assert.deepEqual([...(await ignoredOutputs(root, targets))], ['node_modules/.bin-links', '.venv/lib/a.py']);
});

test('an installed package is no output by itself', async (t) => {
  const { root } = projectIn(t);
  const targets = [
    file('node_modules/a/b.js'),
    there('node_modules/a'),
    tree('node_modules/a/new'),
    there('node_modules'),
    tree('node_modules/.cache'),
    tree('node_modules/new'),
    tree('node_modules/@new/one'),
  ];
  assert.deepEqual(
    [...(await ignoredOutputs(root, targets))],
    ['node_modules', 'node_modules/.cache', 'node_modules/new', 'node_modules/@new/one'],
  );
});

test('a path that Git cannot be asked about spoils no other', async (t) => {
  const { root, git } = projectIn(t);
  const sub = join(root, 'sub');
  execaSync`git init -q ${sub}`;
  gitIn(sub)('commit', '-q', '--allow-empty', '-m', 'x');
  git('add', 'sub');
  symlinkSync(join(root, 'scripts'), join(root, 'linked'));
  const targets = [
    there('linked'),
    file('sub/out/a.js'),
    file('linked/a.js'),
    there('out'),
    tree('sub/out'),
    file('out/b.js'),
  ];
  assert.deepEqual([...(await ignoredOutputs(root, targets))], ['out', 'out/b.js']);
});

test('where nothing can be told, nothing is an output', async (t) => {
  const outside = tempDir(t);
  assert.deepEqual([...(await ignoredOutputs(outside, [file('dist/a.js')]))], []);
  const { root } = projectIn(t);
  writeFileSync(join(root, '.gitignore'), '/packages\n');
  mkdirSync(join(root, 'packages', 'a'), { recursive: true });
  assert.deepEqual([...(await ignoredOutputs(join(root, 'packages', 'a'), [file('dist/a.js')]))], []);
});
