// What a start that fails leaves behind, and what is said about a file that changes or goes while the daemon runs.

import assert from 'node:assert/strict';
import test from 'node:test';
import { agentRunning, COMMITS } from '../support/agents.ts';
import { cleanEnv, Daemon, runTool } from '../support/daemon.ts';
import { startForge } from '../support/forge.ts';

test('a start that failed claims nothing: with the key mended, the next one takes root and issue', async (t) => {
  const forge = await startForge(t);
  const issue = await forge.open('one');
  const daemon = await Daemon.create(t, forge, { yaml: agentRunning(COMMITS) });
  const right = daemon.read();
  daemon.overwrite(right.replace('maintainer/project', 'maintainer/projct'));
  const withoutToken = { env: { ...cleanEnv(daemon.home), PATH: '/usr/bin:/bin' } };
  const anonymous = await runTool(['serve', daemon.workflow], withoutToken);
  assert.deepEqual(
    { code: anonymous.code, said: /^tool: no token for /.test(anonymous.stderr) },
    { code: 2, said: true },
  );
  daemon.start(['--once']);
  assert.equal(await daemon.exit(), 1, 'there is no such repository');
  daemon.overwrite(right);
  daemon.start();
  await daemon.logged(`issue #${issue} state changed to tool-done`);
});
