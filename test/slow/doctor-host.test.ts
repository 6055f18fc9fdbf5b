// Rows of `tool doctor` about the host: settings that disable hooks or tools, and incomplete installations.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { HOOK_CODES } from '../../src/claude-code/rules/hook-codes.ts';
import type { DoctorCheck } from '../../src/cli/doctor/doctor-row.ts';
import { diagnoseTeam } from '../../src/cli/doctor/doctor-team.ts';
import { CLI_CODES } from '../../src/cli/rules/cli-codes.ts';
import { DOCTOR_CODES } from '../../src/cli/rules/doctor-codes.ts';
import { INSTALL_CODES } from '../../src/install/rules/install-codes.ts';
import { LOG_CODES } from '../../src/team/rules/codes/log-codes.ts';
import { joined, wordsLike, wordsOf } from '../support/codes.ts';
import { cleanEnv, runTool } from '../support/daemon.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

/** Each as `status: text → fix`. */
function rowsOf(name: string, checks: readonly DoctorCheck[]): readonly string[] {
  return checks
    .filter((row) => row.name === name)
    .map(({ status, says, mend }) => `${status}: ${says} → ${mend ?? 'nothing'}`);
}

function installedIn(t: Cleanup) {
  const home = tempDir(t);
  const root = join(home, 'project');
  execaSync`git init -q ${root}`;
  const bin = join(home, 'bin');
  const env = { ...cleanEnv(home), PATH: `${bin}:${process.env.PATH}` };
  const tool = (...args: readonly string[]) => runTool(args, { cwd: root, env });
  const path = (name: string) => join(root, name);
  const write = (name: string, text: string) => {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), text);
  };
  return {
    path,
    write,
    settings: (name: string, value: unknown) => write(name, JSON.stringify(value)),
    host: (version: string) => {
      write('../bin/claude', `#!/bin/sh\necho "${version} (Claude Code)"\n`);
      chmodSync(join(bin, 'claude'), 0o755);
    },
    install: async () => assert.equal((await tool('init', '--host-version', '2.1.177')).code, 0),
    /** The rows of a name among those of team mode. */
    rows: async (name: string) => rowsOf(name, await diagnoseTeam(root, env)),
    /** The same among all that the command prints. */
    printed: async (name: string, more: Readonly<Record<string, string>> = {}) => {
      const { stdout } = await runTool(['doctor', '--json'], { cwd: root, env: { ...env, ...more } });
      return rowsOf(name, JSON.parse(stdout).checks);
    },
  };
}

test('hooks that are all switched off are a failure; what counts is the file that the host heeds most', async (t) => {
  const { install, rows, settings } = installedIn(t);
  await install();
  assert.deepEqual(await rows('team hooks'), []);
  settings('../.claude/settings.json', { disableAllHooks: true });
  const [off = ''] = await rows('team hooks');
  assert.match(off, joined(/^fail: /, wordsLike(CLI_CODES.hooks_disabled, { file: /\S*\/\.claude\/settings\.json/ })));
  settings('.claude/settings.local.json', { disableAllHooks: false });
  assert.deepEqual(await rows('team hooks'), []);
  settings('.claude/settings.local.json', { disableAllHooks: true });
  assert.match(`${await rows('team hooks')}`, /in \.claude\/settings\.local\.json.*→ take disableAllHooks out/);
});

test('our plugin beside what is installed is a warning, for as long as a settings file has it on', async (t) => {
  const { install, rows, settings } = installedIn(t);
  settings('../.claude/settings.json', { enabledPlugins: { 'other@shop': true, 'tool@toolcrew': true } });
  assert.deepEqual(await rows('plugin form'), []);
  await install();
  assert.match(
    `${await rows('plugin form')}`,
    joined(
      /^warn: /,
      wordsLike(CLI_CODES.plugin_beside_installation, {
        plugin: 'tool@toolcrew',
        file: /\S*\/\.claude\/settings\.json/,
      }),
      /.*"tool@toolcrew": false/,
    ),
  );
  settings('.claude/settings.local.json', { enabledPlugins: { 'tool@toolcrew': false } });
  assert.deepEqual(await rows('plugin form'), []);
});

test('a team server that is not offered, and tools of it that are refused, are failures', async (t) => {
  const { install, rows, settings } = installedIn(t);
  await install();
  assert.deepEqual(await rows('team server'), []);
  settings('.claude/settings.local.json', {
    disabledMcpjsonServers: ['other', 'team'],
    permissions: { deny: ['mcp__team__TaskList', 'mcp__team', 'mcp__teams', 'Write'] },
  });
  const file = '.claude/settings.local.json';
  const rules = ['mcp__team__TaskList', 'mcp__team'];
  assert.deepEqual(await rows('team server'), [
    `fail: ${wordsOf(HOOK_CODES.team_server_disabled, { file })} → take "team" out of it`,
    `fail: ${wordsOf(CLI_CODES.team_tools_denied, { file, rules })} → take them out`,
  ]);
});

