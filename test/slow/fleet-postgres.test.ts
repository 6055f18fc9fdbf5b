// A fleet over PostgreSQL as processes: a worker is killed, the server crashes, and each issue is done once.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { agentRunning } from '../support/agents.ts';
import { cleanEnv, runTool } from '../support/daemon.ts';
import { FLEET_KEY, MODEL_KEY, startCoordinator, startWorker } from '../support/fleet.ts';
import { DAEMON_TOKEN, startForge } from '../support/forge.ts';
import { PostgresServer } from '../support/postgres.ts';
import { documentedRights } from '../support/stores.ts';
import { finallyDo, tempDir } from '../support/temp.ts';

const PROMPT_CANARY = 'canary-of-the-prompt';
const WORKER_PASSWORD = 'canary-worker-password';
const CHECKS = ['queue', 'queue versions', 'queue memory', 'queue TLS', 'fleet key', 'queue permissions', 'workers'];

test('a worker is killed and PostgreSQL crashes: work goes on, and the tables hold no secret', async (t) => {
  const [forge, postgres, place] = await Promise.all([startForge(t), PostgresServer.start(t), tempDir(t)]);
  const database = await postgres.database();
  const issues = [
    await forge.open('First', { body: PROMPT_CANARY }),
    await forge.open('Second', { body: PROMPT_CANARY }),
  ];
  const begun = (issue: number, attempt: number) => existsSync(join(place, `${issue}-${attempt}`));
  const script = [
    `grep -q ${PROMPT_CANARY}`,
    '[ "$MODEL_KEY" != "" ]; [ "$TOOL_FLEET_KEY$FLEET_KEY$GITHUB_TOKEN$TOOL_QUEUE_URL$QUEUE_URL" = "" ]',
    `touch "${place}/$TOOL_ISSUE-$TOOL_ATTEMPT"; while [ ! -e ${place}/go ]; do sleep 0.1; done`,
    'echo "done for $TOOL_ISSUE" > work.txt; git add -A; git commit -qm "Do the work"',
  ].join('\n');
  const daemon = await startCoordinator(
    t,
    forge,
    { url: postgres.urlOf(database) },
    {
      yaml: `agent: { max_attempts: 1, max_concurrent_agents: 2, max_retry_backoff_ms: 100 }\n${agentRunning(script, 'env: [MODEL_KEY]')}`,
      // Longer than the server is away.
      leaseMs: 20_000,
      prompt: 'Work on #{{ issue.number }}\n\n{{ issue.body }}\n',
    },
  );
  const dumps: string[] = [];
  const dump = async () => void dumps.push(await postgres.dump(database));
  await daemon.until('both wait', async () => (await daemon.state()).queue?.waiting === 2);
  await dump();
  // Workers with what the documents give them, and no more.
  await postgres.run(database, `CREATE ROLE fleet LOGIN PASSWORD '${WORKER_PASSWORD}'; ${documentedRights('fleet')}`);
  const store = { url: `${postgres.urlOf(database, 'fleet', WORKER_PASSWORD)}?sslmode=require` };
  const first = startWorker(t, 'first', store);
  await daemon.until('one works', () => issues.some((issue) => begun(issue, 1)));
  const cut = issues.find((issue) => begun(issue, 1)) ?? assert.fail();
  const other = issues.find((issue) => issue !== cut) ?? assert.fail();
  const second = startWorker(t, 'second', store, ['--slots', '2']);
  // A worker ends after its agents, also where the test fails.
  finallyDo(t, () => writeFileSync(join(place, 'go'), ''));
  await daemon.until('both work', () => begun(other, 1));
  await dump();

  const doctor = await runTool(['doctor', '--queue', '--json'], {
    cwd: tempDir(t),
    env: cleanEnv(tempDir(t), { TOOL_QUEUE_URL: store.url, TOOL_FLEET_KEY: FLEET_KEY }),
  });
  const { checks }: { checks: { name: string; status: string; code?: string }[] } = JSON.parse(doctor.stdout);
  const rows = checks.map(({ name, status, code }) => [name, code ?? status]);
  const expected = CHECKS.map((name) => [name, name === 'queue TLS' ? 'queue_certificate_unchecked' : 'ok']);
  assert.deepEqual(rows, expected, doctor.stdout);

  first.signal('SIGKILL');
  await postgres.stop();
  await daemon.logged(/queue_interrupted/);
  await postgres.begin();
  await daemon.until('another worker has the issue', () => begun(cut, 2));
  writeFileSync(join(place, 'go'), '');
  for (const issue of issues) {
    await daemon.until('it has an end', async () => !(await forge.labelsOf(issue)).includes('tool-todo'));
    const labels = (await forge.labelsOf(issue)).filter((label) => label.startsWith('tool-'));
    assert.deepEqual(labels, ['tool-done'], daemon.log);
    const pulls = (await forge.pulls()).filter(({ head }) => head === `tool/issue-${issue}`);
    assert.equal(pulls.length, 1, daemon.log);
  }
  // The attempt that was at work when the server crashed went on.
  assert.deepEqual([begun(other, 2), begun(cut, 3)], [false, false], daemon.log);
  assert.match(daemon.log, /The worker first fell silent/);
  await dump();
  second.signal('SIGTERM');
  assert.equal((await second.ended).code, 143, second.stderr);
  await daemon.until('no job is left', async () => {
    const rest = await postgres.run(database, 'SELECT FROM bullmq.job');
    return rest.length === 0;
  });

  assert.ok(dumps.every((text) => text.includes('maintainer/project')));
  const said = [...dumps, daemon.log, first.stderr, second.stderr, doctor.stdout].join('\n');
  for (const secret of [DAEMON_TOKEN, FLEET_KEY, MODEL_KEY, PROMPT_CANARY, WORKER_PASSWORD, 'canary-postgres'])
    assert.ok(!said.includes(secret), secret);
});
