// The checker of the directions is itself checked: each rule is broken once and must be named.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { tempDir } from '../support/temp.ts';

const CLEAN: Readonly<Record<string, string>> = {
  'src/domain/issue.ts': 'export const issue = 1;\n',
  'src/engine/ports.ts': "import { issue } from '../domain/issue.ts';\nexport type Port = typeof issue;\n",
  'src/engine/orchestrator.ts': "import type { Port } from './ports.ts';\nexport const run = (port: Port) => port;\n",
  'src/adapters/tracker.ts': "import type { Port } from '../engine/ports.ts';\nexport const port: Port = 1;\n",
  'src/http/server.ts': "import { run } from '../engine/orchestrator.ts';\nexport const serve = run;\n",
  'src/compose.ts': "import { port } from './adapters/tracker.ts';\nexport const daemon = port;\n",
  'src/cli/serve.ts': "import { daemon } from '../compose.ts';\nexport const serve = daemon;\n",
  'src/cli.ts': "import { serve } from './cli/serve.ts';\nserve.toFixed();\n",
};

/** Files that break the rule of that name. */
const PLANTED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'domain-is-pure': { 'src/domain/reads.ts': "import { readFileSync } from 'node:fs';\nreadFileSync('x');\n" },
  'engine-talks-to-ports': {
    'src/engine/knows.ts': "import { port } from '../adapters/tracker.ts';\nport.toFixed();\n",
  },
  'ports-are-types': {
    'src/engine/ports.ts': "import { run } from './dispatch.ts';\nexport type Port = typeof run;\n",
    'src/engine/dispatch.ts': 'export const run = 1;\n',
  },
  'adapters-below-entries': {
    'src/adapters/decides.ts': "import { run } from '../engine/dispatch.ts';\nrun.toFixed();\n",
  },
  'http-shows-the-engine': {
    'src/http/asks.ts': "import { port } from '../adapters/tracker.ts';\nport.toFixed();\n",
  },
  'install-beside-entries': {
    'src/adapters/puts.ts': "import { put } from '../install/put.ts';\nput.toFixed();\n",
    'src/install/put.ts': 'export const put = 1;\n',
  },
  'install-needs-no-engine': {
    'src/install/decides.ts': "import { run } from '../engine/dispatch.ts';\nrun.toFixed();\n",
  },
  'only-entries-compose': {
    'src/engine/wires.ts': "import { daemon } from '../compose.ts';\ndaemon.toFixed();\n",
  },
  'nobody-imports-entries': {
    'src/adapters/starts.ts': "import { serve } from '../cli/serve.ts';\nserve.toFixed();\n",
  },
  'tests-stay-outside': {
    'src/adapters/leans.ts': "import { help } from '../../test/help.ts';\nhelp.toFixed();\n",
    'test/help.ts': 'export const help = 1;\n',
  },
  'one-adapter-per-package': { 'src/cli/asks.ts': "import { Octokit } from '@octokit/rest';\nvoid Octokit;\n" },
  'one-parser-of-shells': { 'src/cli/parses.ts': "import { parse } from 'unbash';\nvoid parse;\n" },
  'no-circular': {
    'src/domain/egg.ts': "import { hen } from './hen.ts';\nexport const egg = () => hen;\n",
    'src/domain/hen.ts': "import { egg } from './egg.ts';\nexport const hen = () => egg;\n",
  },
};

function check(root: string, files: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  copyFileSync('tsconfig.json', join(root, 'tsconfig.json'));
  symlinkSync(join(process.cwd(), 'node_modules'), join(root, 'node_modules'));
  return spawnSync(process.execPath, ['--import', 'tsx', 'scripts/check-directions.ts', root], { encoding: 'utf8' });
}

test('a tree that keeps the directions passes, and says how much was looked at', (t) => {
  const { status, stdout, stderr } = check(tempDir(t), CLEAN);
  assert.deepEqual([status, stdout, stderr], [0, 'directions hold: 8 modules, 7 imports looked at\n', '']);
});

test('an empty tree does not pass', (t) => {
  const root = tempDir(t);
  mkdirSync(join(root, 'src'));
  const { status, stderr } = check(root, {});
  assert.equal(status, 1);
  assert.match(stderr, /not looked at: anything/);
});

test('each rule is broken once in a tree, and each time it is said where', (t) => {
  const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs');
  assert.deepEqual(forbidden.map((rule: { name: string }) => rule.name).sort(), Object.keys(PLANTED).sort());
  const { status, stderr } = check(tempDir(t), Object.assign({ ...CLEAN }, ...Object.values(PLANTED)));
  assert.equal(status, 1);
  for (const [rule, files] of Object.entries(PLANTED))
    assert.ok(stderr.includes(`${rule}: ${Object.keys(files)[0]} → `), `${rule}\n${stderr}`);
});
