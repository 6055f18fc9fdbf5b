// Hooks of a host that a lead started as a teammate: who it is comes by the environment alone.

import assert from 'node:assert/strict';
import test from 'node:test';
import { onPostToolUse } from '../../../src/claude-code/answers/on-post-tool-use.ts';
import { onPreToolUse } from '../../../src/claude-code/answers/on-pre-tool-use.ts';
import { onSessionStart } from '../../../src/claude-code/answers/on-session-start.ts';
import { onSubagentStart } from '../../../src/claude-code/answers/on-subagent-start.ts';
import { onTeammateIdle } from '../../../src/claude-code/answers/on-teammate-idle.ts';
import { onUserPrompt } from '../../../src/claude-code/answers/on-user-prompt.ts';
import type { HookContext } from '../../../src/compose/hook-context.ts';
import type { HookAnswer, HostEvent } from '../../../src/team/operations/host-event.ts';
import { operate } from '../../../src/team/operations/operations.ts';
import type { Evidence } from '../../../src/team/rules/caller.ts';
import { WRITES_CODES } from '../../../src/team/rules/codes/writes-codes.ts';
import { lineLike } from '../../support/codes.ts';
import { TEAM, TeamWorld } from '../../support/team-world.ts';
import type { Cleanup } from '../../support/temp.ts';

const TERMINAL: Evidence = { kind: 'environment', team: null, teammate: null };

/** A team that a lead at a terminal made, and what a hook below its backend-dev stands on. */
async function startedWorld(t: Cleanup): Promise<{ readonly world: TeamWorld; readonly context: HookContext }> {
  const world = new TeamWorld(t);
  await operate(world.context, 'TeamCreate', { team_name: TEAM }, TERMINAL);
  for (const member of ['backend-dev', 'tester']) await world.start(member);
  const startedAs = { kind: 'environment', isServer: true, team: TEAM, teammate: 'backend-dev', epoch: 1 } as const;
  return { world, context: { ...world.context, startedAs } };
}

/** As its host tells it: a main agent of a session that nobody knows. */
function eventOf(world: TeamWorld, name: HostEvent['name'], more: Partial<HostEvent> = {}): HostEvent {
  return world.event('team-lead', name, { session: 'another', ...more });
}

function write(world: TeamWorld, path: string, more: Partial<HostEvent> = {}): HostEvent {
  return eventOf(world, 'PreToolUse', { tool: 'Write', input: { file_path: path }, ...more });
}

function rejected(answer: HookAnswer, words: RegExp): void {
  assert.equal(answer.kind, 'reject');
  assert.match(answer.kind === 'reject' ? answer.reason : '', words);
}

