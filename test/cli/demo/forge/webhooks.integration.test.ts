// Webhooks of the embedded forge: set up by administrators, signed over what is sent, in the order of what happened.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import test from 'node:test';
import { BASE, startForge } from '../../../support/forge.ts';
import { type Cleanup, finallyDo } from '../../../support/temp.ts';

async function listen(t: Cleanup) {
  const got: { readonly event: string; readonly type: string; readonly signature: string; readonly body: string }[] =
    [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const { headers } = request;
    got.push({
      event: String(headers['x-github-event']),
      type: String(headers['content-type']),
      signature: String(headers['x-hub-signature-256']),
      body: Buffer.concat(chunks).toString('utf8'),
    });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  finallyDo(t, () => server.close());
  const address = server.address();
  return { got, url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/` };
}

test('only administrators set up webhooks, and an address is needed', async (t) => {
  const { forge } = await startForge(t);
  const config = { url: 'http://127.0.0.1:9/' };
  assert.equal((await forge.call('toolcrew-bot', 'POST', `${BASE}/hooks`, { config })).status, 404);
  for (const wrong of [{}, { url: 'ftp://x' }])
    assert.equal((await forge.call('maintainer', 'POST', `${BASE}/hooks`, { config: wrong })).status, 422);
});

test('events are delivered in order, signed, and only those that were asked for', async (t) => {
  const { forge, open, unlabel } = await startForge(t);
  const { got, url } = await listen(t);
  const config = { url, secret: 'secret', content_type: 'json' };
  await forge.call('maintainer', 'POST', `${BASE}/hooks`, { config, events: ['issues', 'check_run'] });
  await forge.call('maintainer', 'POST', `${BASE}/hooks`, { config: { url, secret: 'secret' }, events: ['push'] });
  const issue = await open('One');
  await forge.call('maintainer', 'POST', `${BASE}/issues/${issue}/comments`, { body: 'nobody asked for these' });
  forge.checks.finish(forge.checks.start('a'.repeat(40), 'build'), 'success');
  await unlabel(issue, 'tool-todo');
  await forge.webhooks.settled();
  assert.deepEqual(
    got.map(
      ({ event, body, type }) => `${event} ${type === 'application/json' ? (JSON.parse(body).action ?? '') : type}`,
    ),
    [
      'ping ',
      'ping application/x-www-form-urlencoded',
      'issues opened',
      'issues labeled',
      'check_run created',
      'check_run completed',
      'issues unlabeled',
    ],
  );
  for (const { body, signature } of got)
    assert.equal(signature, `sha256=${createHmac('sha256', 'secret').update(body).digest('hex')}`);
  const { issue: row, repository } = JSON.parse(got.at(-1)?.body ?? '');
  assert.deepEqual([row.number, row.labels, repository.full_name], [issue, [], 'maintainer/project']);
});
