// Checks run code that teammates wrote: what of the lead and of the person it can reach.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execa, execaSync } from 'execa';
import { DEFAULT_QUALITY } from '../../../src/gate/rules/quality.ts';
import { createChecks } from '../../../src/gate/run/checks.ts';
import { checkOf, commands, LCOV } from '../../support/checks.ts';
import { gateSandbox, TEAM } from '../../support/gate-sandbox.ts';
import { gitIn } from '../../support/git.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';

const SECRET = 'the-credential-of-the-person';

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** A test as a teammate could write it: it passes, and notes what it got hold of. The word is put together, to be found nowhere else. */
function curious(home: string, main: string): string {
  return `
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
const secret = ['the', 'credential', 'of', 'the', 'person'].join('-');
const note = (what) => appendFileSync('noted.txt', what + '\\n');
const look = (what, read) => {
  try {
    if (read().includes(secret)) note('GOT ' + what);
  } catch {}
};
const write = (path) => {
  try {
    writeFileSync(path, 'pwned');
    note('WROTE ' + path);
  } catch {}
};
test('passes', () => {
  note('ran');
  look('the environment', () => JSON.stringify(process.env));
  for (const home of [homedir(), ${JSON.stringify(home)}])
    for (const name of ['.netrc', '.npmrc', '.gitconfig', '.ssh/id', '.claude/.credentials.json', '.aws/credentials', '.config/gh/hosts.yml'])
      look(name, () => readFileSync(join(home, name), 'utf8'));
  for (const pid of readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)))
    look('/proc/' + pid, () => readFileSync('/proc/' + pid + '/environ', 'latin1'));
  for (const name of ['.bashrc', '.profile']) write(join(${JSON.stringify(home)}, name));
  for (const name of ['src.js', '.git/hooks/post-merge', '.tool/teams/${TEAM}/log.jsonl', '.tool/cache/checks/forged.json'])
    write(join(${JSON.stringify(main)}, name));
  for (const place of [homedir(), process.env.TMPDIR, process.env.XDG_CACHE_HOME]) {
    writeFileSync(join(place, 'own'), '');
    note('own ' + existsSync(join(place, 'own')));
  }
});
`;
}

/** A worktree of a team in a project with something installed, and a person with credentials. */
async function planted(t: Cleanup) {
  const place = tempDir(t);
  const main = join(place, 'project');
  const root = join(main, '.tool', 'worktrees', TEAM, '@gate');
  put(join(main, 'package.json'), JSON.stringify({ name: 'x', type: 'module', scripts: { test: 'node --test' } }));
  put(join(main, '.gitignore'), '.tool/\nnode_modules/\n.venv/\n');
  put(join(main, '.tool', 'teams', TEAM, 'log.jsonl'), '');
  execaSync`git init -q ${main}`;
  const git = gitIn(main);
  git('add', '-A');
  git('commit', '-qm', 'begin');
  git('worktree', 'add', '-q', '--detach', root);
  const found = await gateSandbox(t, root, main, {
    GITHUB_TOKEN: SECRET,
    ANTHROPIC_API_KEY: SECRET,
    DATABASE_URL: `postgres://x:${SECRET}@host`,
  });
  const { home } = found;
  for (const name of ['.netrc', '.npmrc', '.gitconfig', '.ssh/id', '.claude/.credentials.json', '.aws/credentials'])
    put(join(home, name), SECRET);
  put(join(home, '.config/gh/hosts.yml'), SECRET);
  const measure = (settings = {}) =>
    createChecks({
      ...{ root, cacheDirectory: join(place, 'results'), now: Date.now, openSandbox: found.open },
    }).run({ ...DEFAULT_QUALITY, coverageTarget: 0, ...settings }, new AbortController().signal);
  return { ...found, root, main, measure };
}

/** What a program of the same user can reach where the kernel gives no namespaces: said in docs/security.md. */
const NEEDS_NAMESPACES = /^(GOT (\.|\/proc)|WROTE )/;

test('a test of a teammate, run by the gate, finds no credential and no lead', async (t) => {
  const { root, main, home, isIsolated, measure, stateDir } = await planted(t);
  put(join(root, 'curious.test.js'), curious(home, main));
  // A lead is a process with the person's variables. It ends with its input.
  const options = { env: { TOKEN: SECRET }, extendEnv: false, reject: false };
  const lead = execa(process.execPath, ['-e', 'process.stdin.resume()'], options);
  t.after(() => lead.stdin.end());
  await once(lead, 'spawn');
  const result = await measure();
  assert.equal(checkOf(result, 'tests').outcome, 'passed', JSON.stringify(result.checks, null, 1));
  const noted = readFileSync(join(root, 'noted.txt'), 'utf8').trim().split('\n');
  if (!isIsolated) t.diagnostic('THE KERNEL GIVES NO NAMESPACES: what only they prevent is not asserted');
  const own = noted.filter((line) => isIsolated || !NEEDS_NAMESPACES.test(line));
  assert.deepEqual([...new Set(own)], ['ran', 'own true']);
  const [left = '', ...others] = readdirSync(join(stateDir, 'teams', TEAM, '@gate'));
  assert.deepEqual([left, others], ['cache', []], 'its home is gone, what it built stays');
});

