// People are told by a command and a webhook; what fails is one line of the log.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import test from 'node:test';
import type { Refusal } from '../../../src/base/rules/codes.ts';
import { WORK_CODES } from '../../../src/daemon/rules/codes/work-codes.ts';
import type { Notification } from '../../../src/daemon/rules/notification.ts';
import { Notifier, type NotifierOptions } from '../../../src/daemon/runners/notifier.ts';
import { isRefusal } from '../../support/codes.ts';
import { ConnectProxy } from '../../support/connect-proxy.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';
import { MemoryJournal, workflowWith } from '../../support/world.ts';

const FAILED: Notification = {
  ...{ kind: 'failed', issue: 7, title: 'Do it', url: 'https://host/7', reason: 'it broke', pull_request: null },
};

async function listen(t: Cleanup, status = 204) {
  const bodies: { readonly type: string | undefined; readonly body: unknown }[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      bodies.push({ type: request.headers['content-type'], body: JSON.parse(text) });
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  finallyDo(t, () => server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/hook`, bodies };
}

function notifier(
  t: Cleanup,
  notify: { readonly command?: string; readonly webhook?: string },
  more: Partial<NotifierOptions> = {},
) {
  const directory = tempDir(t);
  const said: (string | Refusal)[] = [];
  const made = new Notifier({
    workflow: () => ({
      ...workflowWith(),
      path: join(directory, 'WORKFLOW.md'),
      notify: { command: null, webhook: null, ...notify },
    }),
    log: { log: (_level, _source, words) => said.push(words) },
    hookEnv: () => ({ PATH: process.env.PATH ?? '', KNOWN: 'yes' }),
    env: {},
    authorities: [],
    ...more,
  });
  const failures = () => said.filter((one) => typeof one !== 'string');
  return { made, directory, failures };
}

test('command and webhook get the same object; the command runs beside WORKFLOW.md in the environment of hooks', async (t) => {
  const { url, bodies } = await listen(t);
  const { made, directory, failures } = notifier(t, { command: 'cat > told; env > env', webhook: url });
  made.send(FAILED);
  await made.close();
  assert.deepEqual(JSON.parse(readFileSync(join(directory, 'told'), 'utf8')), FAILED);
  const env = readFileSync(join(directory, 'env'), 'utf8');
  assert.match(env, /^KNOWN=yes$/m);
  assert.doesNotMatch(env, /^(HOME|GITHUB_TOKEN)=/m);
  assert.deepEqual(bodies, [{ type: 'application/json', body: FAILED }]);
  assert.deepEqual(failures(), []);
});

test('a command that fails or hangs and a webhook that answers no are a line each, and both are tried', async (t) => {
  const { url, bodies } = await listen(t, 500);
  const broken = notifier(t, { command: 'echo no >&2; exit 3', webhook: url });
  broken.made.send(FAILED);
  await broken.made.close();
  assert.equal(bodies.length, 1);
  const lines = broken
    .failures()
    .sort((one, other) => String(one.values.setting).localeCompare(String(other.values.setting)));
  assert.equal(lines.length, 2);
  isRefusal(lines[0], WORK_CODES.notification_failed, { setting: 'notify.command', said: 'exit code 3: no' });
  isRefusal(lines[1], WORK_CODES.notification_failed, { setting: 'notify.webhook', said: 'it answered 500' });
  const hangs = notifier(t, { command: 'sleep 600; echo late > late' }, { timeoutMs: 200 });
  hangs.made.send(FAILED);
  await hangs.made.close();
  const [late] = hangs.failures();
  isRefusal(late, WORK_CODES.notification_failed, { setting: 'notify.command' });
  assert.match(String(late?.values.said), / 0\.2 s$/);
  assert.equal(existsSync(join(hangs.directory, 'late')), false);
});

test('a webhook goes through the proxy of the environment', async (t) => {
  const { url, bodies } = await listen(t);
  const proxy = await ConnectProxy.start(t);
  const { made, failures } = notifier(t, { webhook: url }, { env: { http_proxy: proxy.url } });
  made.send(FAILED);
  await made.close();
  assert.deepEqual([bodies.length, proxy.seen.length, proxy.turnedAway, failures()], [1, 1, 0, []]);
});

test('a record is told once it is written, and no later process tells it again', async (t) => {
  const { url, bodies } = await listen(t);
  const { made, failures } = notifier(t, { webhook: url });
  const memory = new MemoryJournal(() => 0);
  const journal = made.watch(memory);
  await journal.append({
    ...{ type: 'claimed', issue: 7, title: 'Do it', url: 'u', life: 1, branch: 'b' },
    ...{ state_labels: [], label_event: null },
  });
  await journal.append({ type: 'finished', issue: 7, outcome: 'failed', updated_at: '' });
  await made.close();
  const next = notifier(t, { webhook: url });
  assert.equal(next.made.watch(memory).state.entries.size, 1);
  await next.made.close();
  assert.deepEqual([bodies.length, failures()], [1, []]);
});
