// `tool team`, `tool spec` and the rows of `tool doctor` about team mode, as a user runs them.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { DOCTOR_CODES } from '../../src/cli/rules/doctor-codes.ts';
import { FileTeams } from '../../src/team/log/teams.ts';
import { OPERATIONS_CODES } from '../../src/team/rules/codes/operations-codes.ts';
import { SPEC_CODES } from '../../src/team/rules/codes/spec-codes.ts';
import type { TeamRecord } from '../../src/team/rules/log/record.ts';
import { joined, lineLike, wordsLike, wordsOf } from '../support/codes.ts';
import { cleanEnv, runTool } from '../support/daemon.ts';
import { rec } from '../support/team.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const TEAM = 'tool-run-spec-auth-001';
const SPEC = `---
id: SPEC-AUTH-001
title: Sign in
status: draft
---
# Sign in

- R1: When a person signs in with a wrong password, the system shall answer 401.
`;

type Row = {
  readonly name: string;
  readonly status: string;
  readonly says: string;
  readonly mend: string | null;
  readonly code?: string;
};

function projectOf(t: Cleanup, files: Readonly<Record<string, string>> = {}) {
  const directory = tempDir(t);
  const root = join(directory, 'project');
  const bin = join(directory, 'bin');
  for (const path of [root, bin]) mkdirSync(path);
  execaSync`git init -q ${root}`;
  const all = { '.tool/config/workflow.yaml': 'workflow:\n  team:\n    enabled: true\n', ...files };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const tool = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    runTool(args, { cwd: root, env: { ...cleanEnv(directory), PATH: `${bin}:${process.env.PATH ?? ''}`, ...env } });
  return {
    root,
    bin,
    tool,
    host: (version: string) => {
      writeFileSync(join(bin, 'claude'), `#!/bin/sh\necho "${version} (Claude Code)"\n`);
      chmodSync(join(bin, 'claude'), 0o755);
    },
    json: async (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
      JSON.parse((await tool([...args, '--json'], env)).stdout),
  };
}

test('a team from a shell: created, filled, asked to end, deleted', async (t) => {
  const { tool, json } = projectOf(t);
  assert.equal((await json(['team', 'create', TEAM, '--subject', 'SPEC-AUTH-001'])).state, 'created');
  assert.equal((await json(['team', 'spawn', TEAM, 'team-tester', '--prompt', 'Test it'])).member, 'tester');
  const as = { TOOL_TEAM: TEAM, TOOL_TEAMMATE: 'tester' };
  const added = await json(['team', 'task', 'create', 'Tests', '--owner', 'tester', '--file', 'tests/a.test.ts']);
  assert.deepEqual(added, { taskId: '1', subject: 'Tests', owner: 'tester', status: 'pending' });
  assert.equal((await json(['team', 'task', 'update', '1', 'in_progress'], as)).status, 'in_progress');
  await tool(['team', 'send', 'team-lead', 'bug_report', '{"test":"a:1","expected":"2","actual":"3"}'], as);
  const { messages } = await json(['team', 'inbox']);
  assert.deepEqual([messages[0].from, messages[0].content.actual], ['tester', '3']);
  assert.equal((await json(['team', 'lease', 'package.json', '--minutes', '5'], as)).state, 'leased');
  assert.equal((await json(['team', 'shutdown', 'done'])).to, 'all');
  const early = await tool(['team', 'delete', TEAM]);
  assert.equal(early.code, 1);
  assert.match(
    early.stderr,
    joined(
      wordsOf(OPERATIONS_CODES.team_has_live_members, { team: TEAM, members: ['tester (asked, not read)'], next: '' }),
      / Wait for them; after \d+ s more you can force it.* \(team_has_live_members\)$/,
    ),
  );
  await json(['team', 'create', 'tool-plan-other']);
  const gone = await tool(['team', 'delete', 'tool-plan-other']);
  assert.match(gone.stdout, /state: deleted\narchived: .*tool-plan-other-/);
});

test('refusals say what is valid and end with 1; what cannot be read ends with 2', async (t) => {
  const { tool } = projectOf(t);
  const unknown = await tool(['team', 'create', 'My Team']);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /team_name: expected tool-plan-<feature>/);
  const none = await tool(['team', 'task', 'list']);
  assert.match(none.stderr, lineLike(OPERATIONS_CODES.team_not_active, {}));
  assert.match(none.stderr, /`tool team create <team>`/);
  const broken = await tool(['team', 'send', 'all', 'progress', '{"half":']);
  assert.equal(broken.code, 2);
  assert.match(broken.stderr, /content: .*\(option_invalid\)$/m);
  assert.equal((await tool(['team', 'send', 'all'])).code, 2);
});

