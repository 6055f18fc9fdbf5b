import assert from 'node:assert/strict';
import test from 'node:test';
import { type AgentText, readAgent } from '../../../src/agents/claude.ts';
import { memberSettings } from '../../../src/install/member-settings.ts';
import { memberArguments } from '../../../src/team/members/claude-members.ts';
import type { MemberRequest } from '../../../src/team/members/members-port.ts';
import { tempDir } from '../../support/temp.ts';

const RUN: MemberRequest = {
  team: 'tool-run-spec-auth-001',
  name: 'backend-dev',
  epoch: 2,
  agent: 'team-backend-dev',
  readOnly: false,
  model: 'inherit',
  cwd: '/work',
  env: {},
  prompt: 'Begin.',
  budgetUsd: null,
};

const OPTIONS = {
  version: '2.1.331',
  permissionMode: 'acceptEdits',
  allowedTools: ['Bash', 'Edit', 'Write', 'Read'],
  settings: '{"hooks":{}}',
};

const OWN: AgentText = {
  text: '---\nname: team-backend-dev\ntools:\n  - Read\n  - Write\n  - mcp__team__TaskUpdate\n---\nYou are ours.\n',
  isOwn: true,
};

/** The value after an option; undefined without it. */
function optionOf(args: readonly string[], option: string): string | undefined {
  const index = args.indexOf(option);
  return index === -1 ? undefined : args[index + 1];
}

function argumentsOf(
  run: Partial<MemberRequest> = {},
  found: AgentText | null = OWN,
  options: Partial<typeof OPTIONS> = {},
): readonly string[] {
  return memberArguments({ ...RUN, ...run }, found, { ...OPTIONS, ...options });
}

const AGENTS: readonly (readonly [string, string, AgentText | null, string | undefined, string | undefined])[] = [
  ["the project's own agent is the host's to read", '2.1.331', OWN, 'team-backend-dev', undefined],
  ['from 2.1.100 on', '2.1.100', OWN, 'team-backend-dev', undefined],
  ['before, its text is passed on', '2.1.33', OWN, undefined, 'You are ours.'],
  ['as is that of the package', '2.1.331', { ...OWN, isOwn: false }, undefined, 'You are ours.'],
  [
    'one that lists tools without the team is, or the host would keep the team from it',
    '2.1.331',
    { ...OWN, text: OWN.text.replace('mcp__team__TaskUpdate', 'Bash') },
    undefined,
    'You are ours.',
  ],
  ['where nobody wrote one, nothing is', '2.1.331', null, undefined, undefined],
];

for (const [what, version, found, agent, prompt] of AGENTS)
  test(`a teammate's text, ${version}: ${what}`, () => {
    const args = argumentsOf({}, found, { version });
    assert.equal(optionOf(args, '--agent'), agent);
    assert.equal(optionOf(args, '--append-system-prompt'), prompt);
  });

test('a teammate has the built-in tools of its text, and the team server alone', () => {
  const args = argumentsOf();
  assert.equal(optionOf(args, '--tools'), 'Read,Write');
  assert.equal(optionOf(args, '--allowedTools'), 'Bash,Edit,Write,Read,mcp__team');
  assert.ok(args.includes('--strict-mcp-config'));
  const config: unknown = JSON.parse(optionOf(args, '--mcp-config') ?? '');
  assert.ok(typeof config === 'object' && config !== null && 'mcpServers' in config);
  const text = JSON.stringify(config.mcpServers);
  assert.match(text, /"TOOL_TEAM":"tool-run-spec-auth-001","TOOL_TEAMMATE":"backend-dev","TOOL_TEAMMATE_RUN":"2"/);
  assert.match(text, /dist\/hooks\/team-server\.js/);
  assert.match(text, /"alwaysLoad":true/);
});

test('who names no tools is offered all of them', () => {
  const args = argumentsOf({}, { text: 'You are ours.', isOwn: true });
  assert.equal(optionOf(args, '--tools'), undefined);
  assert.equal(optionOf(args, '--disallowedTools'), undefined);
});

test('who only reads has nothing that writes files, whatever its text says', () => {
  const args = argumentsOf({ readOnly: true });
  assert.equal(optionOf(args, '--tools'), 'Read');
  assert.equal(optionOf(args, '--allowedTools'), 'Bash,Read,mcp__team');
  assert.equal(optionOf(args, '--disallowedTools'), 'Edit,Write,MultiEdit,NotebookEdit');
});

test('model and budget are passed where there is one', () => {
  const plain = argumentsOf();
  assert.equal(optionOf(plain, '--model'), undefined);
  assert.equal(optionOf(plain, '--max-budget-usd'), undefined);
  const set = argumentsOf({ model: 'sonnet', budgetUsd: 1.5 });
  assert.equal(optionOf(set, '--model'), 'sonnet');
  assert.equal(optionOf(set, '--max-budget-usd'), '1.5');
});

test('each role that the package brings tells its tools', async (t) => {
  const found = await readAgent(tempDir(t), 'team-quality');
  assert.equal(found?.isOwn, false);
  assert.equal(optionOf(argumentsOf({ agent: 'team-quality', readOnly: true }, found), '--tools'), 'Read,Grep,Glob');
});

test('hooks of a teammate guard writes and deliver mail, and decide nothing when it stops', () => {
  const settings: unknown = JSON.parse(memberSettings('/a place/hooks'));
  assert.ok(typeof settings === 'object' && settings !== null && 'hooks' in settings);
  const { hooks } = settings;
  assert.ok(typeof hooks === 'object' && hooks !== null);
  assert.deepEqual(Object.keys(hooks), ['PreToolUse', 'PostToolUse', 'PostToolUseFailure']);
  const text = JSON.stringify(hooks);
  assert.ok(text.includes("'/a place/hooks/pre-tool-use.js'"));
  assert.ok(!text.includes('mcp_tool'), 'every version reads them');
});