test('hooks, settings or a server entry that somebody took out are a failure, another file a warning, an edited text nothing', async (t) => {
  const { install, path, rows, write } = installedIn(t);
  await install();
  const whole = ['ok: 0.1.0, hooks for Claude Code 2.1.177 → nothing'];
  assert.deepEqual(
    (await rows('team mode')).map((row) => row.replace(/\d+\.\d+\.\d+(?=, hooks)/, '0.1.0')),
    whole,
  );
  const settings = readFileSync(path('.claude/settings.json'), 'utf8');
  const { hooks: _, ...others } = JSON.parse(settings);
  write('.claude/settings.json', JSON.stringify(others));
  assert.match(
    `${await rows('team mode')}`,
    /^fail: Hooks or tools of the team are missing .*: \.claude\/settings\.json\. → tool init$/,
  );
  write('.claude/settings.json', settings);
  rmSync(path('.tool/hooks/guard.sh'));
  assert.match(`${await rows('team mode')}`, /^fail: .*\.tool\/hooks\/guard\.sh/);
  await install();
  rmSync(path('.mcp.json'));
  assert.match(`${await rows('team mode')}`, /^fail: .*\.mcp\.json/);
  await install();
  rmSync(path('.claude/agents/team-tester.md'));
  assert.match(`${await rows('team mode')}`, /^warn: .*\.claude\/agents\/team-tester\.md\. → tool init$/);
  await install();
  write('.claude/agents/team-tester.md', '---\nname: team-tester\n---\nYou test as we do.\n');
  assert.match(`${await rows('team mode')}`, /^ok: /);
});

test('what init would stop at as well is to be mended first', async (t) => {
  const { install, rows, settings, write } = installedIn(t);
  await install();
  write('.claude/settings.json', '{ "model": "x", }');
  const first = '.*→ mend what is named here, then tool init$';
  assert.match(
    `${await rows('team mode')}`,
    new RegExp(`^fail: .*\\.claude/settings\\.json: expected valid JSON${first}`),
  );
  settings('.claude/settings.json', { env: { TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: '0' } });
  assert.match(
    `${await rows('team mode')}`,
    joined(/^fail: /, wordsLike(CLI_CODES.installation_unreadable, { said: /.*"0" is there/ }), new RegExp(first)),
  );
  write('.tool/installed.json', '{');
  const unreadable = wordsLike(DOCTOR_CODES.installation_record_unreadable, { path: '.tool/installed.json' });
  assert.match(`${await rows('team mode')}`, joined(/^fail: /, unreadable, new RegExp(first)));
});

test('a host that is too old for teams is a row, beside all the others', async (t) => {
  const { install, rows, host } = installedIn(t);
  host('2.1.30');
  await install();
  assert.match(
    `${await rows('team: host version')}`,
    /^warn: expected 2\.1\.32 or higher, got 2\.1\.30 → claude update$/,
  );
  assert.match(`${await rows('team mode')}`, /^ok: /);
});

test('a hook that the host does not know is named with its file and the version, where the host leaves the file out for it', async (t) => {
  const { host, path, rows, settings } = installedIn(t);
  host('2.1.100');
  settings('.claude/settings.json', { hooks: { PostToolBatch: [], TaskCreated: [], Stop: [] } });
  settings('../.claude/settings.json', { hooks: { DirectoryAdded: [], Misspelt: [] } });
  const { stdout } = await runTool(['init', '--host-version', '2.1.33'], { cwd: path(''), env: cleanEnv(path('..')) });
  assert.match(
    stdout,
    joined(
      /^Note: /,
      wordsOf(INSTALL_CODES.settings_file_left_out, {
        ...{ file: '.claude/settings.json', events: ['PostToolBatch', 'TaskCreated'] },
        version: '2.1.33',
      }),
      /\. To mend it: claude update, or take PostToolBatch, TaskCreated out of "hooks" in \.claude\/settings\.json\.$/,
    ),
  );
  const [own = '', other = '', ...more] = await rows('host settings');
  assert.match(
    own,
    joined(
      /^fail: /,
      wordsOf(INSTALL_CODES.settings_file_left_out, {
        ...{ file: '.claude/settings.json', events: ['PostToolBatch'] },
        version: '2.1.100',
      }),
    ),
  );
  assert.match(
    other,
    joined(
      /^warn: /,
      wordsLike(INSTALL_CODES.settings_file_left_out, {
        file: /\/\S*\/settings\.json/,
        events: ['DirectoryAdded', 'Misspelt'],
      }),
      /.* → claude update, or take/,
    ),
  );
  assert.deepEqual(more, []);
  // Versions between the tested ones are unknown; newer versions ignore the unknown hook alone.
  for (const version of ['2.1.101', '2.1.177', '2.1.331']) {
    host(version);
    assert.deepEqual(await rows('host settings'), [], version);
  }
});

