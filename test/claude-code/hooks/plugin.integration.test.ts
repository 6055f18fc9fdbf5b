// The compiled hooks as a plugin's, in a project that has its own.

import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { HOOK_CODES } from '../../../src/claude-code/rules/hook-codes.ts';
import { wordsOf } from '../../support/codes.ts';
import { HookedProject, VERSIONS } from '../../support/hooked.ts';
import { tempDir } from '../../support/temp.ts';

const OWN = {
  '.tool/hooks/session-start': '',
  '.claude/settings.json': JSON.stringify({
    hooks: {
      SessionStart: [{ hooks: [{ type: 'command', command: 'node "$CLAUDE_PROJECT_DIR/.tool/hooks/session-start"' }] }],
    },
  }),
};
const REFUSED = 2;

test('where the project has hooks of its own those of the plugin step back, and say so when a session begins', async (t) => {
  const project = await new HookedProject(t, { env: { CLAUDE_PLUGIN_ROOT: tempDir(t) } }).team('analyst');
  const write = { tool_name: 'Write', tool_input: { file_path: 'src/api/a.js', content: 'x' } };
  const guard = () => project.hook('pre-tool-use', 'team-lead', 'PreToolUse', write);
  assert.equal((await guard()).code, REFUSED, 'alone, they are all there is');
  project.write('.tool/hooks/session-start', OWN['.tool/hooks/session-start']);
  assert.equal((await guard()).code, REFUSED, 'a copy that no settings name is no hook');
  project.write('.claude/settings.json', `${OWN['.claude/settings.json']}, // mine`);
  assert.equal((await guard()).code, REFUSED, 'settings that no host can read hold no hooks either');
  project.write('.claude/settings.json', `\uFEFF${OWN['.claude/settings.json']}`);
  const silent = { code: 0, exit: 0, stdout: '', stderr: '', json: null };
  assert.deepEqual(await guard(), silent);
  for (const [name, event] of [
    ['stop', 'Stop'],
    ['subagent-stop', 'SubagentStop'],
    ['user-prompt-submit', 'UserPromptSubmit'],
  ] as const)
    assert.deepEqual(
      await project.hook(name, 'team-lead', event, { prompt: '/tool:1-plan "x" --team' }),
      silent,
      event,
    );
  const call = { tool_name: 'mcp__team__TaskList', tool_input: {} };
  const signed = await project.hook('pre-tool-use', 'team-lead', 'PreToolUse', call);
  assert.match(
    signed.stdout,
    /"updatedInput":\{"_caller":/,
    'of two answers to a call the last one counts on some hosts',
  );
  const begun = await project.hook('session-start', 'team-lead', 'SessionStart', { source: 'startup' });
  assert.deepEqual(begun.json, {
    systemMessage: `toolcrew: ${wordsOf(HOOK_CODES.plugin_hooks_idle, {})} (plugin_hooks_idle)`,
  });
});

/** Hosts before 2.1.118 leave the whole file out that holds a hook of that type. */
const ASKING = {
  ...JSON.parse(OWN['.claude/settings.json']).hooks,
  PreToolUse: [{ matcher: 'Write', hooks: [{ type: 'mcp_tool', server: 'team', tool: 'Hook', input: {} }] }],
};

for (const version of [...VERSIONS, '2.1.118'] as const)
  test(`${version}: hooks in settings that the host cannot read are none`, async (t) => {
    const bin = tempDir(t);
    const env = { CLAUDE_PLUGIN_ROOT: tempDir(t), PATH: `${bin}:${process.env.PATH}` };
    const project = await new HookedProject(t, { env }).team('analyst');
    project.write('.tool/hooks/session-start', '');
    project.write('.claude/settings.json', JSON.stringify({ hooks: ASKING }));
    writeFileSync(join(bin, 'claude'), `#!/bin/sh\necho '${version} (Claude Code)'\n`, { mode: 0o755 });
    const isOld = version === '2.1.33' || version === '2.1.100';
    const raised = version === '2.1.118' ? '2.1.100' : version;
    const raise = (name: string, event: string, more: Readonly<Record<string, unknown>>) =>
      project.hook(name, 'team-lead', event, more, raised);
    const begun = await raise('session-start', 'SessionStart', { source: 'startup', transcript_path: '/nowhere' });
    assert.equal(begun.json?.systemMessage === undefined, isOld);
    // From here on the transcript tells.
    writeFileSync(join(bin, 'claude'), '#!/bin/sh\nexit 1\n');
    appendFileSync(project.transcript, `${JSON.stringify({ type: 'user', version })}\n`);
    const write = { tool_name: 'Write', tool_input: { file_path: 'src/api/a.js', content: 'x' } };
    assert.equal((await raise('pre-tool-use', 'PreToolUse', write)).code, isOld ? REFUSED : 0);
    const prompted = await raise('user-prompt-submit', 'UserPromptSubmit', { prompt: '/tool:1-plan "x" --team' });
    // Agents and team server of the project are there all the same.
    assert.equal(prompted.stdout.includes('call mcp__team__TaskUpdate yourself'), isOld);
    assert.equal(prompted.json !== null, isOld);
  });
