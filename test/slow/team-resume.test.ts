// A lead that is gone after any record of the log: who comes after it brings the same tasks to their end, each of them once.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { LeadOutcome } from '../../src/team/lead/lead-options.ts';
import { resumeTeam, startTeam } from '../../src/team/lead/start-team.ts';
import { TeamHistory } from '../../src/team/log/team-history.ts';
import { draft, LeadPlay, PHASE_NAMES, PHASES, type PhaseName, ROLES, workOf } from '../support/lead-play.ts';
import type { Cleanup } from '../support/temp.ts';

const HOUR = 3_600_000;

function playOf(t: Cleanup): LeadPlay {
  return new LeadPlay(t, Object.fromEntries(ROLES.map((role) => [role, workOf(role)])));
}

async function begin(play: LeadPlay, phase: PhaseName, wish: 'team' | 'solo'): Promise<void> {
  const decided = await play.decide(phase, wish);
  assert.equal(decided.kind, 'decided');
  if (decided.kind === 'decided') await startTeam(play.world.context, decided);
}

function archivedOf(outcome: LeadOutcome): string {
  assert.ok(outcome.kind === 'done', 'why' in outcome ? outcome.why : outcome.kind);
  return outcome.archived;
}

/** Tasks in the order in which they were completed. */
async function completionsOf(directory: string): Promise<readonly string[]> {
  const completed: string[] = [];
  const history = new TeamHistory({
    directory,
    from: 'beginning',
    onRecord: (record, refusal) => {
      if (refusal === null && record.type === 'task_updated' && record.status === 'completed')
        completed.push(record.task);
    },
  });
  await history.close();
  return completed;
}

function linesOf(directory: string): readonly string[] {
  return readFileSync(join(directory, 'log.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

for (const phase of PHASE_NAMES)
  for (const wish of ['team', 'solo'] as const)
    test(`${phase}, ${wish}: gone after any record, it is brought to the same end`, async (t) => {
      const { team } = PHASES[phase];
      const first = playOf(t);
      await begin(first, phase, wish);
      const archived = archivedOf(await first.goOn(team));
      const whole = linesOf(archived);
      const tasks = (await completionsOf(archived)).toSorted();
      assert.ok(whole.length > 20 && tasks.length >= 3);
      for (let count = 1; count <= whole.length; count++) {
        const play = playOf(t);
        play.world.clock.set(HOUR);
        const directory = join(play.world.root, '.tool', 'teams', team);
        mkdirSync(directory, { recursive: true });
        writeFileSync(
          join(directory, 'log.jsonl'),
          whole
            .slice(0, count)
            .map((line) => `\n${line}\n`)
            .join(''),
        );
        const last = whole[count - 1] ?? '';
        const isThere = await resumeTeam(play.world.context, team, () => undefined);
        if (!isThere) await begin(play, phase, wish);
        const outcome = await play.goOn(team);
        const completed = await completionsOf(archivedOf(outcome));
        assert.deepEqual(completed.toSorted(), tasks, `after record ${count}, ${last}`);
        assert.equal(
          outcome.state.fallback?.trigger ?? null,
          wish === 'solo' ? 'solo' : null,
          `after record ${count}, ${last}`,
        );
      }
    });

test('a task that has failed is tried again at the next restart, which says so; what was finished is not', async (t) => {
  let isAble = false;
  const work = workOf('tester');
  const play = new LeadPlay(t, {
    tester: async (call, ...rest) => {
      if (isAble) return work(call, ...rest);
      await call('TaskUpdate', { taskId: '2', status: 'in_progress' });
      await call('TaskUpdate', { taskId: '2', status: 'failed', result: 'no test runner' });
    },
  });
  const { team } = PHASES.run;
  const first = await play.lead([draft('api', 'backend-dev'), draft('tests', 'tester', ['api'])]);
  assert.ok(first.kind === 'failed');
  assert.match(first.why, /^failed: task 2 "Task of tests" \(no test runner\)/);
  isAble = true;
  const said: string[] = [];
  assert.equal(await resumeTeam(play.world.context, team, (words) => said.push(words)), true);
  assert.deepEqual(said, ['task 2 "Task of tests" is tried again; it had failed: no test runner']);
  const outcome = await play.goOn(team);
  assert.deepEqual(await completionsOf(archivedOf(outcome)), ['1', '2']);
  assert.equal(await resumeTeam(play.world.context, team, () => undefined), false, 'nothing is left of it');
});
