// The real program of the write guard, placed with our shell from its packed form, guards a call.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { PACKED_PROGRAM } from '../../src/adapters/guard-program.ts';
import { prepareShell, programBeside } from '../../src/adapters/guard-shell.ts';
import { marked, ticketScript } from '../../src/domain/guard/ticket.ts';
import { writeGuard } from '../support/guard-program.ts';
import { tempDir } from '../support/temp.ts';

const guard = writeGuard();

test('a call that names a ticket cannot write the file of another owner', async (t) => {
  const [place, from] = [tempDir(t), tempDir(t)];
  writeFileSync(join(from, PACKED_PROGRAM), gzipSync(readFileSync(guard)));
  const prepared = await prepareShell({ env: { HOME: place }, before: null, from });
  assert.ok(prepared.ok);
  const project = join(place, 'project');
  mkdirSync(project);
  const [policy, ticket] = [join(place, 'policy'), join(place, 'ticket')];
  writeFileSync(policy, `root\t${project}\nmember\town\nown\town\town\nown\tforeign\tforeign\n`);
  const program = programBeside(prepared.shell) ?? '';
  writeFileSync(ticket, ticketScript(program, policy, join(place, 'log'), true), { mode: 0o700 });
  const run = (command: string) => spawnSync(prepared.shell, ['-c', '-l', command], { cwd: project }).status;
  assert.notEqual(run(marked('echo x > own; echo x > foreign', ticket)), 0);
  assert.deepEqual([existsSync(join(project, 'own')), existsSync(join(project, 'foreign'))], [true, false]);
  assert.equal(run('echo x > foreign'), 0);
});