test('a shell of an agent inside a host is nobody in particular', async (t) => {
  const { tool, json } = projectOf(t);
  await json(['team', 'create', TEAM]);
  const { code, stderr } = await tool(['team', 'delete', TEAM], { CLAUDECODE: '1' });
  assert.equal(code, 1);
  assert.match(stderr, /this shell belongs to an agent of the host, and does not tell which/);
  const second = await tool(['team', 'create', 'tool-run-other'], { CLAUDECODE: '1' });
  assert.equal(second.code, 1);
  assert.match(
    second.stderr,
    lineLike(OPERATIONS_CODES.team_creator_unknown, {
      team: TEAM,
      why: /this shell belongs to an agent of the host.*/,
    }),
  );
});

test('a SPEC is listed, checked, and approved by a person only', async (t) => {
  const { root, tool, json } = projectOf(t, { '.tool/specs/SPEC-AUTH-001/spec.md': SPEC });
  assert.deepEqual(await json(['spec', 'list']), [
    {
      id: 'SPEC-AUTH-001',
      status: 'draft',
      title: 'Sign in',
      requirements: 1,
      counts: false,
      why: 'status: draft',
    },
  ]);
  const check = await tool(['spec', 'check', 'SPEC-AUTH-001']);
  assert.equal(check.code, 1);
  assert.equal(
    check.stdout,
    [
      'spec.md:1: created: expected a date like 2026-01-31, got nothing',
      'spec.md:1: updated: expected a date like 2026-01-31, got nothing',
      wordsOf(SPEC_CODES.spec_file_missing, { place: 'plan.md:1', file: 'plan.md' }),
      wordsOf(SPEC_CODES.spec_file_missing, { place: 'acceptance.md:1', file: 'acceptance.md' }),
      '',
    ].join('\n'),
  );
  assert.match(
    (await tool(['spec', 'check', 'SPEC-AUT-001'])).stderr,
    /Did you mean SPEC-AUTH-001\? \(spec_unknown\)$/m,
  );
  const agent = await tool(['spec', 'approve', 'SPEC-AUTH-001'], { CLAUDECODE: '1' });
  assert.equal(agent.code, 1);
  assert.match(agent.stderr, /\(person_only\)$/m);
  const approved = await tool(['spec', 'approve', 'SPEC-AUTH-001']);
  assert.match(approved.stdout, /SPEC-AUTH-001 is approved/);
  assert.equal(
    readFileSync(join(root, '.tool/specs/SPEC-AUTH-001/spec.md'), 'utf8'),
    SPEC.replace('status: draft', 'status: approved'),
  );
  assert.match(
    (await tool(['spec', 'list'])).stdout,
    /^SPEC-AUTH-001 {2}approved \(approved on \d{4}-\d{2}-\d{2}\) {2}1 req/,
  );
  writeFileSync(join(root, '.tool/specs/SPEC-AUTH-001/plan.md'), '# Plan\n');
  assert.match(
    (await tool(['spec', 'list'])).stdout,
    /^SPEC-AUTH-001 {2}approved, but .*: plan\.md changed after it was approved on .*; tool spec approve SPEC-AUTH-001 /,
  );
  const [row] = await json(['spec', 'list']);
  assert.deepEqual([row.status, row.counts], ['approved', false]);
});

/** A team that plans for SPEC-AUTH-001, in that state. */
async function planning(root: string, records: readonly TeamRecord[], subject = 'auth') {
  const team = `tool-plan-${subject}`;
  const log = new FileTeams({ root, now: Date.now }).begin(team);
  const created = { team, phase: 'plan', pattern: 'plan_research', roles: ['analyst'], subject } as const;
  for (const record of [rec('created', created), ...records]) assert.equal((await log.append(record)).refusal, null);
  await log.close();
  return () => {
    const now = new FileTeams({ root, now: Date.now }).open(team);
    void now?.close();
    return now?.state.session;
  };
}

