// `tool demo --team` while it works: what is seen of it, and its end before its time.

import assert from 'node:assert/strict';
import test from 'node:test';
import { CLI, startTool } from '../../support/daemon.ts';
import { demoPlace } from '../../support/demo-place.ts';
import { Pty } from '../../support/pty.ts';

const ESC = '\u001b';

test('in a terminal the board is drawn in its place; Ctrl-C takes everything away', async (t) => {
  const { env, nothingLeft } = demoPlace(t);
  const terminal = Pty.start(t, [CLI, 'demo', '--team'], { columns: 100, rows: 40 }, { ...env, NO_COLOR: '1' });
  const again = new RegExp(`${ESC}\\[\\d+A[\\s\\S]*▸ +1 +Build the server side: store entries +backend-dev`);
  await terminal.until(() => again.test(terminal.output));
  terminal.type('\u0003');
  assert.equal(await terminal.ended, 130);
  nothingLeft();
});

test('SIGTERM ends it with 143', async (t) => {
  const { env, nothingLeft } = demoPlace(t);
  const demo = startTool(t, ['demo', '--team'], { env, detached: true });
  await demo.printed(/▸ backend-dev: /);
  process.kill(demo.pid, 'SIGTERM');
  const { code, stderr } = await demo.ended;
  assert.deepEqual({ code, stderr }, { code: 143, stderr: '' });
  nothingLeft();
});
