// Installing into a project and out of it again: to the byte, once, all or nothing, and never over what is somebody's.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { performAll } from '../../src/install/file-operations.ts';
import type { HookGroup } from '../../src/install/hook-table.ts';
import { outcomesWith, planUninstall } from '../../src/install/install.ts';
import type { Outcome } from '../../src/install/outcome.ts';
import { INSTALL_CODES } from '../../src/install/rules/install-codes.ts';
import { hasProblem, isOf } from '../support/codes.ts';
import { install, packageOf, planned, projectOf, type Tree, treeOf, writeTree } from '../support/installed.ts';

const SETTINGS = '.claude/settings.json';
const CONFIG = '.tool/config/workflow.yaml';

function uninstall(root: string): readonly Outcome[] {
  const { operations, outcomes } = planUninstall(root);
  performAll(root, operations);
  return outcomes;
}

const read = (root: string, path: string) => readFileSync(join(root, path), 'utf8');
const told = (outcomes: readonly Outcome[], did: Outcome['did']) =>
  outcomes.filter((one) => one.did === did).map(({ path, note }) => (note === undefined ? path : `${path}: ${note}`));

const HOOKED = {
  model: 'opus',
  hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './mine.sh' }] }] },
  permissions: { allow: ['Bash(npm test)'], deny: ['Read(.env)'] },
};

const PROJECTS: Readonly<Record<string, Tree>> = {
  'with nothing': {},
  'with files of its own beside ours': {
    '.claude/agents/reviewer.md': 'mine',
    '.claude/commands/ship.md': 'mine',
    '.claude/skills/brew/SKILL.md': 'mine',
    '.tool/specs/SPEC-A-001/spec.md': 'mine',
  },
  'with settings in two spaces': { [SETTINGS]: `${JSON.stringify(HOOKED, null, 2)}\n` },
  'with settings in tabs and no line break at the end': { [SETTINGS]: JSON.stringify(HOOKED, null, '\t') },
  'with settings on one line': { [SETTINGS]: JSON.stringify(HOOKED) },
  'with settings in lines of Windows': { [SETTINGS]: JSON.stringify(HOOKED, null, 2).replaceAll('\n', '\r\n') },
  'with settings behind a byte order mark': { [SETTINGS]: `\uFEFF${JSON.stringify(HOOKED, null, 4)}` },
  'with an empty object for settings': { [SETTINGS]: '{}' },
  'with an empty file for settings': { [SETTINGS]: '' },
  'with settings of blanks alone': { [SETTINGS]: ' \n\n' },
  'with servers of its own': { '.mcp.json': '{"mcpServers": {"other": {"command": "x", "args": []}}}' },
  'with the same permissions and variables': {
    [SETTINGS]: '{"env":{"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS":"1"},"permissions":{"allow":["mcp__team"]}}',
  },
  'that has allowed servers of its own': { [SETTINGS]: '{\n  "enabledMcpjsonServers": ["other"]\n}\n' },
  'that has allowed the team server': { [SETTINGS]: '{"enabledMcpjsonServers": ["team", "other"]}' },
  'with its own agent for issues and its own configuration': {
    '.claude/agents/jarvis.md': 'mine',
    [CONFIG]: 'mine: true\n',
    '.tool/.gitignore': 'mine\n',
  },
};

for (const [name, files] of Object.entries(PROJECTS)) {
  test(`a project ${name} is the same to the byte after both ways`, (t) => {
    const root = projectOf(t, files);
    if (files[SETTINGS] !== undefined) chmodSync(join(root, SETTINGS), 0o640);
    const before = treeOf(root);
    install(t, root);
    const value = JSON.parse(read(root, SETTINGS).replace(/^\uFEFF/, ''));
    assert.equal(value.env.TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS, '1');
    assert.ok(value.enabledMcpjsonServers.includes('team'), 'nobody is asked whether the server may start');
    assert.equal(value.hooks.PreToolUse.length, JSON.stringify(files).includes('mine.sh') ? 5 : 4);
    assert.equal(JSON.parse(read(root, '.mcp.json')).mcpServers.team.command, 'node');
    for (const [path, text] of Object.entries(files))
      if (!path.endsWith('.json')) assert.equal(read(root, path), text, path);
    uninstall(root);
    assert.deepEqual(treeOf(root), before);
  });

  test(`a project ${name}: a second time nothing changes`, (t) => {
    const root = projectOf(t, files);
    install(t, root);
    const before = treeOf(root);
    const again = install(t, root);
    assert.deepEqual(again.operations, []);
    assert.deepEqual(treeOf(root), before);
  });
}