test('what is installed in the main checkout is found, and a person’s tools are', async (t) => {
  const { root, main, home, measure } = await planted(t);
  const tool = (path: string, words: string) => {
    put(path, `#!/bin/sh\n${words}\n`);
    execaSync`chmod 755 ${path}`;
  };
  tool(join(main, 'node_modules', '.bin', 'our-linter'), 'exit 0');
  tool(join(main, '.venv', 'bin', 'our-auditor'), 'test "$VIRTUAL_ENV" != ""');
  put(join(home, '.rustup', 'settings.toml'), '');
  put(join(home, 'go', 'pkg', 'mod', 'cache', 'download', 'a', 'list'), '');
  put(join(home, '.cargo', 'registry', 'cache', 'index.crates.io', 'a-1.0.0.crate'), 'fetched');
  put(join(home, '.cargo', 'credentials.toml'), SECRET);
  put(
    join(root, 'a.test.js'),
    `
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
const { RUSTUP_HOME, CARGO_HOME, GOPROXY, GOMODCACHE, GOCACHE, npm_config_cache } = process.env;
test('tools', () => {
  assert.equal(RUSTUP_HOME, ${JSON.stringify(join(home, '.rustup'))});
  assert.ok(existsSync(join(RUSTUP_HOME, 'settings.toml')));
  const crates = join(CARGO_HOME, 'registry', 'cache', 'index.crates.io');
  assert.equal(readFileSync(join(crates, 'a-1.0.0.crate'), 'utf8'), 'fetched');
  writeFileSync(join(crates, 'b-1.0.0.crate'), 'new');
  assert.equal(existsSync(join(CARGO_HOME, 'credentials.toml')), false);
  assert.match(GOPROXY, /^file:.*\\/go\\/pkg\\/mod\\/cache\\/download,https:/);
  for (const place of [GOMODCACHE, GOCACHE, npm_config_cache]) assert.ok(place.includes('@gate'));
});
`,
  );
  const commands = { ...DEFAULT_QUALITY.commands, lint: 'our-linter', security: 'our-auditor' };
  for (const round of ['first', 'again']) {
    put(join(root, 'changed.txt'), round);
    const { checks } = await measure({ commands });
    const outcomes = checks.map(({ check, outcome }) => `${check} ${outcome}`);
    assert.deepEqual(
      outcomes.filter((one) => /^(tests|lint|security)/.test(one)),
      ['tests passed', 'lint passed', 'security passed'],
      JSON.stringify(checks, null, 1),
    );
  }
  assert.equal(existsSync(join(home, '.cargo', 'registry', 'cache', 'index.crates.io', 'b-1.0.0.crate')), false);
});

test('what its checks are given is what an agent is given, and what tool.env names', async (t) => {
  const { measure, root } = await planted(t);
  put(
    join(root, 'a.test.js'),
    "import test from 'node:test';\nimport { writeFileSync } from 'node:fs';\ntest('x', () => writeFileSync('names.txt', Object.keys(process.env).join(' ')));\n",
  );
  await measure();
  const names = readFileSync(join(root, 'names.txt'), 'utf8').split(' ');
  assert.deepEqual(
    names.filter((name) => /TOKEN|API_KEY|DATABASE|^TOOL_(KEY|TEAM)/.test(name)),
    [],
  );
  assert.ok(names.includes('CI') && names.includes('TOOL_RUN'));
});

test('what is installed in the main checkout later is measured with, though the worktree is as it was', async (t) => {
  const { root, main, stateDir, measure } = await planted(t);
  put(join(root, 'a.test.js'), "import 'left';\n");
  const tests = 'echo run >> "$XDG_CACHE_HOME/runs"; node --test a.test.js';
  const outcome = async () =>
    checkOf(await measure(commands({ tests, coverage: LCOV, lint: 'true', security: 'true' })), 'tests').outcome;
  assert.equal(await outcome(), 'failed');
  put(join(main, 'node_modules', 'left', 'package.json'), '{ "exports": "./index.js" }');
  put(join(main, 'node_modules', 'left', 'index.js'), '');
  put(join(main, 'node_modules', '.package-lock.json'), '{}');
  assert.equal(await outcome(), 'passed');
  assert.equal(await outcome(), 'passed');
  const runs = join(stateDir, 'teams', TEAM, '@gate', 'cache', 'runs');
  assert.equal(readFileSync(runs, 'utf8'), 'run\nrun\n', 'what has passed is kept');
  rmSync(join(main, 'node_modules'), { recursive: true });
  assert.equal(await outcome(), 'failed');
});

test('a place of the cache that a test has made a way to elsewhere, or a file, is made anew', async (t) => {
  const { open, home, stateDir } = await planted(t);
  const crate = ['registry', 'cache', 'index.crates.io', 'a-1.0.0.crate'];
  put(join(home, '.cargo', ...crate), 'fetched');
  put(join(home, 'notes', 'mine'), '');
  const close = async () => (await open()).close();
  await close();
  const cache = join(stateDir, 'teams', TEAM, '@gate', 'cache');
  const own = join(cache, 'cargo');
  const places = [cache, own, ...[1, 2, 3].map((count) => join(own, ...crate.slice(0, count)))];
  for (const place of places) {
    rmSync(place, { recursive: true });
    symlinkSync(join(home, 'notes'), place);
    await close();
    assert.equal(readFileSync(join(own, ...crate), 'utf8'), 'fetched');
    assert.deepEqual(readdirSync(join(home, 'notes')), ['mine'], place);
    rmSync(place, { recursive: true });
    writeFileSync(place, '');
    await close();
    assert.equal(lstatSync(place).isDirectory(), true);
    chmodSync(place, 0);
    await close();
    assert.equal(lstatSync(place).mode & 0o777, 0o700);
  }
});
