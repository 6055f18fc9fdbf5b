// Packages that the daemon loads at its start: each takes time before the first agent.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { cleanEnv, runTool } from '../support/daemon.ts';
import { tempDir } from '../support/temp.ts';

test('tool serve reads its file without a second parser of YAML, which others can still load', async (t) => {
  const directory = tempDir(t);
  const preload = join(directory, 'list.cjs');
  const list = join(directory, 'list.json');
  writeFileSync(
    preload,
    `process.once('exit', () => {
      const loaded = Object.keys(require.cache);
      const load = require('node:module').createRequire(loaded.find((file) => file.endsWith('/gray-matter/index.js')));
      require('node:fs').writeFileSync(${JSON.stringify(list)}, JSON.stringify({ loaded, data: load('js-yaml').safeLoad('a: 1') }));
    });\n`,
  );
  const workflow = join(directory, 'WORKFLOW.md');
  writeFileSync(workflow, '---\nnope: 1\n---\n');
  const env = cleanEnv(directory, { NODE_OPTIONS: `--require=${preload}` });
  const { code, stderr } = await runTool(['serve', workflow], { env });
  assert.equal(code, 2, stderr);
  assert.match(stderr, /nope/);
  const { loaded, data }: { loaded: string[]; data: unknown } = JSON.parse(readFileSync(list, 'utf8'));
  assert.deepEqual(data, { a: 1 });
  const packages = new Set(loaded.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []));
  assert.deepEqual(
    [...packages].filter((name) => ['gray-matter', 'js-yaml', 'esprima'].includes(name)),
    ['gray-matter'],
  );
});