test('the manifest and the scripts say what they are, and are enough for a clone', (t) => {
  const root = projectOf(t);
  install(t, root);
  const { version, files } = JSON.parse(read(root, '.tool/hooks/version.json'));
  assert.equal(version, '1.0.0');
  assert.deepEqual(Object.keys(files).sort(), [
    'guard.sh',
    'package.json',
    'post-tool-use',
    'pre-tool-use',
    'session-start',
    'stop',
    'subagent-start',
    'subagent-stop',
    'task-completed',
    'team-server',
    'teammate-idle',
    'user-prompt-submit',
  ]);
  assert.equal(JSON.parse(read(root, '.tool/hooks/package.json')).type, 'module');
  assert.deepEqual(JSON.parse(read(root, '.mcp.json')).mcpServers.team.args, ['.tool/hooks/team-server']);
  assert.equal(read(root, CONFIG), 'workflow: {}\n');
  assert.deepEqual(read(root, '.tool/.gitignore').split('\n'), ['teams/', 'cache/', 'state/', '']);
});

test('what a person has written since stays, and is named', (t) => {
  const root = projectOf(t);
  install(t, root);
  writeTree(root, {
    '.claude/agents/team-tester.md': 'mine now',
    [CONFIG]: 'mine: true\n',
    '.tool/specs/SPEC-A-001/spec.md': 'mine',
    '.tool/teams/tool-run-x/log.jsonl': 'mine',
    [SETTINGS]: read(root, SETTINGS).replace(
      '"TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"',
      '"TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS": "0"',
    ),
  });
  const outcomes = uninstall(root);
  assert.deepEqual(told(outcomes, 'kept'), [
    '.claude/agents/team-tester.md: you have changed it',
    `${CONFIG}: you have changed it`,
    '.tool/specs: yours',
    '.tool/teams: yours',
  ]);
  assert.deepEqual(told(outcomes, 'changed'), [
    `${SETTINGS}: left as you changed it: env.TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: "0"`,
  ]);
  assert.deepEqual(
    Object.keys(treeOf(root)).filter((path) => /\.(md|json|yaml|jsonl|js)$/.test(path)),
    [
      '.claude/agents/team-tester.md',
      SETTINGS,
      CONFIG,
      '.tool/specs/SPEC-A-001/spec.md',
      '.tool/teams/tool-run-x/log.jsonl',
    ],
  );
  assert.deepEqual(JSON.parse(read(root, SETTINGS)), { env: { TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: '0' } });
  assert.throws(() => planUninstall(root), isOf(INSTALL_CODES.installation_missing, { path: root }));
});

test('what a team that stands goes on from stays, and is said; without one, what can be made again goes', (t) => {
  const root = projectOf(t);
  const before = treeOf(root);
  install(t, root);
  const files = {
    '.tool/teams/tool-run-x/log.jsonl': '{}',
    '.tool/cache/objects/ab/cd': 'x',
    '.tool/cache/checks/k.json': '{}',
    '.tool/state/server-1': '7 8',
  };
  writeTree(root, files);
  const { operations, outcomes } = planUninstall(root, ['tool-run-x']);
  performAll(root, operations);
  assert.deepEqual(told(outcomes, 'kept'), [
    '.tool/cache: of tool-run-x',
    '.tool/state: of tool-run-x',
    '.tool/teams: team tool-run-x stands: `tool team delete tool-run-x` ends it, after `tool init` it goes on',
  ]);
  for (const path of Object.keys(files)) assert.ok(existsSync(join(root, path)), path);
  install(t, root);
  rmSync(join(root, '.tool', 'teams'), { recursive: true });
  const after = uninstall(root);
  assert.deepEqual(told(after, 'kept'), []);
  assert.ok(told(after, 'removed').includes('.tool/cache'));
  // It was there before the second installation.
  assert.deepEqual(Object.keys(treeOf(root)).sort(), [...Object.keys(before), '.tool'].sort());
});

