// The agents that this package brings: what their texts say is what the program does.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import test from 'node:test';
import * as z from 'zod';
import { parseFrontMatter } from '../../src/base/config/front-matter.ts';
import { DEFAULT_OWNERSHIP } from '../../src/team/rules/default-ownership.ts';
import { MESSAGES, type MessageType } from '../../src/team/rules/message.ts';
import { agentOf, ROLES, type RoleName, roleOfAgent } from '../../src/team/rules/role.ts';

const frontMatter = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/),
  // Hosts show it to every session, with the tools.
  description: z.string().min(5).max(30),
  model: z.enum(['inherit', 'haiku']),
  tools: z.string().optional(),
  permissionMode: z.literal('acceptEdits').optional(),
  skills: z.string().optional(),
});

function readAgent(name: string) {
  const text = readFileSync(join('agents', `${name}.md`), 'utf8');
  const { data, content } = parseFrontMatter(text, name);
  return { text, content, ...frontMatter.parse(data) };
}

for (const file of readdirSync('agents')) {
  test(`${file}: a name, a description, a short body that names the commands there are`, () => {
    const { text, content, name } = readAgent(basename(file, '.md'));
    assert.equal(name, basename(file, '.md'));
    assert.notEqual(content.trim(), '');
    assert.ok(content.trim().split('\n').length <= 43, 'at most 43 lines');
    assert.doesNotMatch(text, /\r|\t|[ \t]$/m);
    assert.ok(
      content.split('\n').every((line) => line.length <= 130),
      'lines a person can read',
    );
  });
}

test('the leading agent is told every command with which work is handed in', () => {
  const text = readFileSync(join('agents', 'jarvis.md'), 'utf8');
  for (const command of [
    'tool issue show',
    'tool issue comment',
    'tool issue ask',
    'tool issue done',
    'tool pr create',
  ])
    assert.ok(text.includes(command), command);
});

test('every role has its agent, and every agent of a team its role', () => {
  const agents = readdirSync('agents').map((file) => basename(file, '.md'));
  assert.deepEqual(
    agents.filter((name) => name !== 'jarvis'),
    Object.keys(ROLES).map(agentOf).sort(),
  );
  for (const name of agents) assert.ok(name === 'jarvis' || roleOfAgent(name) !== undefined, name);
});

const TEAM_TOOLS = ['SendMessage', 'TaskUpdate', 'TaskList', 'TaskGet', 'Inbox'];

/** Each tool that an agent lists costs every session: none has one that it does not need. */
function teamToolsOf({ name, readOnly }: (typeof ROLES)[RoleName]): readonly string[] {
  const makesTasks = name === 'backend-dev' || name === 'frontend-dev';
  return [...TEAM_TOOLS, ...(makesTasks ? ['TaskCreate'] : []), ...(readOnly ? [] : ['FileLease'])];
}

const WRITES = ['Edit', 'Write', 'MultiEdit', 'NotebookEdit'];

/** The types that a role sends, by the table of the specification, and those it acts upon. */
const TYPES: Readonly<Record<RoleName, readonly MessageType[]>> = {
  researcher: ['progress'],
  analyst: ['progress'],
  architect: ['progress'],
  'backend-dev': ['api_ready', 'bug_report', 'change_request', 'change_completed', 'progress'],
  'frontend-dev': ['api_ready', 'component_ready', 'change_request', 'change_completed', 'progress'],
  designer: ['change_request', 'change_completed', 'progress'],
  tester: ['component_ready', 'tests_passed', 'bug_report', 'coverage_required', 'change_request', 'change_completed'],
  quality: ['tests_passed', 'quality_gate_passed', 'coverage_required', 'change_request'],
  'hypothesis-1': ['progress'],
  'hypothesis-2': ['progress'],
  'hypothesis-3': ['progress'],
};

function shapeOf(type: MessageType): string {
  const fields = MESSAGES[type].content;
  if (fields === 'text') return '';
  const names = Object.entries(fields).map(([name, { optional }]) => (optional === true ? `${name}?` : name));
  return ` {${names.join(', ')}}`;
}

for (const role of Object.values(ROLES)) {
  test(`${role.name}: model, skill, tools, files and messages are those of the code`, () => {
    const { model, permissionMode, skills, tools = '', content } = readAgent(agentOf(role.name));
    assert.equal(model, role.model);
    // Where nothing asks the user about agents in the background, the host refuses each of their writes.
    assert.equal(permissionMode, role.readOnly ? undefined : 'acceptEdits');
    assert.equal(skills ?? null, role.skill);
    const names = tools.split(', ');
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual(
      names.filter((name) => name.startsWith('mcp__')).sort(),
      teamToolsOf(role)
        .map((tool) => `mcp__plugin_tool_team__${tool}`)
        .sort(),
    );
    const own = names.filter((name) => !name.startsWith('mcp__'));
    assert.deepEqual(
      own.filter((name) => WRITES.includes(name)),
      role.readOnly ? [] : ['Edit', 'Write'],
    );
    assert.equal(own.includes('Bash'), !role.readOnly || role.phase === 'debug');
    for (const tool of ['Read', 'Grep', 'Glob']) assert.ok(own.includes(tool), tool);

    const flat = content.replace(/\s+/g, ' ');
    for (const word of ['TaskGet', 'TaskUpdate', 'Inbox', 'in_progress', 'completed', 'shutdown_request', 'team-lead'])
      assert.ok(flat.includes(`\`${word}\``), word);
    assert.match(flat, new RegExp(`^ You are \`${role.name}\` |^You are \`${role.name}\` `));
    const patterns = DEFAULT_OWNERSHIP.find(({ owner }) => owner === role.name)?.patterns ?? [];
    const shared = DEFAULT_OWNERSHIP.find(({ owner }) => owner === 'shared')?.patterns ?? [];
    assert.deepEqual(
      [...flat.matchAll(/`([^` ]*\*[^` ]*)`/g)].map((match) => match[1]),
      role.readOnly ? [] : [...patterns, ...shared],
    );
    const said = Object.keys(MESSAGES).filter((type) => flat.includes(`\`${type}\``));
    assert.deepEqual(said.sort(), [...TYPES[role.name], 'shutdown_request'].sort());
    for (const type of TYPES[role.name]) assert.ok(flat.includes(`\`${type}\`${shapeOf(type)}`), type);
    for (const name of flat.match(/`hypothesis-\d`/g) ?? []) assert.ok(name.slice(1, -1) in ROLES, name);
  });
}
