import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import { execaSync } from 'execa';
import { BASE_CODES } from '../../../src/base/rules/base-codes.ts';
import { lineWithCode, refusal, textOf } from '../../../src/base/rules/codes.ts';
import { loadTeamSettings } from '../../../src/team/config/settings-snapshot.ts';
import { LOG_CODES } from '../../../src/team/rules/codes/log-codes.ts';
import { DEFAULT_TEAM_SETTINGS } from '../../../src/team/rules/default-settings.ts';
import { isRefusal, wordsOf } from '../../support/codes.ts';
import { COMPILING } from '../../support/compiled.ts';
import { tempDir } from '../../support/temp.ts';

type Place = { readonly root: string; readonly file: string; readonly state: string; readonly snapshot: string };

function place(t: test.TestContext): Place {
  const root = tempDir(t);
  const file = join(root, '.tool', 'config', 'workflow.yaml');
  mkdirSync(dirname(file), { recursive: true });
  const state = join(root, 'state');
  return { root, file, state, snapshot: join(state, 'workflow.json') };
}

const load = ({ root, state }: Place) => loadTeamSettings(root, state);
const limit = (count: number) => `workflow: { team: { enabled: true, max_teammates: ${count} } }`;
const BROKEN = 'workflow: { team: { enabeld: true }, x: 1 }';

/** Compiles the program that loads; what is loaded later is a file apart, and packages stay outside. */
function compileLoader(t: test.TestContext) {
  mkdirSync('.cache', { recursive: true });
  const outdir = mkdtempSync(join(process.cwd(), '.cache', 'loader-'));
  t.after(() => rmSync(outdir, { recursive: true, force: true }));
  const { metafile } = buildSync({
    ...COMPILING,
    entryPoints: [join('test', 'support', 'programs', 'load-team-settings.ts')],
    outdir,
    packages: 'external',
    splitting: true,
    sourcemap: false,
    metafile: true,
  });
  const sources = new Map(
    Object.entries(metafile.outputs).map(([file, { inputs }]) => [pathToFileURL(file).href, Object.keys(inputs)]),
  );
  return { program: join(outdir, 'load-team-settings.js'), sources };
}

/** Loads in a process of its own: the settings, and which of the project's sources and packages it loaded. */
function loadAlone({ root, state }: Place, { program, sources }: ReturnType<typeof compileLoader>) {
  const counters = mkdtempSync(join(root, 'loaded-'));
  const { stdout } = execaSync(process.execPath, [program, root, state], { env: { NODE_V8_COVERAGE: counters } });
  const urls = readdirSync(counters).flatMap((name): string[] =>
    JSON.parse(readFileSync(join(counters, name), 'utf8')).result.map(({ url }: { url: string }) => url),
  );
  const names = urls
    .flatMap((url) => sources.get(url) ?? [url])
    .flatMap((path) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? /^src\/(.*)$/.exec(path)?.[1] ?? []);
  return { answer: JSON.parse(stdout), loaded: [...new Set(names)].sort() };
}

const DECODER = [
  'team/config/team-schema.ts',
  'team/config/team-settings.ts',
  'base/config/yaml-text.ts',
  'yaml',
  'zod',
];

/** Whether the process loaded the whole decoder; fails when it loaded a part. */
function decoded(loaded: readonly string[]): boolean {
  assert.ok(loaded.includes('team/config/settings-snapshot.ts'), 'what was loaded was looked at');
  const found = DECODER.filter((name) => loaded.includes(name));
  assert.ok(found.length === 0 || found.length === DECODER.length, found.join(', '));
  return found.length > 0;
}

