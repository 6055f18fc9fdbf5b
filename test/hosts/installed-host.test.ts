// The real host program in a project that was installed into: it reads the settings, fires the hooks, starts the server,
// and knows the agents and commands. Hooks and server are played: what they answer is tested where they are.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execa } from 'execa';
import { performAll } from '../../src/install/file-operations.ts';
import { hostSupport } from '../../src/install/host-support.ts';
import { planUninstall } from '../../src/install/install.ts';
import { agentOf, ROLES } from '../../src/team/rules/role.ts';
import { cleanEnv } from '../support/daemon.ts';
import { fields } from '../support/forge.ts';
import { availableHosts, HOST_VERSIONS, hostProgram } from '../support/host.ts';
import { install, packageOf, projectOf, treeOf } from '../support/installed.ts';
import { type Block, ModelServer, type Reply, say } from '../support/model-server.ts';
import { tempDir } from '../support/temp.ts';

const read = (file: string) => readFileSync(join('test', 'support', 'programs', file), 'utf8');
const HOOK = read('played-hook.mjs');
const SERVER = read('played-server.mjs');

function jsonLines(path: string) {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => fields(JSON.parse(line)));
}

async function run(file: string, args: readonly string[], cwd: string, env: Record<string, string>) {
  const options = { cwd, env, extendEnv: false, stdin: 'ignore', reject: false } as const;
  const { exitCode: code, stdout, stderr } = await execa(file, args, options);
  return { code, stdout, stderr };
}

const use = (number: number, name: string, input: unknown): Reply => {
  const block: Block = { type: 'tool_use', id: `toolu_${number}`, name, input };
  return { content: [block] };
};