const WRITTEN: readonly TeamRecord[] = [
  rec('member_registered', { name: 'analyst', agent: 'team-analyst' }),
  rec('member_spawned', { name: 'analyst' }),
  rec('task_created', { subject: 'Write the requirements', owner: 'analyst' }),
  rec('task_updated', { by: 'analyst' }),
  rec('task_updated', { by: 'analyst', status: 'completed' }),
  rec('moved', { event: 'spec_generated' }),
  rec('moved', { event: 'approval_asked' }),
];

test('the first word about a SPEC counts; who comes second is told, and changes nothing', async (t) => {
  const { root, tool } = projectOf(t, { '.tool/specs/SPEC-AUTH-001/spec.md': SPEC });
  const waiting = await planning(root, WRITTEN);
  const other = await planning(root, WRITTEN, 'log-out');
  assert.match((await tool(['spec', 'approve', 'SPEC-AUTH-001'])).stdout, /^SPEC-AUTH-001 is approved\nNext/);
  assert.deepEqual([waiting(), other()], ['approved', 'awaiting_approval']);
  const again = await tool(['spec', 'approve', 'SPEC-AUTH-001']);
  assert.equal(again.code, 0);
  assert.match(again.stdout, /^SPEC-AUTH-001 is approved already \(approved on \d{4}-\d{2}-\d{2}\)\nNext/);
});

test('what is being changed at the user’s word is not approved as it was', async (t) => {
  const { root, tool } = projectOf(t, { '.tool/specs/SPEC-AUTH-001/spec.md': SPEC });
  const changes = rec('task_created', { subject: 'Change SPEC-AUTH-001: otherwise', owner: 'analyst' });
  const session = await planning(root, [...WRITTEN, rec('moved', { event: 'changes_asked', by: 'user' }), changes]);
  const { code, stderr } = await tool(['spec', 'approve', 'SPEC-AUTH-001']);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /`\/tool:team-restart tool-plan-auth`.*`tool team delete tool-plan-auth`.* \(spec_change_in_progress\)$/m,
  );
  assert.equal(session(), 'working');
  assert.equal(readFileSync(join(root, '.tool/specs/SPEC-AUTH-001/spec.md'), 'utf8'), SPEC);
});

/** The row of that name. */
function row(rows: ReadonlyMap<string, Row>, name: string): Row {
  const found = rows.get(name);
  assert.ok(found !== undefined, `no row ${name}`);
  return found;
}

test('doctor: the three prerequisites, what is installed, and the team that stands', async (t) => {
  const { bin, json, host, tool } = projectOf(t);
  const rows = async (env: Readonly<Record<string, string>> = {}) => {
    const { checks } = await json(['doctor'], env);
    return new Map<string, Row>(checks.map((check: Row) => [check.name, check]));
  };
  const none = row(await rows({ PATH: bin }), 'team: host version');
  assert.deepEqual(
    [none.status, none.code, none.mend],
    ['warn', 'claude_not_runnable', 'npm install -g @anthropic-ai/claude-code'],
  );
  host('2.1.31');
  const old = await rows();
  assert.equal(row(old, 'team: host version').status, 'warn');
  assert.equal(row(old, 'team: host version').mend, 'claude update');
  assert.match(row(old, 'team: host version').says, /expected 2\.1\.32 or higher, got 2\.1\.31/);
  assert.match(row(old, 'team: variable').says, /expected TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS=1, got nothing/);
  assert.match(row(old, 'team mode').says, /not installed/);
  const shell = await rows({ TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: 'yes' });
  assert.match(row(shell, 'team: variable').says, /got "yes" from the shell/);
  assert.equal(row(old, 'daemon').status, 'ok');
  host('2.1.177');
  assert.equal((await tool(['init'])).code, 0);
  await json(['team', 'create', TEAM]);
  const now = await rows({ TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: 'yes' });
  assert.match(
    row(now, 'team: variable').says,
    /is 1 from \.claude\/settings\.json$/,
    'settings come before the shell',
  );
  assert.equal(row(now, 'team mode').status, 'ok');
  assert.match(row(now, 'team').says, new RegExp(`${TEAM} stands \\(created\\)`));
  host('2.1.100');
  const back = row(await rows(), 'team mode');
  assert.equal(back.status, 'fail');
  assert.match(back.says, wordsLike(DOCTOR_CODES.hooks_unknown_to_host, { host: '2.1.100' }));
});