test('zod and yaml are loaded when the file has changed, and only then', (t) => {
  const here = place(t);
  const loader = compileLoader(t);
  const run = () => {
    const { answer, loaded } = loadAlone(here, loader);
    return [decoded(loaded), answer];
  };
  assert.deepEqual(run(), [false, { settings: DEFAULT_TEAM_SETTINGS, problem: null }], 'no file');
  writeFileSync(here.file, limit(3));
  const three = { settings: { ...DEFAULT_TEAM_SETTINGS, enabled: true, maxTeammates: 3 }, problem: null };
  assert.deepEqual(run(), [true, three], 'the first time');
  assert.deepEqual(run(), [false, three], 'the same file');
  writeFileSync(here.file, limit(4));
  const four = { settings: { ...three.settings, maxTeammates: 4 }, problem: null };
  assert.deepEqual(run(), [true, four], 'a changed file');
  assert.deepEqual(run(), [false, four]);
  writeFileSync(here.file, BROKEN);
  const said = wordsOf(BASE_CODES.settings_invalid, {
    path: here.file,
    amount: '2 problems',
    problems: [
      refusal(BASE_CODES.config_unknown_key, { line: 1, key: 'workflow.team.enabeld', near: 'workflow.team.enabled' }),
      refusal(BASE_CODES.config_unknown_key, {
        ...{ line: 1, key: 'workflow.x' },
        known: ['execution_mode', 'team', 'hooks'],
      }),
    ],
  });
  const problem = refusal(LOG_CODES.settings_last_hold, { said });
  assert.deepEqual(run(), [true, { ...four, problem }], 'a broken file');
  assert.deepEqual(run(), [false, { ...four, problem }], 'the same broken file');
  writeFileSync(here.file, limit(5));
  assert.deepEqual(run(), [true, { settings: { ...three.settings, maxTeammates: 5 }, problem: null }], 'mended');
});

test('the snapshot is a file of its owner alone, in a directory that is made for it; nothing is left beside it', async (t) => {
  const here = place(t);
  writeFileSync(here.file, limit(3));
  await load(here);
  assert.equal(statSync(here.snapshot).mode & 0o777, 0o600);
  assert.equal(statSync(here.state).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(here.state), ['workflow.json']);
});

test('a broken file that was never valid: the defaults, and why', async (t) => {
  const here = place(t);
  writeFileSync(here.file, 'workflow: [');
  const first = await load(here);
  assert.equal(first.settings, DEFAULT_TEAM_SETTINGS);
  isRefusal(first.problem, LOG_CODES.settings_defaults_hold);
  assert.match(String(first.problem?.values.said), /^\S+workflow\.yaml .*:\n {2}line 1, column 12: .*$/);
  assert.deepEqual(await load(here), first, 'from the snapshot the same');
  writeFileSync(here.file, `${BROKEN} # and more`);
  const second = await load(here);
  isRefusal(second.problem, LOG_CODES.settings_defaults_hold);
  assert.match(String(second.problem?.values.said), / 2 .*:\n {2}.*\n {2}.*$/);
  assert.deepEqual(second.settings, DEFAULT_TEAM_SETTINGS);
});

test('all problems are named, a line each, which a hook shortens to one; whatever the file holds', async (t) => {
  const here = place(t);
  const keys = Array.from({ length: 100 }, (_, index) => `"k${index}\\u001b[31m\\nx": 1`);
  writeFileSync(here.file, `{ ${keys.join(', ')} }`);
  const { problem } = await load(here);
  assert.ok(problem !== null);
  const lines = textOf(problem).split('\n');
  assert.equal(lines.length, 1 + keys.length + 1);
  for (const line of lines) assert.match(line, /^[\x20-\x7e]+$/);
  const line = lineWithCode(problem);
  assert.match(line, /^[\x20-\x7e]{500,700} \(settings_defaults_hold\)$/);
  const [, left = ''] = /; and (\d+) more, which `tool doctor` names; the defaults hold /.exec(line) ?? [];
  assert.equal(Number(left) + line.split('unknown key').length - 1, keys.length);
});

test('a file that never was is no problem; one that is no file, or gone from an installation, leaves what it said', async (t) => {
  const here = place(t);
  assert.deepEqual(await load(here), { settings: DEFAULT_TEAM_SETTINGS, problem: null });
  writeFileSync(here.file, limit(3));
  await load(here);
  rmSync(here.file);
  assert.deepEqual(await load(here), { settings: DEFAULT_TEAM_SETTINGS, problem: null }, 'nothing of it is left');
  writeFileSync(join(here.root, '.tool', 'installed.json'), '{}');
  const gone = await load(here);
  assert.equal(gone.settings.maxTeammates, 3);
  isRefusal(gone.problem, LOG_CODES.settings_last_hold);
  assert.ok(String(gone.problem?.values.said).startsWith(`${here.file}: `));
  mkdirSync(here.file);
  const { settings, problem } = await load(here);
  assert.equal(settings.maxTeammates, 3);
  isRefusal(problem, LOG_CODES.settings_last_hold);
  assert.notEqual(problem?.values.said, gone.problem?.values.said);
});

