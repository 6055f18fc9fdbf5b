// The gate of the daemon on a real repository: a commit is measured as it is, with the commands that its base names.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { Isolation } from '../../src/agents/isolation.ts';
import { systemClock } from '../../src/base/clock.ts';
import { RuntimeDir } from '../../src/base/processes/runtime-dir.ts';
import { GateRunner } from '../../src/daemon/runners/gate-runner.ts';
import { WaitingLine } from '../../src/daemon/waiting-line.ts';
import { GATE_CODES } from '../../src/gate/rules/gate-codes.ts';
import { agentRunning } from '../support/agents.ts';
import { joined, wordsOf } from '../support/codes.ts';
import { cleanEnv, Daemon } from '../support/daemon.ts';
import { bareRepository, commitFiles, gitAs, startForge } from '../support/forge.ts';
import { finallyDo, tempDir } from '../support/temp.ts';
import { workflowWith } from '../support/world.ts';

const FILES = {
  'package.json': JSON.stringify({ name: 'sums', private: true, type: 'module' }),
  'src/add.mjs': 'export const add = (a, b) => a + b;\n',
  'test/add.test.mjs': `import assert from 'node:assert';
import test from 'node:test';
import { add } from '../src/add.mjs';
test('adds', () => assert.equal(add(1, 2), 3));
`,
  'test/old.test.mjs': `import assert from 'node:assert';
import test from 'node:test';
test('was broken before', () => assert.equal(1, 2));
`,
  '.tool/config/workflow.yaml': `quality:
  commands:
    tests: node --test
    lint: node -e 0
`,
};

/** What the agent does with each issue, by its number. */
const WORK = [
  ['mends what was broken', 'sed -i s/2/1/ test/old.test.mjs'],
  ['leaves it as it was', 'echo "// more" >> src/add.mjs'],
  [
    'forgets to commit a file',
    `sed -i "s/a + b/sum(a, b)/; 1i import { sum } from './sum.mjs';" src/add.mjs
echo 'export const sum = (a, b) => a + b;' > src/sum.mjs
echo /src/sum.mjs >> .git/info/exclude`,
  ],
  [
    'names commands of its own',
    `sed -i 's/node --test/node -e 0/' .tool/config/workflow.yaml
sed -i 's/a + b/a - b/' src/add.mjs`,
  ],
  [
    'spoils the checkouts that lie beside its own',
    `sed -i 's/a + b/a - b/' src/add.mjs
cat > test/spoil.test.mjs <<'EOF'
import { readdirSync, writeFileSync } from 'node:fs';
for (const place of readdirSync('../..'))
  try { writeFileSync('../../' + place + '/' + process.cwd().split('/').pop() + '/src/add.mjs', 'export const add = () => 0;'); } catch {}
EOF`,
  ],
] as const;

const COMMIT = `git add -A; git commit -qm "Work on $TOOL_ISSUE"; tool issue done; echo 'All tests pass.'`;

test('each pull request shows what the commands of the base say of its commit', async (t) => {
  const forge = await startForge(t, FILES);
  const numbers: number[] = [];
  for (const [title] of WORK) numbers.push(await forge.open(title));
  const cases = numbers.map((number, index) => `${number}) ${WORK[index]?.[1]}\n;;`);
  const daemon = await Daemon.create(t, forge);
  daemon.write(
    [
      agentRunning(['case $TOOL_ISSUE in', ...cases, 'esac', COMMIT].join('\n')),
      'gate: { mode: report }',
      'agent: { max_concurrent_agents: 5 }',
    ].join('\n'),
  );
  daemon.start();
  await daemon.until('all issues are done', async () => {
    const { completed, failed } = (await daemon.state()).counts;
    return completed + failed === WORK.length;
  });
  assert.equal(await daemon.stop(), 143, daemon.log);

  const pulls = await forge.pulls();
  const shown = numbers.map((number) => pulls.find(({ head }) => head === `tool/issue-${number}`)?.body ?? '');
  const [mended = '', left = '', forgot = '', renamed = '', spoiled = ''] = shown;
  assert.match(mended, /\| tests \| passed: 2 tests \|/);
  assert.match(mended, /\| lint \| passed \|/);
  assert.match(mended, /\| `node --test` \| 0 \| [\d.]+ \|/);
  assert.match(left, /\| tests \| \*\*failed before, too\*\*: .*was broken before/);
  assert.match(left, /\| `node --test` \| 1 \|/);
  assert.doesNotMatch(left, /handed this in as finished/);
  for (const failed of [forgot, renamed, spoiled]) {
    assert.match(
      failed,
      /handed this in as finished, and checks fail\. It ran `tool issue done`\.[^\n]*\n\n```text\n[^`]*All tests pass\./,
    );
    assert.match(failed, /\| tests \| \*\*failed\*\*: /);
    assert.match(failed, /\| `node --test` \| 1 \|/);
  }
});

test('commands that take too long are ended, and that is what the pull request shows', async (t) => {
  const forge = await startForge(t, FILES);
  await forge.open('takes too long');
  const daemon = await Daemon.create(t, forge);
  const endless = 'echo "setTimeout(() => undefined, 600_000);" >> test/add.test.mjs';
  daemon.write([agentRunning(`${endless}\n${COMMIT}`), 'gate: { timeout_ms: 2000 }'].join('\n'));
  daemon.start();
  await daemon.until('the issue is done', async () => (await daemon.state()).counts.completed === 1);
  assert.equal(await daemon.stop(), 143, daemon.log);
  const body = (await forge.pulls())[0]?.body ?? '';
  assert.match(body, joined('| tests | **failed**: ', wordsOf(GATE_CODES.check_timed_out, { seconds: 2 }), ' |'));
  assert.match(body, /\| `node --test` \| timed out \| [\d.]+ \|\n\nNot measured/);
});

test('a measurement that waits for its turn ends when it is aborted', async (t) => {
  const directory = tempDir(t);
  const { work } = await bareRepository(directory, FILES);
  const base = (await gitAs(work, 'rev-parse', 'HEAD')).trim();
  const commit = await commitFiles(work, { 'test/slow.test.mjs': 'setTimeout(() => undefined, 600_000);\n' }, 'Wait');
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  const env = cleanEnv(directory);
  const line = new WaitingLine<number>({ most: () => 1 });
  const gate = new GateRunner({
    ...{ line, workflow: () => workflowWith(), stateDir: join(directory, 'state'), runtime, env, clock: systemClock },
    isolation: await Isolation.probe('off', { readOnly: [], hidden: [], tables: join(directory, 'tables') }),
    newRun: () => 'gate-of-a-test',
  });
  const [first, second] = [new AbortController(), new AbortController()];
  const request = { issue: 1, path: work, commit, base, timeoutMs: 600_000, output: () => undefined };
  const running = gate.measure(request, first.signal);
  const waiting = gate.measure({ ...request, issue: 2 }, second.signal);
  assert.deepEqual([...line.waiting], [2]);
  second.abort(new Error('taken back'));
  await assert.rejects(waiting, /taken back/);
  assert.equal(await Promise.race([running.then(() => 'over'), Promise.resolve('runs')]), 'runs');
  first.abort(new Error('stopped'));
  await assert.rejects(running, /stopped/);
});
