// The built daemon behind a company's proxy: API and git go through it, with user and password. Past it they go in serve-authority.test.ts.

import assert from 'node:assert/strict';
import test from 'node:test';
import { agentRunning, COMMITS } from '../support/agents.ts';
import { ConnectProxy } from '../support/connect-proxy.ts';
import { Daemon } from '../support/daemon.ts';
import { startForge } from '../support/forge.ts';

test('HTTP_PROXY carries the API and git of the built daemon', async (t) => {
  const forge = await startForge(t);
  const proxy = await ConnectProxy.start(t);
  await forge.open('Through the proxy');
  const daemon = await Daemon.start(t, forge, {
    yaml: `${agentRunning(COMMITS)}\n`,
    args: ['--once'],
    env: { HTTP_PROXY: proxy.url },
  });
  assert.equal(await daemon.exit(), 0, daemon.log);
  const pulls = await forge.pulls();
  assert.equal(pulls.length, 1, daemon.log);
  const api = new URL(forge.forge.url).host;
  const tunnels = proxy.seen.filter((line) => line === `CONNECT ${api}`);
  const git = proxy.seen.filter((line) => /git-(upload|receive)-pack/.test(line));
  assert.ok(tunnels.length > 0, proxy.seen.join('\n'));
  assert.ok(
    git.some((line) => line.includes('git-upload-pack')),
    proxy.seen.join('\n'),
  );
  assert.ok(
    git.some((line) => line.includes('git-receive-pack')),
    proxy.seen.join('\n'),
  );
  // The password stands in no line that people read.
  assert.ok(!daemon.log.includes('p%40ss'), daemon.log);
});
