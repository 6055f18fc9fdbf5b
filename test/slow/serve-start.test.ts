// Start of `tool serve`: failed and refused starts, a missing or invalid workflow file, a torn journal, no isolation.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { AGENT_CODES } from '../../src/agents/rules/agent-codes.ts';
import { hasExited } from '../../src/base/processes/processes.ts';
import { COMPOSE_CODES } from '../../src/compose/rules/compose-codes.ts';
import { CONFIG_CODES } from '../../src/daemon/rules/codes/config-codes.ts';
import { agentRunning, COMMITS } from '../support/agents.ts';
import { codeIn, joined, lineLike } from '../support/codes.ts';
import { cleanEnv, Daemon, runTool } from '../support/daemon.ts';
import { gitAs, startForge } from '../support/forge.ts';
import { finallyDo, tempDir } from '../support/temp.ts';

test('a start that failed claims nothing: with the key mended, the next one takes root and issue', async (t) => {
  const forge = await startForge(t);
  const issue = await forge.open('one');
  const daemon = await Daemon.create(t, forge, { yaml: agentRunning(COMMITS) });
  const right = daemon.read();
  daemon.overwrite(right.replace('maintainer/project', 'maintainer/projct'));
  const withoutToken = { env: { ...cleanEnv(daemon.home), PATH: '/usr/bin:/bin' } };
  const anonymous = await runTool(['serve', daemon.workflow], withoutToken);
  assert.deepEqual([anonymous.code, codeIn(anonymous.stderr)], [2, 'token_missing']);
  daemon.start(['--once']);
  assert.equal(await daemon.exit(), 1, 'there is no such repository');
  daemon.overwrite(right);
  daemon.start();
  await daemon.logged(`issue #${issue} state changed to tool-done`);
});

test('a workflow file that is deleted is missed in log and state, and welcome when it is back', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning(COMMITS) });
  await daemon.logged('watching');
  const text = daemon.read();
  rmSync(daemon.workflow);
  await daemon.logged(
    joined('[workflow]  error: ', lineLike(CONFIG_CODES.workflow_gone, { said: `${daemon.workflow} is gone` })),
  );
  assert.equal((await daemon.state()).workflow.error, `${daemon.workflow} is gone`);
  const issue = await forge.open('still works');
  await daemon.logged(`issue #${issue} state changed to tool-done`);
  daemon.overwrite(text);
  await daemon.logged('[workflow]  read again');
  assert.equal((await daemon.state()).workflow.error, null);
});

test('an error of several lines is one line of the log and of the page', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning(COMMITS) });
  await daemon.logged('watching');
  daemon.write(`agent: { max_atempts: 2 }\nhooks: { befor_run: x }\n${agentRunning(COMMITS)}`);
  const problems = / has 2 problems: hooks\.befor_run: [^\n]*agent\.max_atempts: /;
  await daemon.logged(problems);
  const page = await (await fetch(`http://127.0.0.1:${daemon.port}/?columns=240`)).text();
  assert.match(page, problems);
  assert.doesNotMatch(daemon.log + page, /\\n/);
});

test('a record that the journal ends in the middle of is said', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.create(t, forge, { yaml: agentRunning(COMMITS) });
  mkdirSync(daemon.stateDir);
  writeFileSync(join(daemon.stateDir, 'journal.jsonl'), '\n{"v":1,"id":"x.1","at":1,"ty');
  daemon.start();
  await daemon.logged(
    joined(
      '[serve]     warn: ',
      lineLike(COMPOSE_CODES.journal_torn, { path: `${daemon.stateDir}/journal.jsonl`, count: 1 }),
    ),
  );
});

test('a branch named like the prefix refuses the start, and another prefix is published under', async (t) => {
  const forge = await startForge(t);
  await forge.open('one');
  await gitAs(forge.bare, 'branch', 'tool', 'main');
  const daemon = await Daemon.create(t, forge, { yaml: agentRunning(COMMITS) });
  daemon.start(['--once']);
  assert.equal(await daemon.exit(), 2, daemon.log);
  assert.match(daemon.log, /The branch tool on the remote .* Rename tool, or set workspace\.branch_prefix/);
  daemon.overwrite(daemon.read().replace('workspace: { ', 'workspace: { branch_prefix: bot/, '));
  daemon.start(['--once']);
  assert.equal(await daemon.exit(), 0, daemon.log);
  assert.deepEqual(
    (await forge.pulls()).map(({ head }) => head),
    ['bot/issue-1'],
  );
});

test('without isolation a process in a session of its own ends with the attempt; the start says which may not', async (t) => {
  const forge = await startForge(t);
  const issue = await forge.open('one');
  const place = tempDir(t);
  const lasting = (name: string) => `sh -c 'echo $$ > ${place}/${name}; exec sleep 300'`;
  const both = `setsid ${lasting('marked')} & env -i PATH="$PATH" setsid ${lasting('unmarked')} &`;
  const written = `while [ ! -s ${place}/marked ] || [ ! -s ${place}/unmarked ]; do sleep 0.02; done`;
  const yaml = agentRunning(`exec 2>&1; ${both} ${written}; ${COMMITS}`, 'isolation: "off"');
  const daemon = await Daemon.start(t, forge, { yaml, args: ['--once'] });
  assert.equal(await daemon.exit(), 0, daemon.log);
  const pidOf = (name: string) => Number(readFileSync(join(place, name), 'utf8'));
  finallyDo(t, () => process.kill(pidOf('unmarked'), 'SIGKILL'));
  assert.ok(daemon.log.includes(`issue #${issue} state changed to tool-done`), daemon.log);
  assert.equal(hasExited(pidOf('marked')), true);
  // The warning at the start can go once this process, too, ends with the attempt.
  assert.equal(hasExited(pidOf('unmarked')), false);
  assert.match(
    daemon.log,
    joined('warn: ', lineLike(AGENT_CODES.agents_not_isolated, { why: 'tool.isolation is off' })),
  );
});
