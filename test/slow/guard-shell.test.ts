// The real program of the write guard, placed with our shell from its packed form, guards a call.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { PACKED_PROGRAM } from '../../src/guard/guard-program.ts';
import { prepareShell, programBeside } from '../../src/guard/guard-shell.ts';
import { packProgram } from '../../src/guard/packed-program.ts';
import { GUARD_LINE_CODES } from '../../src/guard/rules/guard-line-codes.ts';
import type { CallerRules } from '../../src/guard/rules/policy.ts';
import {
  SHELL_VARIABLE,
  ticketScript,
  UNMARKED_TICKETS,
  waitingText,
  withTicket,
} from '../../src/guard/rules/ticket.ts';
import { createShellGuard } from '../../src/guard/shell-guard.ts';
import type { TicketOwner } from '../../src/guard/shell-guard-port.ts';
import { lineLike } from '../support/codes.ts';
import { writeGuard } from '../support/guard-program.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const guard = writeGuard();

test('a call that names a ticket cannot write the file of another owner', async (t) => {
  const [place, from] = [tempDir(t), tempDir(t)];
  writeFileSync(join(from, PACKED_PROGRAM), packProgram(readFileSync(guard)));
  const prepared = await prepareShell({ env: { HOME: place }, before: null, from });
  assert.ok(prepared.ok);
  const project = join(place, 'project');
  mkdirSync(project);
  const [policy, ticket] = [join(place, 'policy'), join(place, 'ticket')];
  writeFileSync(policy, `root\t${project}\nmember\town\nown\town\town\nown\tforeign\tforeign\n`);
  const program = programBeside(prepared.shell) ?? '';
  writeFileSync(ticket, ticketScript(program, policy, join(place, 'log'), true), { mode: 0o700 });
  const run = (command: string) =>
    execaSync(prepared.shell, ['-c', '-l', command], { cwd: project, reject: false }).exitCode;
  assert.notEqual(run(withTicket('echo x > own; echo x > foreign', ticket)), 0);
  assert.deepEqual([existsSync(join(project, 'own')), existsSync(join(project, 'foreign'))], [true, false]);
  assert.equal(run('echo x > foreign'), 0);
});

/** A project, and our shell with the guard's program. */
async function projectWithShell(t: Cleanup) {
  const [place, from] = [tempDir(t), tempDir(t)];
  writeFileSync(join(from, PACKED_PROGRAM), packProgram(readFileSync(guard)));
  const env = { HOME: place, SHELL: '/bin/bash' };
  const prepared = await prepareShell({ env, before: null, from });
  assert.ok(prepared.ok);
  const { shell } = prepared;
  const root = join(place, 'project');
  mkdirSync(root);
  execaSync`git init -q ${root}`;
  const made = createShellGuard({ root, main: root, env: { ...env, [SHELL_VARIABLE]: shell } });
  assert.ok(made !== null);
  /** As Claude Code 2.1.33 starts a command: quoted anew, with words between the parts of a pipe. */
  const run = (command: string) => {
    const [first = '', ...rest] = command.split(' | ').map((part) => `'${part.replaceAll("'", `'"'"'`)}'`);
    const call = `shopt -u extglob && eval ${[`${first} \\< /dev/null`, ...rest].join(' \\| ')} && pwd -P >/dev/null`;
    return execaSync(shell, ['-c', '-l', call], { cwd: root, reject: false });
  };
  const write = (path: string) => run(`echo 'x' > ${path}`).exitCode === 0;
  return { root, shell, made, run, write, waiting: join(dirname(shell), UNMARKED_TICKETS) };
}

test('a call without a mark gets the ticket that waits for its text, from before the call to its end', async (t) => {
  const { root, made, run, write, waiting } = await projectWithShell(t);
  const rules = (member: string | null): CallerRules => ({
    member,
    ownership: ['own', 'foreign'].map((owner) => ({ owner, patterns: [owner] })),
    ...{ claims: false, allow: [], keep: [], git: [], writesHistory: true },
  });
  const [own, other] = ['own', 'foreign'].map((caller) => ({ team: 'team', caller })) as [TicketOwner, TicketOwner];
  const both = "echo 'x' > own | cat; echo 'x' > foreign";
  await made.wait(own, both, 'call1', rules('own'));
  await made.wait(own, "echo 'x'", 'call2', rules(null));
  const { stderr } = run(both);
  assert.match(
    stderr,
    lineLike(GUARD_LINE_CODES.guard_write_owned, { path: 'foreign', owner: 'foreign', pattern: 'foreign' }),
  );
  assert.deepEqual([existsSync(join(root, 'own')), existsSync(join(root, 'foreign'))], [true, false]);
  assert.deepEqual(
    made.notes(own).map(({ kind, path }) => `${kind} ${path}`),
    ['wrote own', 'refused foreign'],
  );

  await made.wait(other, "echo 'x' > foreign", 'call3', rules('foreign'));
  assert.ok(write('foreign'), 'the longest text decides');
  await made.wait(own, "echo 'x' > foreign", 'call4', rules('own'));
  assert.ok(!write('foreign'), 'of two equal calls each may write nothing');
  made.forget(own, "echo 'x' > foreign");
  assert.ok(write('foreign'));

  await made.wait(own, 'pwd', 'call5', rules(null));
  assert.ok(write('foreign'), 'words of the host around the command are none of a ticket');
  for (const command of ["echo 'x'", both, 'pwd']) made.forget(own, command);
  made.forget(other, "echo 'x' > foreign");
  assert.deepEqual(readdirSync(waiting), []);
  assert.ok(write('own') && write('foreign') && write('else'));
  assert.equal(run('/bin/true').exitCode, 0);
});

test('a ticket waits ten minutes', async (t) => {
  const { root, write, waiting } = await projectWithShell(t);
  const ticket = join(tempDir(t), 'ticket');
  writeFileSync(ticket, '#!/bin/sh\nexit 1\n', { mode: 0o700 });
  mkdirSync(waiting);
  const wait = (now: number) => writeFileSync(join(waiting, 'a'), waitingText('echo', ticket, ticket, now, root));
  wait(Date.now());
  assert.ok(!write('a'));
  wait(Date.now() - 11 * 60_000);
  assert.ok(write('a'));
});

test('a ticket waits for calls in its own project alone', async (t) => {
  const { root, shell, waiting } = await projectWithShell(t);
  const ticket = join(tempDir(t), 'ticket');
  writeFileSync(ticket, '#!/bin/sh\nexit 7\n', { mode: 0o700 });
  mkdirSync(waiting);
  writeFileSync(join(waiting, 'a'), waitingText('true', ticket, ticket, Date.now(), root));
  const statusIn = (cwd: string) => execaSync(shell, ['-c', "eval 'true' && pwd -P"], { cwd, reject: false }).exitCode;
  mkdirSync(join(root, 'src'));
  assert.deepEqual([root, join(root, 'src'), tempDir(t)].map(statusIn), [7, 7, 0]);
});
