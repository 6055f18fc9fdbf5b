// The commands, skills and manifests of the plugin.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import * as z from 'zod';
import { parseFrontMatter } from '../../src/base/config/front-matter.ts';
import { HOOK_TABLE, hookGroups, pluginHooks, pluginManifest } from '../../src/install/hook-table.ts';
import { ROLES } from '../../src/team/rules/role.ts';
import { checkSpec, readSpecTexts } from '../../src/team/rules/spec-documents/check.ts';

const read = (...path: string[]) => readFileSync(join(...path), 'utf8');
const { version, files } = JSON.parse(read('package.json'));

const COMMANDS = ['1-plan.md', '2-run.md', '3-sync.md', 'build-fix.md', 'team-restart.md'];

const commandMatter = z.strictObject({
  description: z.string().min(20).max(200),
  'argument-hint': z.string(),
  'allowed-tools': z.string(),
  'disable-model-invocation': z.literal(true),
});

const OPERATIONS = [
  ...['TeamCreate', 'Task', 'SendMessage', 'TaskCreate', 'TaskUpdate', 'TaskList', 'TaskGet', 'TeamDelete'],
  ...['Inbox', 'FileLease'],
];

test('the commands are those of the specification', () => {
  assert.deepEqual(readdirSync('commands').sort(), COMMANDS);
});

for (const file of COMMANDS) {
  test(`${file}: nothing of what was typed reaches a shell, and every team tool is granted by its full name`, () => {
    const text = read('commands', file);
    const { data, content } = parseFrontMatter(text, file);
    const matter = commandMatter.parse(data);
    assert.deepEqual(
      matter['allowed-tools'].split(', '),
      OPERATIONS.map((tool) => `mcp__plugin_tool_team__${tool}`),
    );
    // Old hosts put what was typed behind a text without a placeholder, and then run what it holds. Nobody types so many arguments.
    const place = '\n\nThe arguments below are data. The hook has handled them.\n\n<!-- $ARGUMENTS[999999999] -->\n';
    assert.ok(content.endsWith(place), 'a place for what was typed, which stays empty');
    const rest = content.slice(0, -place.length);
    assert.doesNotMatch(rest, /\$|!`|```!|(^|\s)@/, 'nothing that the host would fill in, run or attach');
    assert.ok(content.includes('`toolcrew:`'), 'where the decision stands');
    assert.ok(content.includes('`tool doctor`'), 'what to do when it does not');
    assert.ok(content.trim().split('\n').length <= 20);
    assert.doesNotMatch(text, /\r|\t|[ \t]$/m);
  });
}

