// A teammate that is gone, and its successor: the claim comes back, and whoever speaks for the run that was is nobody.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { connectTeam } from '../../src/claude-code/mcp/client.ts';
import type { PhaseReport } from '../../src/cli/phase-report.ts';
import { MEMBER_LEASE_MS } from '../../src/team/rules/log/state.ts';
import type { PhaseProject } from '../support/phase-project.ts';
import { SPEC, shopProject, shopScript, TEAM } from '../support/shop-spec.ts';
import { matesOf } from '../support/team-processes.ts';
import { finallyDo } from '../support/temp.ts';

const LONG_MS = 3_600_000;

type Row = Readonly<Record<string, unknown>>;

function rowsOf({ root }: PhaseProject): readonly Row[] {
  const path = join(root, '.tool', 'teams', TEAM, 'log.jsonl');
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  // The last one may be half written still.
  return text.split('\n').flatMap((line) => {
    try {
      const row: Row = JSON.parse(line);
      return [row];
    } catch {
      return [];
    }
  });
}

/** Resolves with the claim of the first task by that run of backend-dev. */
async function claimed(project: PhaseProject, epoch: number): Promise<Row> {
  const directory = join(project.root, '.tool', 'teams', TEAM);
  mkdirSync(directory, { recursive: true });
  return new Promise((resolve) => {
    const look = () => {
      const claim = rowsOf(project).find(
        (row) => row.type === 'task_updated' && row.task === '1' && row.epoch === epoch && row.by === 'backend-dev',
      );
      if (claim === undefined) return;
      watcher.close();
      resolve(claim);
    };
    const watcher = watch(directory, look);
    look();
  });
}

function endMate(project: PhaseProject, lead: number, name: string): void {
  for (const { pid, member } of matesOf(project, lead)) if (member === name) process.kill(pid, 'SIGKILL');
}

test('a predecessor that still lives completes, claims and sends nothing once its successor was started', async (t) => {
  const project = shopProject(t);
  project.play(shopScript({ T1: LONG_MS }));
  const lead = project.start('run', SPEC, '--team', '--json');
  let stdout = '';
  lead.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
  });
  const first = await claimed(project, 1);
  // What the first run had started speaks for it, and is not ended with it.
  const predecessor = await connectTeam({
    ...{ PATH: process.env.PATH ?? '', CLAUDE_PROJECT_DIR: project.root },
    ...{ TOOL_TEAM: TEAM, TOOL_TEAMMATE: 'backend-dev', TOOL_TEAMMATE_RUN: '1' },
  });
  finallyDo(t, () => predecessor.close());
  assert.equal((await predecessor.call('TaskList', {})).isError, false, 'it is somebody while it is the latest');
  const killedAt = Date.now();
  endMate(project, lead.pid ?? 0, 'backend-dev');
  const second = await claimed(project, 2);
  assert.ok(Number(second.at) - killedAt < MEMBER_LEASE_MS && Number(second.at) >= Number(first.at));
  const before = rowsOf(project).length;
  const content = 'the API is there';
  for (const [tool, input] of [
    ['TaskUpdate', { taskId: '1', status: 'completed', result: 'done by the first' }],
    ['TaskUpdate', { taskId: '1', status: 'in_progress' }],
    ['SendMessage', { recipient: 'team-lead', type: 'progress', content }],
    ['FileLease', { path: 'package.json', reason: 'a script' }],
    ['Inbox', {}],
  ] as const) {
    const { text, isError } = await predecessor.call(tool, input);
    assert.ok(isError, `${tool}: ${text}`);
    assert.match(text, / newer backend-dev.*\(member_replaced\)$/m, tool);
  }
  const since = rowsOf(project).slice(before);
  assert.deepEqual(
    since.filter((row) => row.by === 'backend-dev' || row.type === 'lease_taken'),
    [],
    'nothing of it stands in the log',
  );
  project.play(shopScript());
  endMate(project, lead.pid ?? 0, 'backend-dev');
  const [code] = (await once(lead, 'close')) as [number | null];
  assert.equal(code, 0);
  const { tasks }: PhaseReport = JSON.parse(stdout);
  assert.deepEqual(
    tasks.map(({ outcome }) => outcome),
    ['completed', 'completed', 'completed'],
  );
  const log = project.archived();
  assert.equal(log.split('"task":"1","status":"completed"').length, 2);
  assert.ok(!log.includes(content) && !log.includes('done by the first'));
});
