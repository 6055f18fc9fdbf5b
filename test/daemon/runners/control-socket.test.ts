// The socket of operators: the key in the state directory opens it.

import assert from 'node:assert/strict';
import { chownSync, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { CONTROL_FILE } from '../../../src/agents/isolation.ts';
import { RuntimeDir } from '../../../src/base/processes/runtime-dir.ts';
import { failure } from '../../../src/base/rules/errors.ts';
import { requestDaemon } from '../../../src/cli/issue.ts';
import { CLI_CODES } from '../../../src/cli/rules/cli-codes.ts';
import { WORK_CODES } from '../../../src/daemon/rules/codes/work-codes.ts';
import {
  isOwnSocket,
  openControlSocket,
  readControlPlace,
  removeControlPlace,
} from '../../../src/daemon/runners/control-socket.ts';
import { FLEET_CODES } from '../../../src/fleet/rules/fleet-codes.ts';
import { failsWith } from '../../support/codes.ts';
import { finallyDo, tempDir } from '../../support/temp.ts';

test('a command with the key is carried out, one without it or of another form is not', async (t) => {
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  const stateDir = tempDir(t);
  const heard: string[] = [];
  const close = await openControlSocket(runtime, stateDir, async (given) => {
    const { command, issue } = given;
    heard.push(`${command} ${issue}${given.command === 'tell' ? ` ${given.text}` : ''}`);
    if (issue === 9) throw failure(WORK_CODES.issue_not_known, { issue });
    return { standing: 'paused' };
  });
  assert.equal(statSync(join(stateDir, CONTROL_FILE)).mode & 0o777, 0o600);
  const { socket, key } = readControlPlace(stateDir) ?? assert.fail();
  const send = (body: Record<string, unknown>, by = key) => requestDaemon(body, { TOOL_SOCKET: socket, TOOL_KEY: by });
  assert.deepEqual(await send({ command: 'pause', issue: 3 }), { standing: 'paused' });
  await failsWith(send({ command: 'pause', issue: 3 }, 'another'), CLI_CODES.daemon_refused, { status: 403 });
  await failsWith(send({ command: 'stop', issue: 3 }), CLI_CODES.daemon_refused, { code: 'request_invalid' });
  await failsWith(send({ command: 'pause', issue: 9 }), CLI_CODES.daemon_refused, { code: 'issue_not_known' });
  await send({ command: 'tell', issue: 3, text: 'a word' });
  await failsWith(send({ command: 'tell', issue: 3 }), CLI_CODES.daemon_refused, { code: 'request_invalid' });
  assert.deepEqual(heard, ['pause 3', 'pause 9', 'tell 3 a word']);
  assert.equal(isOwnSocket(stateDir, socket), true);
  // Some file systems give the file another owner; a socket of somebody else is another matter.
  if (process.getuid?.() === 0) {
    chownSync(join(stateDir, CONTROL_FILE), 1, 1);
    assert.equal(isOwnSocket(stateDir, socket), true);
    chownSync(socket, 2, 2);
    assert.equal(isOwnSocket(stateDir, socket), false);
    chownSync(socket, 0, 0);
  }
  await close();
  assert.equal(isOwnSocket(stateDir, socket), false);
  await failsWith(send({ command: 'pause', issue: 3 }), CLI_CODES.daemon_unreachable);
  assert.equal(existsSync(join(stateDir, CONTROL_FILE)), true);
  removeControlPlace(stateDir);
  assert.equal(readControlPlace(stateDir), undefined);
});

test('a file that cannot be written leaves no socket behind', async (t) => {
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  const stateDir = join(tempDir(t), 'none');
  await assert.rejects(
    openControlSocket(runtime, stateDir, async () => ({})),
    { code: 'ENOENT' },
  );
  // What goes is renamed at once.
  assert.deepEqual(
    readdirSync(runtime.path).filter((name) => !name.includes('.gone-')),
    [],
  );
});

test('a refusal of another coordinator keeps its code', async (t) => {
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  const stateDir = tempDir(t);
  const close = await openControlSocket(runtime, stateDir, async () => {
    throw failure(FLEET_CODES.coordinator_refused, { said: 'it is paused', reason: 'issue_not_steerable' });
  });
  finallyDo(t, close);
  const { socket: TOOL_SOCKET, key: TOOL_KEY } = readControlPlace(stateDir) ?? assert.fail();
  const sent = requestDaemon({ command: 'pause', issue: 3 }, { TOOL_SOCKET, TOOL_KEY });
  await failsWith(sent, CLI_CODES.daemon_refused, { code: 'issue_not_steerable' });
});
