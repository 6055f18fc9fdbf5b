// A teammate whose process does not reach its model says so in one way or another; what fails for other reasons does not.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import type { RunHooks } from '../../../src/agents/ports.ts';
import { RuntimeDir } from '../../../src/base/processes/runtime-dir.ts';
import { ClaudeMembers } from '../../../src/team/members/claude-members.ts';
import { inheritedBounds } from '../../../src/team/members/member-bounds.ts';
import { CommandMembers } from '../../../src/team/members/members.ts';
import type { MemberRequest } from '../../../src/team/members/members-port.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';

const HOOKS: RunHooks = {
  onStarted: () => Promise.resolve(),
  onEvent: () => undefined,
  output: () => undefined,
  nextTurn: () => Promise.resolve(null),
  signal: new AbortController().signal,
};

function placeOf(t: Cleanup) {
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  const cwd = tempDir(t);
  const run: MemberRequest = {
    team: 'tool-run-spec-auth-001',
    name: 'tester',
    epoch: 1,
    agent: 'team-tester',
    readOnly: false,
    model: 'inherit',
    cwd,
    env: {},
    prompt: 'Begin.',
    budgetUsd: null,
  };
  const home = {
    stateDir: join(cwd, 'state'),
    runtime,
    env: { PATH: process.env.PATH },
    passed: [],
    bounds: BOUNDS,
    mark: 'test',
  };
  return { run, home };
}

const BOUNDS = inheritedBounds();

const PROGRAMS: readonly (readonly [string, boolean])[] = [
  ['echo working; echo "API Error: Connection error."; exit 1', true],
  ['echo "fetch failed: getaddrinfo ENOTFOUND api.example.com" >&2; exit 1', true],
  ['echo "API Error: 529 overloaded_error"; exit 1', true],
  ['exit 69', true],
  ['exit 75', true],
  ['echo "ECONNREFUSED in a test of the shop"; echo "I give up"; exit 1', false],
  ['echo "API Error: 401 invalid api key"; exit 1', false],
  ['exit 3', false],
];

for (const [command, isNetwork] of PROGRAMS)
  test(`a program: ${command}`, async (t) => {
    const { run, home } = placeOf(t);
    const end = await new CommandMembers({ ...home, command, more: {} }).run(run, HOOKS);
    assert.deepEqual([end.ok, end.isNetwork], [false, isNetwork], end.words);
  });

const RESULTS: readonly (readonly [string, boolean])[] = [
  ['API Error: Connection error.', true],
  ['API Error: Request timed out.', true],
  ['API Error: Unable to connect to API (ECONNREFUSED)', true],
  ['API Error: 500 {"type":"error"}', true],
  ['API Error: 401 {"error":{"type":"authentication_error","message":"invalid x-api-key"}}', false],
  ['Invalid API key · Please run /login', false],
  ['Claude AI usage limit reached', false],
  ['I could not write the file', false],
];

for (const [result, isNetwork] of RESULTS)
  test(`Claude Code: ${result}`, async (t) => {
    const { run, home } = placeOf(t);
    const line = JSON.stringify({ type: 'result', subtype: 'success', is_error: true, result });
    const members = new ClaudeMembers({
      ...home,
      command: ['sh', '-c', `read prompt; printf '%s\\n' '${line}'`],
      version: '2.1.331',
      permissionMode: 'acceptEdits',
      allowedTools: [],
      settings: '{}',
    });
    const end = await members.run(run, HOOKS);
    assert.deepEqual([end.ok, end.isNetwork], [false, isNetwork], end.words);
  });