test('what can be made again and cannot be removed stays, with the reason; all else is out', (t) => {
  const root = projectOf(t);
  const before = treeOf(root);
  install(t, root);
  writeTree(root, { '.tool/cache/a/b': 'x', '.tool/state/server-1': '7 8' });
  const { operations, outcomes } = planUninstall(root);
  // As where a file belongs to somebody else: a part of it goes, then it throws.
  const left = performAll(root, operations, (path) => {
    rmSync(path.endsWith('/cache') ? join(path, 'a', 'b') : path, { recursive: true });
    if (path.endsWith('/cache')) throw new Error(`EACCES: permission denied, ${path}/a`);
  });
  const after = outcomesWith(outcomes, left);
  assert.deepEqual(told(after, 'kept'), [
    `.tool/cache: cannot be removed: EACCES: permission denied, ${root}/.tool/cache/a`,
  ]);
  assert.ok(told(after, 'removed').includes('.tool/state'));
  assert.deepEqual(
    Object.keys(treeOf(root)).sort(),
    [...Object.keys(before), '.tool', '.tool/cache', '.tool/cache/a'].sort(),
  );
  assert.throws(() => planUninstall(root), isOf(INSTALL_CODES.installation_missing, { path: root }));
});

test('a newer version replaces what nobody touched, and puts its text beside what somebody did', (t) => {
  const root = projectOf(t);
  const before = treeOf(root);
  const [from, later] = [packageOf(t), packageOf(t, (name) => `// newer ${name}\n`)];
  install(t, root, { from });
  writeFileSync(join(root, '.claude/agents/team-tester.md'), 'mine now');
  writeFileSync(join(root, '.claude/agents/team-quality.md'), 'mine too');
  writeFileSync(join(later, 'agents/team-tester.md'), 'newer text');
  rmSync(join(later, 'commands/3-sync.md'));
  const { outcomes } = install(t, root, { from: later, version: '2.0.0' });
  assert.deepEqual(told(outcomes, 'kept'), [
    '.claude/agents/team-quality.md: you have changed it',
    '.claude/agents/team-tester.md: you have changed it; its newer text is .claude/agents/team-tester.md.new',
  ]);
  assert.deepEqual(told(outcomes, 'removed'), ['.claude/commands/tool/3-sync.md']);
  assert.equal(read(root, '.claude/agents/team-tester.md'), 'mine now');
  assert.equal(read(root, '.claude/agents/team-tester.md.new'), 'newer text');
  assert.equal(read(root, '.tool/hooks/stop'), '// newer stop\n');
  assert.deepEqual(install(t, root, { from: later, version: '2.0.0' }).operations, []);
  for (const name of ['tester', 'quality']) rmSync(join(root, `.claude/agents/team-${name}.md`));
  uninstall(root);
  assert.deepEqual(treeOf(root), before);
});

test('another version of the host gets its own hooks, in the place of those that were there', (t) => {
  const root = projectOf(t, { [SETTINGS]: `${JSON.stringify(HOOKED, null, 2)}\n` });
  const before = treeOf(root);
  const types = () => read(root, SETTINGS).match(/"type": "mcp_tool"/g)?.length ?? 0;
  install(t, root, { host: '2.1.100' });
  const old = read(root, SETTINGS);
  assert.equal(types(), 0);
  install(t, root, { host: '2.1.118' });
  assert.equal(types(), 4);
  const groups: readonly HookGroup[] = JSON.parse(read(root, SETTINGS)).hooks.PreToolUse;
  const guard = groups.find(({ hooks }) => hooks[0]?.type === 'mcp_tool')?.hooks.map(({ timeout }) => timeout);
  assert.deepEqual(
    guard,
    [30, undefined],
    'a stopped server is not waited for as long as the shell beside it may take',
  );
  install(t, root, { host: null });
  assert.equal(read(root, SETTINGS).length, old.length);
  assert.equal(types(), 0);
  uninstall(root);
  assert.deepEqual(treeOf(root), before);
});

test('without its manifest an installation is taken for ours again, and comes out', (t) => {
  const root = projectOf(t);
  install(t, root);
  rmSync(join(root, '.tool'), { recursive: true });
  install(t, root);
  uninstall(root);
  const left = JSON.parse(read(root, SETTINGS));
  assert.equal(left.hooks, undefined);
  assert.deepEqual(
    Object.keys(left),
    ['env', 'permissions', 'enabledMcpjsonServers'],
    'what could as well be somebody else’s stays',
  );
  assert.deepEqual(JSON.parse(read(root, '.mcp.json')), {});
  assert.ok(!existsSync(join(root, '.claude/agents/team-tester.md')));
});