for (const version of availableHosts(HOST_VERSIONS)) {
  // The form for a host that was not found must do on every one. The older ones have no other.
  for (const told of hostSupport(version).form === hostSupport(null).form ? [null] : [version, null]) {
    test(`${version}, installed for ${told ?? 'a host that was not found'}: hooks, server, agents and commands are there`, async (t) => {
      const root = projectOf(t, { 'README.md': '# project\n', '.claude/settings.json': '{ "env": { "MINE": "1" } }' });
      const before = treeOf(root);
      const from = packageOf(t, (name) => (name === 'mcp' ? SERVER : HOOK));
      install(t, root, { from, host: told });
      const { form } = hostSupport(told);

      const home = tempDir(t);
      mkdirSync(join(home, '.claude'));
      const trusted = { projects: { [root]: { hasTrustDialogAccepted: true } }, hasCompletedOnboarding: true };
      writeFileSync(join(home, '.claude.json'), JSON.stringify(trusted));
      const forbidden = join(root, 'forbidden.txt');
      const spawnTool = version === '2.1.33' ? 'Task' : 'Agent';
      const model = await ModelServer.start(t, (request) => {
        if (request.tools.length === 0) return say('aside');
        if (request.system.includes('You are `researcher`')) return say('I have looked.');
        if (request.results === 0) return use(0, 'Write', { file_path: forbidden, content: 'x' });
        if (request.results === 1) return use(1, 'mcp__team__TaskList', {});
        const prompt = { description: 'Look', prompt: 'Look around.', subagent_type: 'team-researcher' };
        if (request.results === 2) return use(2, spawnTool, prompt);
        return say('Done.');
      });
      const prompt = '/tool:1-plan "a feature" --team';
      const { code, stdout, stderr } = await run(
        hostProgram(version),
        ['-p', prompt, '--output-format', 'stream-json', '--verbose'],
        root,
        {
          ...cleanEnv(home),
          ANTHROPIC_API_KEY: 'sk-test',
          ANTHROPIC_BASE_URL: model.url,
          IS_SANDBOX: '1',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          DISABLE_AUTOUPDATER: '1',
        },
      );
      assert.equal(code, 0, stdout + stderr);

      const events = stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [fields(JSON.parse(line))] : []));
      const init = events.find(({ type, subtype }) => type === 'system' && subtype === 'init');
      for (const role of Object.keys(ROLES))
        assert.ok(JSON.stringify(init?.agents).includes(`"${agentOf(role)}"`), role);
      for (const name of ['1-plan', '2-run', '3-sync', 'build-fix', 'team-restart'])
        assert.ok(JSON.stringify(init?.slash_commands).includes(`"tool:${name}"`), name);
      assert.ok(JSON.stringify(init?.mcp_servers).includes('"team"'));

      const hooks = jsonLines(join(root, 'hooks.jsonl'));
      const fired = (event: string, tool?: string) =>
        hooks.filter((hook) => hook.hook_event_name === event && (tool === undefined || hook.tool_name === tool));
      const [main] = model.requests.filter((request) => request.tools.includes('Write'));
      assert.ok(
        main?.raw.includes(`toolcrew: THE-NEXT-STEPS for ${JSON.stringify(prompt).slice(1, -1)}`),
        'the context',
      );
      assert.ok(main?.raw.includes('A toolcrew hook has already processed this command'));
      assert.ok(!existsSync(forbidden));
      const results = model.requests.flatMap((request) => request.resultTexts);
      assert.ok(
        results.some((text) => text.includes('THE-FILE-OF-ANOTHER')),
        'the guard refuses',
      );
      assert.ok(
        results.some((text) => text.includes('NO-TASKS-YET')),
        'the tool is allowed by the rule',
      );
      assert.deepEqual(
        ['SessionStart', 'UserPromptSubmit', 'SubagentStart', 'SubagentStop', 'Stop'].map(
          (event) => fired(event).length > 0,
        ),
        [true, true, true, true, true],
      );
      for (const tool of ['Write', 'mcp__team__TaskList', spawnTool]) {
        const seen = fired('PreToolUse', tool).map(({ script }) => script);
        const isAsked = form === 'resident' && tool.startsWith('mcp__team__');
        assert.deepEqual([tool, seen], [tool, isAsked ? [] : ['pre-tool-use']]);
      }
      assert.equal(fired('SubagentStart')[0]?.agent_type, 'team-researcher');

      const calls = jsonLines(join(root, 'calls.jsonl'));
      const delivered = calls.filter(({ name }) => name === 'Hook').map(({ given }) => fields(given));
      if (form === 'resident') {
        assert.deepEqual(fired('PostToolUse'), []);
        const [named, after] = delivered.filter(({ tool }) => tool === 'mcp__team__TaskList');
        assert.deepEqual([named?.event, named?.id], ['PreToolUse', 'toolu_1'], 'the caller is named before the call');
        assert.deepEqual(
          { event: after?.event, use: after?.id, agent: after?.agent, cwd: after?.cwd },
          { event: 'PostToolUse', use: 'toolu_1', agent: '', cwd: root },
        );
        assert.ok(String(after?.session).length > 30);
        const asked = delivered.find(({ tool }) => tool === 'Write');
        assert.deepEqual([asked?.event, asked?.id], ['PreToolUse', 'toolu_0'], 'the guard asks the server');
        assert.equal(JSON.parse(String(asked?.input)).file_path, forbidden);
        assert.ok(delivered.some(({ tool, event }) => tool === spawnTool && event === 'PostToolUse'));
        assert.deepEqual(
          calls.filter(({ name, fromModel }) => name === 'Hook' && fromModel === true),
          [],
        );
      } else {
        assert.deepEqual(delivered, []);
        assert.deepEqual(
          ['mcp__team__TaskList', spawnTool].map((tool) => fired('PostToolUse', tool).map(({ script }) => script)),
          [['post-tool-use'], ['post-tool-use']],
        );
      }
      t.diagnostic(`${hooks.length} hooks, ${calls.length} calls`);

      const { operations, outcomes } = planUninstall(root);
      assert.deepEqual(
        outcomes.filter(({ did }) => did === 'kept'),
        [],
      );
      performAll(root, operations);
      const left = treeOf(root);
      for (const name of ['hooks.jsonl', 'calls.jsonl']) delete left[name];
      assert.deepEqual(left, before);
    });
  }
}