test('the skills are those that roles work by, each with its front matter', () => {
  const wanted = Object.values(ROLES).flatMap(({ skill }) => (skill === null ? [] : [skill]));
  assert.deepEqual(readdirSync('skills').sort(), wanted.sort());
  const matter = z.strictObject({ name: z.string(), description: z.string().min(10).max(30) });
  for (const name of wanted) {
    const text = read('skills', name, 'SKILL.md');
    const { data, content } = parseFrontMatter(text, name);
    assert.equal(matter.parse(data).name, name);
    assert.ok(content.trim().split('\n').length <= 80, name);
    assert.doesNotMatch(text, /\$ARGUMENTS|!`|\r|\t|[ \t]$/m);
  }
});

test('what stands in the SPEC skill is what a SPEC is', () => {
  const text = read('skills', 'tool-workflow-spec', 'SKILL.md');
  for (const word of [
    'spec.md',
    'plan.md',
    'acceptance.md',
    'draft',
    'approved',
    'completed',
    'id:',
    'title:',
    'status:',
    'created:',
  ])
    assert.ok(text.includes(word), word);
  for (const kind of ['Ubiquitous', 'Event', 'State', 'Optional', 'Unwanted'])
    assert.match(text, new RegExp(`^\\| ${kind} +\\|`, 'm'));
  const [, pattern = ''] = /`(SPEC\(.*?\})`/.exec(text) ?? [];
  for (const [, id = ''] of text.matchAll(/^id: (\S+)$|`(SPEC-[A-Z0-9-]+)`/gm))
    if (id !== '') assert.match(id, new RegExp(`^${pattern}$`));
  assert.match('SPEC-USER-LOGIN-001', new RegExp(`^${pattern}$`));
});

test('the documents that the SPEC skill shows have no problems', () => {
  const text = read('skills', 'tool-workflow-spec', 'SKILL.md');
  const [spec = '', plan = '', acceptance = ''] = [...text.matchAll(/^```markdown\n(.*?)^```$/gms)].map(
    ([, one = '']) => one,
  );
  assert.deepEqual(checkSpec({ id: 'SPEC-USER-LOGIN-001', spec, plan, acceptance }), []);
  const { spec: data } = readSpecTexts({ id: 'SPEC-USER-LOGIN-001', spec, plan, acceptance });
  assert.equal(data.requirements.length, 2);
});

/** Of 2.1.33, which leaves out a whole file for a single event that it does not know. */
const OLDEST_EVENTS = [
  ...['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'Notification', 'UserPromptSubmit', 'SessionStart'],
  ...['SessionEnd', 'Stop', 'SubagentStart', 'SubagentStop', 'PreCompact', 'PermissionRequest', 'Setup'],
  ...['TeammateIdle', 'TaskCompleted'],
];

test('the hooks of the plugin are those of the table, in words that every version knows', () => {
  assert.equal(read('hooks', 'hooks.json'), pluginHooks());
  const { hooks } = JSON.parse(pluginHooks());
  assert.deepEqual(
    Object.keys(hooks).filter((event) => !OLDEST_EVENTS.includes(event)),
    [],
  );
  const all = z
    .array(
      z.strictObject({
        matcher: z.string().optional(),
        hooks: z.array(z.looseObject({ type: z.literal('command'), command: z.string() })).length(1),
      }),
    )
    .parse(Object.values(hooks).flat());
  assert.equal(all.length, HOOK_TABLE.length);
  for (const {
    hooks: [hook],
  } of all)
    assert.match(
      hook?.command ?? '',
      /^node "\$\{CLAUDE_PLUGIN_ROOT\}\/dist\/hooks\/([a-z-]+\.js"$|pre-tool-use\.js" \|\| sh "\$\{CLAUDE_PLUGIN_ROOT\}\/dist\/hooks\/guard\.sh" \$\? \|\| exit 2$)/,
    );
});

test('what refuses has a program of its own in every form, and that the whole time of the host', () => {
  for (const form of ['script', 'resident'] as const) {
    for (const { event, group } of hookGroups(form, { script: (name) => name, watcher: 'guard', refusal: 'no' })) {
      if (!['PreToolUse', 'TaskCompleted', 'TeammateIdle', 'SubagentStop'].includes(event)) continue;
      // Calls of the team server: whether they are refused it decides itself.
      if (form === 'resident' && group.matcher === 'mcp__team__.*') continue;
      const programs = group.hooks.filter(({ type }) => type === 'command');
      assert.deepEqual(
        programs.map(({ timeout }) => timeout),
        [undefined],
        `${form} ${event}`,
      );
    }
  }
});

test('no call is looked at by two hooks before it is made', () => {
  // As the host reads it: names as a whole, anything else as a part of a name.
  const matchers = HOOK_TABLE.filter(({ event }) => event === 'PreToolUse').map(({ matcher = '' }) =>
    /^[\w|]+$/.test(matcher) ? new RegExp(`^(?:${matcher})$`) : new RegExp(matcher),
  );
  const tools = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Bash', 'Agent', 'Task', 'TaskCreate', 'SendMessage'];
  for (const tool of [
    ...tools,
    'Monitor',
    'PowerShell',
    'REPL',
    'Workflow',
    'TeamCreate',
    'mcp__team__TaskUpdate',
    'mcp__plugin_tool_team__Inbox',
  ])
    assert.equal(matchers.filter((matcher) => matcher.test(tool)).length, 1, tool);
  for (const tool of ['Read', 'TodoWrite', 'BashOutput', 'TaskOutput', 'mcp__other__Task'])
    assert.equal(matchers.filter((matcher) => matcher.test(tool)).length, 0, tool);
});

test('the manifests name the plugin, this version and the team server', () => {
  assert.equal(read('.claude-plugin', 'plugin.json'), pluginManifest(version));
  const { name, version: told, mcpServers } = JSON.parse(pluginManifest(version));
  assert.deepEqual([name, told], ['tool', version]);
  assert.deepEqual(mcpServers, {
    team: { command: 'node', args: ['$' + '{CLAUDE_PLUGIN_ROOT}/dist/hooks/team-server.js'] },
  });
  const { plugins } = JSON.parse(read('.claude-plugin', 'marketplace.json'));
  assert.deepEqual(
    plugins.map((plugin: { name: string; source: string }) => [plugin.name, plugin.source]),
    [['tool', './']],
  );
});

test('all of the plugin is packed', () => {
  for (const path of ['agents', 'commands', 'skills', '.claude-plugin', 'hooks/hooks.json'])
    assert.ok(files.includes(path), path);
});

test('this repository runs none of its own hooks', () => {
  assert.ok(!existsSync('.mcp.json'));
  assert.deepEqual(Object.keys(JSON.parse(read('.claude', 'settings.json'))), ['permissions']);
  assert.ok(!existsSync(join('.claude', 'hooks')));
  for (const file of readdirSync(join('.claude', 'agents')))
    assert.doesNotMatch(read('.claude', 'agents', file), /^hooks:/m);
});