test('a file of the same size and time is another one when it says something else', async (t) => {
  const here = place(t);
  writeFileSync(here.file, limit(3));
  utimesSync(here.file, 1000, 1000);
  await load(here);
  writeFileSync(here.file, limit(4));
  utimesSync(here.file, 1000, 1000);
  assert.equal((await load(here)).settings.maxTeammates, 4);
});

test('where no snapshot can be written, the file is decoded each time', async (t) => {
  const here = place(t);
  writeFileSync(here.file, limit(3));
  writeFileSync(here.state, 'no directory');
  for (const count of [3, 4]) {
    writeFileSync(here.file, limit(count));
    const { settings, problem } = await load(here);
    assert.deepEqual([settings.maxTeammates, problem], [count, null]);
  }
  assert.equal(readFileSync(here.state, 'utf8'), 'no directory');
});

/** Puts a snapshot that says 7 in the place of the one that says 3, changed in one way; what is loaded then. */
async function loadTampered(t: test.TestContext, change: (snapshot: Snapshot) => string): Promise<number> {
  const here = place(t);
  writeFileSync(here.file, limit(3));
  await load(here);
  const snapshot = JSON.parse(readFileSync(here.snapshot, 'utf8'));
  snapshot.settings.maxTeammates = 7;
  writeFileSync(here.snapshot, change(snapshot));
  const { settings, problem } = await load(here);
  assert.equal(problem, null);
  return settings.maxTeammates;
}

type Snapshot = { key: string; settings: Record<string, Record<string, unknown>> };

test('a snapshot is used as it stands while it fits', async (t) => {
  assert.equal(await loadTampered(t, JSON.stringify), 7);
});

const UNFIT: Readonly<Record<string, (snapshot: Snapshot) => unknown>> = {
  'of another file': (snapshot) => ({ ...snapshot, key: `${snapshot.key}0` }),
  'of another format': (snapshot) => ({ ...snapshot, key: `0${snapshot.key}` }),
  'without settings': ({ key }) => ({ key }),
  'that is no map': () => [],
  'that is nothing': () => null,
  ...Object.fromEntries(
    Object.entries(DEFAULT_TEAM_SETTINGS).flatMap(([name, value]) => [
      [
        `without ${name}`,
        (snapshot: Snapshot) => ({ ...snapshot, settings: { ...snapshot.settings, [name]: undefined } }),
      ],
      [
        `with another ${name}`,
        (snapshot: Snapshot) => ({
          ...snapshot,
          settings: { ...snapshot.settings, [name]: typeof value === 'object' ? [1] : {} },
        }),
      ],
    ]),
  ),
  'with an owner of no patterns': ({ key, settings }) => ({
    key,
    settings: { ...settings, ownership: [{ owner: 'a' }] },
  }),
  'with a pattern of no roles': ({ key, settings }) => ({ key, settings: { ...settings, patterns: { p: [7] } } }),
  'with a budget without a command': ({ key, settings }) => ({
    key,
    settings: { ...settings, quality: { ...settings.quality, performance: [{ name: 'a', budgetMs: 1 }] } },
  }),
};

for (const [name, change] of Object.entries(UNFIT)) {
  test(`a snapshot ${name} is not used`, async (t) => {
    assert.equal(await loadTampered(t, (snapshot) => JSON.stringify(change(snapshot))), 3);
  });
}

test('a snapshot that is cut off is not used', async (t) => {
  assert.equal(await loadTampered(t, (snapshot) => JSON.stringify(snapshot).slice(0, -1)), 3);
});

test('many at once leave one whole snapshot', async (t) => {
  const here = place(t);
  writeFileSync(here.file, limit(3));
  const loaded = await Promise.all(Array.from({ length: 20 }, () => load(here)));
  assert.deepEqual(new Set(loaded.map(({ settings }) => settings.maxTeammates)), new Set([3]));
  assert.deepEqual(readdirSync(here.state), ['workflow.json']);
  assert.equal(JSON.parse(readFileSync(here.snapshot, 'utf8')).settings.maxTeammates, 3);
});