test('it writes what is its own, and nothing else; what its host starts by itself is no other', async (t) => {
  const { world, context } = await startedWorld(t);
  assert.equal((await onPreToolUse(context, write(world, 'src/api/a.ts'))).kind, 'silent');
  rejected(await onPreToolUse(context, write(world, 'tests/a.ts')), /tests\/a\.ts is tester's/);
  const below = { agentId: 'a1', agentType: 'team-tester' };
  rejected(await onPreToolUse(context, write(world, 'tests/a.ts', below)), /tests\/a\.ts is tester's/);
  rejected(
    await onPreToolUse(
      context,
      eventOf(world, 'PreToolUse', { tool: 'Agent', input: { subagent_type: 'team-tester' } }),
    ),
    /\(agents_for_lead_only\)$/,
  );
  assert.equal((await onSubagentStart(context, eventOf(world, 'SubagentStart', below))).kind, 'silent');
  assert.equal(world.state().bindings.size, 0);
});

test('it takes the finished work of all into its worktree, by that command and there alone', async (t) => {
  const { world, context } = await startedWorld(t);
  const root = `${world.root}/.tool/worktrees/${TEAM}/backend-dev`;
  const all = { targets: [{ path: 'tests/a.ts', tree: false }], unresolved: [], git: null };
  const placed = {
    ...context,
    worktree: { root, checkout: world.root },
    writesOf: () => Promise.resolve(all),
  };
  const bash = (command: string, cwd: string) =>
    eventOf(world, 'PreToolUse', { tool: 'Bash', input: { command }, cwd });
  assert.equal((await onPreToolUse(placed, bash(`git merge tool/${TEAM}`, root))).kind, 'silent');
  for (const back of ['merge --abort', 'rebase --continue', 'merge -', `checkout tool/${TEAM}--backend-dev`])
    assert.equal((await onPreToolUse(placed, bash(`git ${back}`, `${root}/src`))).kind, 'silent', back);
  for (const [command, cwd] of [
    [`git merge tool/${TEAM}--tester`, root],
    [`git merge tool/${TEAM}; rm -rf tests`, root],
    [`git merge tool/${TEAM}`, `${world.root}/.tool/worktrees/${TEAM}/backend-dev-2`],
    ['git merge main', root],
    [`git checkout tool/${TEAM}--tester`, root],
    ['git checkout -f main', root],
  ] as const)
    rejected(await onPreToolUse(placed, bash(command, cwd)), /tests\/a\.ts is tester's/);
});

test('the guard holds for it where the team has fallen back as well', async (t) => {
  const { world, context } = await startedWorld(t);
  await world.append({ type: 'fell_back', trigger: 'spawn_failed', reason: 'x' });
  rejected(await onPreToolUse(context, write(world, 'tests/a.ts')), /tests\/a\.ts is tester's/);
});

test('a run whose place another has taken writes nothing', async (t) => {
  const { world, context } = await startedWorld(t);
  await world.append({ type: 'member_ended', name: 'backend-dev', epoch: 1, how: 'replaced', reason: 'x' });
  await world.start('backend-dev');
  rejected(await onPreToolUse(context, write(world, 'src/api/a.ts')), /newer backend-dev.*\(member_replaced\)$/);
});

test('for a team that a session of a host leads an environment counts for nothing', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  const startedAs = { kind: 'environment', isServer: true, team: TEAM, teammate: 'backend-dev', epoch: 1 } as const;
  const words = lineLike(WRITES_CODES.writer_not_member, { team: TEAM, who: /.+/ });
  rejected(await onPreToolUse({ ...world.context, startedAs }, write(world, 'src/api/a.ts')), words);
});

test('its mail comes with its next tool', async (t) => {
  const { world, context } = await startedWorld(t);
  const message = { recipient: 'backend-dev', type: 'progress', content: 'half of it' };
  const asTester: Evidence = { kind: 'environment', team: TEAM, teammate: 'tester' };
  await operate(world.context, 'SendMessage', message, asTester);
  const answer = await onPostToolUse(context, eventOf(world, 'PostToolUse', { tool: 'Read' }));
  assert.match(answer.kind === 'context' ? answer.text : '', /from tester, progress: half of it/);
});

test('what its lead tells it is no word of the user, and its end is for the lead to judge', async (t) => {
  const { world, context } = await startedWorld(t);
  await operate(world.context, 'TaskCreate', { subject: 'x', description: 'x', owner: 'backend-dev' }, TERMINAL);
  const approved: string[] = [];
  const project = {
    ...context.project,
    approve: (id: string) => {
      approved.push(id);
      return null;
    },
  };
  const prompt = eventOf(world, 'UserPromptSubmit', { prompt: 'approve SPEC-AUTH-001' });
  assert.equal((await onUserPrompt({ ...context, project }, prompt)).kind, 'silent');
  assert.deepEqual(approved, []);
  assert.equal((await onSessionStart(context, eventOf(world, 'SessionStart'))).kind, 'silent');
  assert.equal((await onTeammateIdle(context, eventOf(world, 'SubagentStop'), true)).kind, 'silent');
});
