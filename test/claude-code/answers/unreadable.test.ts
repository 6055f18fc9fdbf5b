// A team whose log cannot be read: it stands in the way of its own, and of those who might be its own.

import assert from 'node:assert/strict';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { BASE_CODES } from '../../../src/base/rules/base-codes.ts';
import { onPostToolUse } from '../../../src/claude-code/answers/on-post-tool-use.ts';
import { onPreToolUse } from '../../../src/claude-code/answers/on-pre-tool-use.ts';
import { onSessionStart } from '../../../src/claude-code/answers/on-session-start.ts';
import { operate } from '../../../src/team/operations/operations.ts';
import { LOG_CODES } from '../../../src/team/rules/codes/log-codes.ts';
import { OPERATIONS_CODES } from '../../../src/team/rules/codes/operations-codes.ts';
import { isOf, wordsLike } from '../../support/codes.ts';
import { TEAM, TeamWorld } from '../../support/team-world.ts';

const OTHER = 'tool-run-spec-pay-002';
const NEWER = `\n${JSON.stringify({ type: 'created', v: 2, id: 'x.1', at: 1 })}\n`;

function lose(world: TeamWorld, text: string): void {
  const directory = join(world.root, '.tool', 'teams', OTHER);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'log.jsonl'), text);
}

function writes(world: TeamWorld, who: string, path: string, session = 'session-1') {
  return onPreToolUse(
    world.context,
    world.event(who, 'PreToolUse', { session, tool: 'Write', input: { file_path: path } }),
  );
}

for (const [name, text, why] of [
  ['of a newer program', NEWER, isOf(BASE_CODES.record_version_newer, { version: 2 })],
  ['that was emptied', '', isOf(LOG_CODES.team_log_headless)],
] as const)
  test(`another team's log ${name} is in nobody's way but its own`, async (t) => {
    const world = new TeamWorld(t);
    await world.team(['backend-dev', 'tester']);
    lose(world, text);
    await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
    await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
    await world.call('backend-dev', 'SendMessage', { recipient: 'tester', type: 'progress', content: 'begun' });
    assert.equal((await writes(world, 'backend-dev', 'src/api/a.ts')).kind, 'silent');
    assert.equal((await writes(world, 'tester', 'src/api/a.ts')).kind, 'reject');
    const mail = await onPostToolUse(world.context, world.event('tester', 'PostToolUse', { tool: 'Read' }));
    assert.match(JSON.stringify(mail), /begun/);
    assert.match(
      JSON.stringify(await onSessionStart(world.context, world.event('team-lead', 'SessionStart'))),
      new RegExp(
        `you lead team ${TEAM}.*${wordsLike(OPERATIONS_CODES.team_unreadable, { team: OTHER, said: new RegExp(`.*/${OTHER}/log\\.jsonl .*`) }).source}`,
      ),
    );

    // Whoever is nobody of this team may be one of that.
    await assert.rejects(writes(world, 'hypothesis-1', 'src/api/a.ts', 'session-2'), why);
    await assert.rejects(writes(world, 'team-lead', 'src/api/a.ts', 'session-2'), why);
    await assert.rejects(world.call('team-lead', 'TaskList', { team_name: OTHER }), why);
    await assert.rejects(world.call('team-lead', 'TeamCreate', { team_name: OTHER }), why);
    const unknown = { kind: 'key', hash: 'of a key that is in no log' } as const;
    await assert.rejects(operate(world.context, 'TaskList', {}, unknown), why);
    const nobody = { kind: 'nothing', why: 'x' } as const;
    await assert.rejects(operate(world.context, 'TeamCreate', { team_name: 'tool-run-spec-c-001' }, nobody), why);
    assert.equal((await world.call('team-lead', 'TeamCreate', { team_name: 'tool-run-spec-c-001' })).state, 'created');
  });

test('where the only team cannot be read nothing is taken for its absence', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['tester']);
  truncateSync(join(world.root, '.tool', 'teams', TEAM, 'log.jsonl'), 200);
  const directory = join(world.root, '.tool', 'teams', TEAM);
  const why = isOf(LOG_CODES.team_log_headless, { directory, path: join(directory, 'log.jsonl') });
  await assert.rejects(world.call('team-lead', 'TaskList'), why);
  await assert.rejects(world.call('team-lead', 'TeamCreate', { team_name: TEAM }), why);
  await assert.rejects(writes(world, 'tester', 'src/api/a.ts'), why);
});
