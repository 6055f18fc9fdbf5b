// The board in a terminal that can draw, and in a dumb one.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { canRedraw } from '../../../src/cli/screen/terminal.ts';
import { FileTeams } from '../../../src/team/log/teams.ts';
import { Pty } from '../../support/pty.ts';
import { rec, TEAM } from '../../support/team.ts';
import { tempDir } from '../../support/temp.ts';

const ESC = '\u001b';

test('a dumb terminal, and what is none, is not drawn on', () => {
  assert.equal(canRedraw({ isTTY: true }, { TERM: 'xterm' }), true);
  assert.equal(canRedraw({ isTTY: true }, {}), true);
  assert.equal(canRedraw({ isTTY: true }, { TERM: 'dumb' }), false);
  assert.equal(canRedraw({}, { TERM: 'xterm' }), false);
});

test('with TERM=dumb the board is printed once, without control sequences, in lines that fit 80 columns', async (t) => {
  const root = tempDir(t);
  const log = new FileTeams({ root, now: Date.now }).begin(TEAM);
  const long = 'A subject that is much longer than a line of a terminal has room for, '.repeat(4);
  for (const record of [
    rec('created'),
    rec('task_created', { subject: long }),
    rec('member_registered'),
    rec('member_spawned'),
    rec('message_sent', { to: 'team-lead', content: long }),
  ])
    assert.equal((await log.append(record)).refusal, null);
  await log.close();
  const cli = join(process.cwd(), 'dist', 'cli.js');
  const pty = Pty.start(t, [cli, 'team', 'board', TEAM], { columns: 80, rows: 24 }, { TERM: 'dumb' }, root);
  assert.equal(await pty.ended, 0, pty.output);
  assert.match(pty.output, new RegExp(TEAM));
  assert.equal(pty.output.includes(ESC), false, JSON.stringify(pty.output));
  for (const line of pty.output.split(/\r?\n/)) assert.ok([...line].length <= 80, line);
});
