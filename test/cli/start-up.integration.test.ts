// Packages that the daemon loads at its start: each takes time before the first agent.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { cleanEnv, runTool } from '../support/daemon.ts';
import { tempDir } from '../support/temp.ts';

test('tool serve reads its file without a second parser of YAML and without zod’s languages, which others can still load', async (t) => {
  const directory = tempDir(t);
  const preload = join(directory, 'list.cjs');
  const list = join(directory, 'list.json');
  writeFileSync(
    preload,
    `process.once('exit', () => {
      const loaded = Object.keys(require.cache);
      const load = require('node:module').createRequire(loaded.find((file) => file.endsWith('/gray-matter/index.js')));
      require('node:fs').writeFileSync(${JSON.stringify(list)}, JSON.stringify({ loaded, data: load('js-yaml').safeLoad('a: 1'), german: require(${JSON.stringify(join(process.cwd(), 'node_modules/zod/v4/locales/index.cjs'))}).de !== undefined }));
    });\n`,
  );
  const workflow = join(directory, 'WORKFLOW.md');
  writeFileSync(workflow, '---\nnope: 1\n---\n');
  const env = cleanEnv(directory, { NODE_OPTIONS: `--require=${preload}` });
  const { code, stderr } = await runTool(['serve', workflow], { env });
  assert.equal(code, 2, stderr);
  assert.match(stderr, /nope/);
  const { loaded, ...others }: { loaded: string[] } = JSON.parse(readFileSync(list, 'utf8'));
  assert.deepEqual(others, { data: { a: 1 }, german: true });
  assert.deepEqual(
    loaded.flatMap((file) => /zod\/v4\/locales\/(\w+)/.exec(file)?.[1] ?? []),
    ['en'],
  );
  const packages = new Set(loaded.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []));
  assert.deepEqual(
    [...packages].filter((name) => ['gray-matter', 'js-yaml', 'esprima'].includes(name)),
    ['gray-matter'],
  );
});

test('the command takes execa from its package, and what starts with the host holds none of it', () => {
  const files = readdirSync('dist', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
  const having = (mark: RegExp) => files.filter((file) => mark.test(readFileSync(join('dist', file), 'utf8')));
  // The name of an option of execa's, which nothing here uses.
  assert.deepEqual(having(/forceKillAfterDelay/), []);
  const asking = having(/\b(require|import)\("execa"\)/);
  assert.notEqual(asking.length, 0);
  assert.deepEqual(
    asking.filter((file) => !file.startsWith('chunks/')),
    [],
  );
});
