import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import test from 'node:test';
import { RuntimeDir } from '../../../src/base/processes/runtime-dir.ts';
import { ToolError } from '../../../src/base/rules/errors.ts';
import type { AgentRequest } from '../../../src/daemon/ports.ts';
import { HTTP_CODES } from '../../../src/daemon/rules/codes/http-codes.ts';
import { TrackerError } from '../../../src/daemon/rules/tracker-error.ts';
import { createAgentSocket } from '../../../src/daemon/runners/agent-socket.ts';
import { saying, wordsLike } from '../../support/codes.ts';
import { finallyDo } from '../../support/temp.ts';

function ask(
  socket: string,
  options: { readonly key?: string; readonly body?: string; readonly method?: string; readonly path?: string },
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        socketPath: socket,
        method: options.method ?? 'POST',
        path: options.path ?? '/v1',
        headers: options.key === undefined ? {} : { authorization: `Bearer ${options.key}` },
      },
      (response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => {
          body += chunk.toString();
        });
        response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
      },
    );
    sent.once('error', reject);
    sent.end(options.body ?? '');
  });
}

test('a socket answers its own agent and nobody else', async (t) => {
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  const agentSocket = createAgentSocket(runtime);
  const heard: AgentRequest[] = [];
  const one = await agentSocket.open(async (request) => {
    heard.push(request);
    return { heard: request.type };
  });
  const two = await agentSocket.open(async () => ({}));
  const { TOOL_SOCKET: socket = '', TOOL_KEY: key = '' } = one.env;
  const show = JSON.stringify({ type: 'show', issue: 1 });
  assert.deepEqual(await ask(socket, { key, body: show }), { status: 200, body: '{"heard":"show"}' });
  for (const wrong of [undefined, '', 'x', two.env.TOOL_KEY]) {
    const { status, body } = await ask(socket, { ...(wrong === undefined ? {} : { key: wrong }), body: show });
    assert.equal(status, 403);
    assert.match(body, wordsLike(HTTP_CODES.attempt_key_wrong));
  }
  assert.equal(heard.length, 1);
  assert.equal((await ask(socket, { key, path: '/v2' })).status, 404);
  assert.equal((await ask(socket, { key, method: 'GET' })).status, 404);
  await one.close();
  assert.equal(existsSync(socket), false);
  await assert.rejects(ask(socket, { key, body: show }));
  await two.close();
});

test('what is no request of this protocol is refused with what is wrong', async (t) => {
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  const open = await createAgentSocket(runtime).open(async () => ({}));
  finallyDo(t, () => open.close());
  const { TOOL_SOCKET: socket = '', TOOL_KEY: key = '' } = open.env;
  const cases: readonly [string, RegExp][] = [
    ['{', /is not JSON/],
    ['[]', /request is not valid/],
    ['{"type":"push","issue":1}', /request is not valid: type/],
    ['{"type":"comment","issue":1}', /body/],
    ['{"type":"comment","issue":1,"body":""}', /body/],
    ['{"type":"show","issue":"1"}', /issue/],
    ['{"type":"show","issue":1,"extra":true}', /extra/],
    [JSON.stringify({ type: 'comment', issue: 1, body: 'x'.repeat(300_000) }), /at most 262144 bytes/],
  ];
  for (const [body, message] of cases) {
    const answer = await ask(socket, { key, body });
    assert.equal(answer.status, 422, body.slice(0, 60));
    assert.match(answer.body, message);
  }
});

test('a refusal has the daemon’s words; an own fault is a 500', async (t) => {
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  const errors: Error[] = [
    new ToolError(saying('refused', 'not yours')),
    new TrackerError('unavailable', saying('tracker', 'it answered 502')),
    new Error('a bug'),
  ];
  const open = await createAgentSocket(runtime).open(async () => {
    throw errors.shift();
  });
  finallyDo(t, () => open.close());
  const { TOOL_SOCKET: socket = '', TOOL_KEY: key = '' } = open.env;
  const body = '{"type":"done","issue":1}';
  assert.deepEqual(await ask(socket, { key, body }), {
    status: 422,
    body: '{"error":{"code":"refused","message":"not yours"}}',
  });
  assert.deepEqual(await ask(socket, { key, body }), {
    status: 422,
    body: '{"error":{"code":"tracker","message":"it answered 502"}}',
  });
  assert.equal((await ask(socket, { key, body })).status, 500);
});

test('temporary files that the machine cleared away are made again', async (t) => {
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  rmSync(runtime.path, { recursive: true });
  const open = await createAgentSocket(runtime).open(async () => ({ accepted: true }));
  finallyDo(t, () => open.close());
  const { TOOL_SOCKET: socket = '', TOOL_KEY: key = '' } = open.env;
  assert.equal((await ask(socket, { key, body: '{"type":"done","issue":1}' })).status, 200);
});
