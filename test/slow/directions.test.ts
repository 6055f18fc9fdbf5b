// The checker of the directions is itself checked: each rule is broken once and must be named.

import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { tempDir } from '../support/temp.ts';

const CLEAN: Readonly<Record<string, string>> = {
  'src/base/rules/issue.ts': 'export const issue = 1;\n',
  'src/daemon/ports.ts': "import { issue } from '../base/rules/issue.ts';\nexport type Port = typeof issue;\n",
  'src/daemon/orchestrator.ts': "import type { Port } from './ports.ts';\nexport const run = (port: Port) => port;\n",
  'src/daemon/github/tracker.ts': "import type { Port } from '../ports.ts';\nexport const port: Port = 1;\n",
  'src/web/server.ts': "import { run } from '../daemon/orchestrator.ts';\nexport const serve = run;\n",
  'src/compose/daemon.ts': "import { port } from '../daemon/github/tracker.ts';\nexport const daemon = port;\n",
  'src/cli/serve.ts': "import { daemon } from '../compose/daemon.ts';\nexport const serve = daemon;\n",
  'src/cli.ts': "import { serve } from './cli/serve.ts';\nserve.toFixed();\n",
};

/** All rooms but the last, in their order. */
const EARLIER = [
  'base',
  'git',
  'guard',
  'gate',
  'agents',
  'team',
  'daemon',
  'fleet',
  'web',
  'claude-code',
  'install',
  'compose',
];

type Files = Readonly<Record<string, string>>;

/** Files that break the rule of that name. */
const PLANTED: Readonly<Record<string, Files>> = {
  ...Object.fromEntries(
    EARLIER.map((room): [string, Files] => [
      `${room}-before-the-rest`,
      { [`src/${room}/early.ts`]: "import { serve } from '../cli/serve.ts';\nserve.toFixed();\n" },
    ]),
  ),
  'files-in-rooms': { 'src/host/reply.ts': "import { issue } from '../base/rules/issue.ts';\nissue.toFixed();\n" },
  'nobody-imports-entries': { 'src/cli/starts.ts': "import '../cli.ts';\n" },
  'rules-are-pure': { 'src/base/rules/reads.ts': "import { readFileSync } from 'node:fs';\nreadFileSync('x');\n" },
  'ports-are-types': {
    'src/daemon/ports.ts': "import { run } from './dispatch.ts';\nexport type Port = typeof run;\n",
    'src/daemon/dispatch.ts': 'export const run = 1;\n',
  },
  'engine-takes-ports': { 'src/daemon/knows.ts': "import { port } from './github/tracker.ts';\nport.toFixed();\n" },
  'adapters-below-the-engine': {
    'src/daemon/github/decides.ts': "import { run } from '../dispatch.ts';\nrun.toFixed();\n",
  },
  'web-shows-the-state': {
    'src/web/asks.ts': "import { port } from '../daemon/github/tracker.ts';\nport.toFixed();\n",
  },
  'tests-stay-outside': {
    'src/base/leans.ts': "import { help } from '../../test/help.ts';\nhelp.toFixed();\n",
    'test/help.ts': 'export const help = 1;\n',
  },
  'one-adapter-per-package': { 'src/cli/asks.ts': "import { Octokit } from '@octokit/rest';\nvoid Octokit;\n" },
  'one-starter-of-programs': { 'src/cli/runs.ts': "await import('node:child_process');\n" },
  'one-adapter-per-store': { 'src/fleet/asks.ts': "import { Queue } from 'bullmq';\nvoid Queue;\n" },
  'one-parser-of-shells': { 'src/cli/parses.ts': "import { parse } from 'unbash';\nvoid parse;\n" },
  'one-measure-of-text': { 'src/cli/measures.ts': "import width from 'string-width';\nvoid width;\n" },
  'no-circular': {
    'src/base/rules/egg.ts': "import { hen } from './hen.ts';\nexport const egg = () => hen;\n",
    'src/base/rules/hen.ts': "import { egg } from './egg.ts';\nexport const hen = () => egg;\n",
  },
};

function check(root: string, files: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  copyFileSync('tsconfig.json', join(root, 'tsconfig.json'));
  symlinkSync(join(process.cwd(), 'node_modules'), join(root, 'node_modules'));
  return execaSync(process.execPath, ['--import', 'tsx', 'scripts/check-directions.ts', root], { reject: false });
}

test('a tree that keeps the directions passes, and says how much was looked at', (t) => {
  const { exitCode, stdout, stderr } = check(tempDir(t), CLEAN);
  assert.deepEqual([exitCode, stdout, stderr], [0, 'directions hold: 8 modules, 7 imports looked at', '']);
});

test('an empty tree does not pass', (t) => {
  const root = tempDir(t);
  mkdirSync(join(root, 'src'));
  const { exitCode, stderr } = check(root, {});
  assert.equal(exitCode, 1);
  assert.match(stderr, /not looked at: anything/);
});

test('an import that leads nowhere is named: no rule would see it', (t) => {
  const lost = { ...CLEAN, 'src/web/lost.ts': "import { run } from '../orchestrator.ts';\nrun();\n" };
  const { exitCode, stderr } = check(tempDir(t), lost);
  assert.deepEqual([exitCode, stderr], [1, 'not found: src/web/lost.ts → ../orchestrator.ts']);
});

test('a rule that asks the clock is named with its line', (t) => {
  const asks = { ...CLEAN, 'src/daemon/rules/age.ts': '\nexport const age = (from: number) => Date.now() - from;\n' };
  const { exitCode, stderr } = check(tempDir(t), asks);
  assert.deepEqual([exitCode, stderr], [1, 'rules-are-pure: src/daemon/rules/age.ts:2: Date.now']);
});

test('each rule is broken once in a tree, and each time it is said where', (t) => {
  const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs');
  assert.deepEqual(forbidden.map((rule: { name: string }) => rule.name).sort(), Object.keys(PLANTED).sort());
  const { exitCode, stderr } = check(tempDir(t), Object.assign({ ...CLEAN }, ...Object.values(PLANTED)));
  assert.equal(exitCode, 1);
  for (const [rule, files] of Object.entries(PLANTED))
    assert.ok(stderr.includes(`${rule}: ${Object.keys(files)[0]} → `), `${rule}\n${stderr}`);
});
