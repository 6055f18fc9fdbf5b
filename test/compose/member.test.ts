// Loop of one repository among others: it never ends them. Orders for one that is not open, and its commands.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { RuntimeDir } from '../../src/base/processes/runtime-dir.ts';
import { type Refusal, textOf } from '../../src/base/rules/codes.ts';
import { requestDaemon } from '../../src/cli/issue.ts';
import { CLI_CODES } from '../../src/cli/rules/cli-codes.ts';
import { type Member, memberOf, runMember } from '../../src/compose/member.ts';
import { sourceOf } from '../../src/compose/own-source.ts';
import type { OpenRepository } from '../../src/compose/repository-parts.ts';
import { COMPOSE_CODES } from '../../src/compose/rules/compose-codes.ts';
import { WaitingCommands } from '../../src/compose/waiting-commands.ts';
import { holdStateDir } from '../../src/daemon/journal/state-dir.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import type { Steer } from '../../src/daemon/rules/record.ts';
import { openControlSocket, readControlPlace, removeControlPlace } from '../../src/daemon/runners/control-socket.ts';
import { failsWith, isRefusal } from '../support/codes.ts';
import { finallyDo, tempDir } from '../support/temp.ts';
import { workflowWith } from '../support/world.ts';

test('a loop that ends by itself is said, and so is a close that fails', async () => {
  const said: Refusal[] = [];
  const log = (_: string, __: string, what: string | Refusal) => {
    assert.ok(typeof what !== 'string', String(what));
    said.push(what);
  };
  const member = { log: { log }, problem: null, opened: null };
  await runMember(member, {
    orchestrator: { run: () => Promise.reject(new Error('the disk is full')) },
    close: () => Promise.reject(new Error('still full')),
  });
  isRefusal(said[0], COMPOSE_CODES.repository_unusable, { said: 'the disk is full' });
  isRefusal(said[1], WORK_CODES.background_task_failed, { said: 'still full' });
  assert.equal(said.length, 2, said.map(textOf).join('\n'));
  assert.equal(member.problem, 'the disk is full');
});

test('a repository that is not open refuses orders with its problem, and a foreign one by its name', async () => {
  const member = memberOf({ owner: 'o', repo: 'r' }, workflowWith, { log: () => undefined }, null);
  const own = sourceOf({
    ...{ common: () => assert.fail(), workflow: workflowWith, shares: null, members: () => [member] },
    memberOf: (name) => (name === 'o/r' ? member : undefined),
    ...{ refresh: () => ({ coalesced: false }), onChange: () => () => undefined },
  });
  member.problem = 'another coordinator has it';
  const said = { repository: 'o/r', said: member.problem };
  await failsWith(own.steer('pause', 1, 'o/r'), WORK_CODES.repository_not_open, said);
  await failsWith(own.tell(1, 'in French'), WORK_CODES.repository_not_open, said);
  await failsWith(own.steer('pause', 1, 'o/s'), WORK_CODES.repository_not_known, { got: 'o/s' });
});

test('a repository that waits takes commands for whoever acts, and leaves the file to one that is opened', async (t) => {
  const stateDir = tempDir(t);
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  const log = { log: (_: string, __: string, what: unknown) => assert.fail(String(what)) };
  const workflow = () => ({ ...workflowWith(), stateDir });
  const add = () => memberOf({ owner: 'o', repo: 'r' }, workflow, log, null);
  const members: Member[] = [add()];
  const source = {
    steer: async (command: Steer, issue: number, repository?: string) => {
      assert.equal(repository, 'o/r');
      return { issue, command, standing: 'paused' as const };
    },
    tell: async (issue: number, text: string) => ({
      issue,
      command: 'tell' as const,
      standing: 'running' as const,
      text,
    }),
  };
  const commands = new WaitingCommands({ members: () => members, source, runtime, log });
  await commands.sync();
  const place = readControlPlace(stateDir) ?? assert.fail();
  const pause = () => requestDaemon({ command: 'pause', issue: 7 }, { TOOL_SOCKET: place.socket, TOOL_KEY: place.key });
  assert.equal((await pause()).standing, 'paused');
  const told = { command: 'tell', issue: 7, text: 'a word' };
  assert.equal((await requestDaemon(told, { TOOL_SOCKET: place.socket, TOOL_KEY: place.key })).text, 'a word');
  await commands.sync();
  assert.deepEqual(readControlPlace(stateDir), place, 'it is the same as long as nothing changes');

  // It is opened here, and closed again.
  const [member] = members;
  assert.ok(member);
  const close = await openControlSocket(runtime, stateDir, async () => ({}));
  const opened = readControlPlace(stateDir);
  member.opened = {} as OpenRepository;
  await commands.sync();
  await failsWith(pause(), CLI_CODES.daemon_unreachable);
  assert.deepEqual(readControlPlace(stateDir), opened);
  await close();
  removeControlPlace(stateDir);
  member.opened = null;
  await commands.sync();
  assert.ok(readControlPlace(stateDir));

  members.length = 0;
  await commands.sync();
  assert.equal(readControlPlace(stateDir), undefined);

  // Somebody has the directory by then.
  const lock = holdStateDir(stateDir, 'another');
  members.push(add());
  await commands.sync();
  assert.equal(readControlPlace(stateDir), undefined);
  lock.release();
  await commands.sync();
  assert.ok(readControlPlace(stateDir));
  await commands.close();
  assert.equal(readControlPlace(stateDir), undefined);
});

test('a directory that takes no file of commands is said once, and tried again', async (t) => {
  const stateDir = join(tempDir(t), 'none');
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  const said: unknown[] = [];
  const log = {
    log: (_: string, __: string, what: string | Refusal) => said.push(typeof what === 'string' ? what : what.of),
  };
  const member = memberOf({ owner: 'o', repo: 'r' }, () => ({ ...workflowWith(), stateDir }), log, null);
  const source = { steer: () => assert.fail(), tell: () => assert.fail() };
  const commands = new WaitingCommands({ members: () => [member], source, runtime, log });
  await commands.sync();
  await commands.sync();
  assert.deepEqual(said, [WORK_CODES.background_task_failed]);
  mkdirSync(stateDir);
  await commands.sync();
  assert.ok(readControlPlace(stateDir));
  await commands.close();
});
