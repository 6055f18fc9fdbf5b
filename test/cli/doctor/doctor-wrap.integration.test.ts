// Rows of `tool doctor` fit the terminal; without one each stays a line that can be searched.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { displayWidth } from '../../../src/base/display-width.ts';
import { CLI, cleanEnv, runTool } from '../../support/daemon.ts';
import { Pty } from '../../support/pty.ts';
import { tempDir } from '../../support/temp.ts';

test('at a terminal rows are wrapped at its width, and nothing is left out', async (t) => {
  const home = tempDir(t);
  const place = join(home, 'a directory', 'with-a-name-that-is-longer-than-any-line-'.repeat(3), '広い'.repeat(20));
  mkdirSync(place, { recursive: true });
  const workflow = join(place, 'WORKFLOW.md');
  const text = 'tracker: { repo: o/r, api_url: "http://127.0.0.1:9" }\ntool: { runtime: patch }\nserver: { port: 0 }';
  writeFileSync(workflow, `---\n${text}\n---\n`);
  const env = cleanEnv(home, { GITHUB_TOKEN: 'a-token-of-nobody', HTTP_PROXY: 'http://127.0.0.1:1' });
  const { stdout, code } = await runTool(['doctor', workflow], { cwd: place, env });
  assert.equal(code, 1, stdout);
  const rows = stdout.split('\n');
  assert.ok(
    rows.some((row) => row.startsWith('✔ workflow') && row.endsWith(workflow)),
    stdout,
  );
  assert.ok(Math.max(...rows.map(displayWidth)) > 200, stdout);
  const words = (all: string) => all.replaceAll(/\s+/g, '').replace(/after\d+ms/, '');
  for (const columns of [80, 40]) {
    const pty = Pty.start(t, [CLI, 'doctor', workflow], { columns, rows: 24 }, env, place);
    assert.equal(await pty.ended, 1, pty.output);
    const shown = stripVTControlCharacters(pty.output).replaceAll('\r', '');
    assert.equal(words(shown), words(stdout));
    const wide = shown.split('\n').filter((line) => displayWidth(line) > columns);
    assert.deepEqual(wide, []);
  }
});