test('a role of the project’s own without an agent is named with the file that is missing', async (t) => {
  const { rows, write } = installedIn(t);
  const patterns = { mine: { roles: ['backend-dev', 'hypothesis-1', 'translator'] } };
  const file_ownership = { translator: ['locales/**'], 'backend-dev': ['src/**'] };
  write('.tool/config/workflow.yaml', JSON.stringify({ workflow: { team: { patterns, file_ownership } } }));
  const [missing = '', ...others] = await rows('team agents');
  assert.match(missing, joined(/^warn: /, wordsOf(DOCTOR_CODES.team_agent_missing, { agent: 'team-translator' })));
  assert.deepEqual(others, []);
  write('../.claude/agents/team-translator.md', '---\nname: team-translator\n---\n');
  assert.deepEqual(await rows('team agents'), []);
});

test('a file where the teams have their directory is a row, and is named as that', async (t) => {
  const { path, rows, write } = installedIn(t);
  write('.tool/teams', 'x');
  assert.match(
    `${await rows('team log')}`,
    joined(
      /^fail: /,
      wordsLike(LOG_CODES.directory_expected, { path: /\/\S*\/project\/\.tool\/teams/ }),
      / → make \.tool\/teams a directory$/,
    ),
  );
  const { stderr } = await runTool(['team', 'status'], { cwd: path(''), env: cleanEnv(path('..')) });
  assert.match(stderr, /^tool: \/.*\/project\/\.tool\/teams: .* \(directory_expected\)$/m);
});

test('settings that start what is not there are a failure, the plugin in place of an installation is none', async (t) => {
  const { install, path, rows, settings } = installedIn(t);
  await install();
  rmSync(path('.tool/installed.json'));
  settings('../.claude/settings.json', { enabledPlugins: { 'tool@toolcrew': true } });
  assert.match(`${await rows('team mode')}`, /^ok: comes with the plugin tool@toolcrew, enabled in \//);
  rmSync(path('.tool'), { recursive: true });
  assert.deepEqual(await rows('team mode'), [`fail: ${wordsOf(DOCTOR_CODES.hook_programs_gone, {})} → tool init`]);
});

test('a project with nothing of ours is told what team mode needs, unless it has the daemon alone; a plugin that is on, and one of a session, count', async (t) => {
  const { path, printed, settings, write } = installedIn(t);
  assert.match(
    `${await printed('team mode')}`,
    joined(/^warn: /, wordsLike(DOCTOR_CODES.team_mode_missing, { root: /\/.*/ }), / → tool init$/),
  );
  assert.match(`${await printed('team: variable')}`, /^warn: .*got nothing/);
  assert.match(`${await printed('workflow')}`, /^fail: .*there is no such file/);
  write('WORKFLOW.md', '---\ntool: { runtime: patch }\n---\n');
  assert.deepEqual(await printed('team mode'), []);
  rmSync(path('WORKFLOW.md'));
  assert.match(
    `${await printed('team mode', { CLAUDECODE: '1' })}`,
    joined(/^warn: /, wordsOf(DOCTOR_CODES.team_mode_unseen, {}), / → tool init$/),
  );
  settings('../.claude/settings.json', { enabledPlugins: { 'tool@toolcrew': true } });
  assert.match(`${await printed('team mode')}`, /^ok: comes with the plugin tool@toolcrew, enabled in \//);
  assert.match(`${await printed('team: variable')}`, /^warn: .*got nothing/);
  assert.match(`${await printed('daemon')}`, /^ok: no WORKFLOW\.md here/);
});

test('the variable is found in the settings of the user, and in a file that begins with a mark of its encoding', async (t) => {
  const { rows, settings, write } = installedIn(t);
  write('.tool/config/workflow.yaml', 'workflow:\n  team:\n    enabled: true\n');
  assert.match(`${await rows('team: variable')}`, /^warn: .*got nothing/);
  settings('../.claude/settings.json', { env: { TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' } });
  assert.match(`${await rows('team: variable')}`, /^ok: .* is 1 from \/.*\/\.claude\/settings\.json/);
  write('.claude/settings.json', '\uFEFF{"env":{"TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS":"0"}}');
  assert.match(
    `${await rows('team: variable')}`,
    /^warn: .*got "0" from \.claude\/settings\.json → set .* in \.claude\/settings\.json$/,
  );
  settings('.claude/settings.local.json', { env: { TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' } });
  assert.match(`${await rows('team: variable')}`, /^ok: .* is 1 from \.claude\/settings\.local\.json/);
});