test('what stands in the way is named with what is wanted, all at once; --force replaces it, and it comes back', (t) => {
  const files = {
    [SETTINGS]: '{"env": {"TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS": "0"}}',
    '.mcp.json': '{"mcpServers": {"team": {"command":"other"}}}',
    '.claude/agents/team-tester.md': 'mine',
  };
  const root = projectOf(t, files);
  const before = treeOf(root);
  assert.throws(
    () => planned(t, root),
    (error) => {
      isOf(INSTALL_CODES.install_blocked)(error);
      hasProblem(INSTALL_CODES.file_in_the_way, {
        path: '.claude/agents/team-tester.md',
        kept: '.tool/before/.claude/agents/team-tester.md',
      })(error);
      hasProblem(INSTALL_CODES.entry_in_the_way, {
        path: '.mcp.json',
        key: 'mcpServers.team',
        got: '{"command":"other"}',
        expected: '{"command":"node","args":[".tool/hooks/team-server"]}',
      })(error);
      return hasProblem(INSTALL_CODES.entry_in_the_way, {
        path: '.claude/settings.json',
        key: 'env.TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS',
        got: '"0"',
        expected: '"1"',
      })(error);
    },
  );
  assert.deepEqual(treeOf(root), before);
  install(t, root, { force: true });
  assert.equal(JSON.parse(read(root, SETTINGS)).env.TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS, '1');
  assert.equal(read(root, '.tool/before/.claude/agents/team-tester.md'), 'mine');
  assert.deepEqual(install(t, root).operations, []);
  uninstall(root);
  assert.deepEqual(treeOf(root), before);
});

test('a replaced value that somebody has changed or taken out since comes back as it is then', (t) => {
  const theirs = (value: string) => `{"env": {${value}}}`;
  for (const now of ['"TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS": "2"', '']) {
    const root = projectOf(t, { [SETTINGS]: theirs('"TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS": "0"') });
    install(t, root, { force: true });
    const text = read(root, SETTINGS);
    writeFileSync(join(root, SETTINGS), text.replace(/"TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"/, now));
    install(t, root, { force: true });
    assert.equal(JSON.parse(read(root, SETTINGS)).env.TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS, '1');
    assert.deepEqual(install(t, root).operations, []);
    uninstall(root);
    assert.equal(read(root, SETTINGS), theirs(now));
  }
});

test('hooks that somebody has changed stay as they are', (t) => {
  const root = projectOf(t);
  install(t, root);
  writeFileSync(join(root, SETTINGS), read(root, SETTINGS).replace('"Write|Edit|', '"Write|'));
  const { outcomes, operations } = install(t, root);
  assert.deepEqual(operations, []);
  assert.deepEqual(
    told(outcomes, 'unchanged').filter((line) => line.includes(': ')),
    [`${SETTINGS}: left as you changed it: hooks.PreToolUse`],
  );
});

test('what was broken off anywhere is made whole by another run, and comes out whole', (t) => {
  const [from, later] = [packageOf(t), packageOf(t, (name) => `// newer ${name}\n`)];
  const clean = projectOf(t);
  const empty = treeOf(clean);
  install(t, clean, { from });
  const first = treeOf(clean);
  install(t, clean, { from: later, version: '2.0.0', host: '2.1.100' });
  const second = treeOf(clean);
  const count = planned(t, projectOf(t), { from }).operations.length;
  for (let done = 2; done < count; done += 5) {
    const root = projectOf(t);
    performAll(root, planned(t, root, { from }).operations.slice(0, done));
    install(t, root, { from });
    assert.deepEqual(treeOf(root), first, `${done} of ${count}`);
    const { operations } = planned(t, root, { from: later, version: '2.0.0', host: '2.1.100' });
    performAll(root, operations.slice(0, Math.min(done, operations.length - 1)));
    install(t, root, { from: later, version: '2.0.0', host: '2.1.100' });
    assert.deepEqual(treeOf(root), second, `${done} of the second`);
    const removal = planUninstall(root).operations;
    performAll(root, removal.slice(0, Math.min(done, removal.length - 30)));
    uninstall(root);
    assert.deepEqual(treeOf(root), empty, `${done} of the removal`);
  }
});

test('what was lost is put back', (t) => {
  const root = projectOf(t);
  install(t, root);
  const before = treeOf(root);
  rmSync(join(root, '.claude/agents/team-tester.md'));
  writeFileSync(join(root, '.mcp.json'), '{"mcpServers": {}}');
  assert.deepEqual(told(install(t, root).outcomes, 'created'), ['.claude/agents/team-tester.md']);
  assert.deepEqual(install(t, root).operations, []);
  assert.deepEqual(Object.keys(treeOf(root)), Object.keys(before));
});
