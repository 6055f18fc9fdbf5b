// The compiled hooks as a plugin's, in a project that has its own.

import assert from 'node:assert/strict';
import test from 'node:test';
import { HookedProject } from '../support/hooked.ts';
import { tempDir } from '../support/temp.ts';

const OWN = {
  '.tool/hooks/session-start.js': '',
  '.claude/settings.json': JSON.stringify({
    hooks: {
      SessionStart: [
        { hooks: [{ type: 'command', command: 'node "$CLAUDE_PROJECT_DIR/.tool/hooks/session-start.js"' }] },
      ],
    },
  }),
};
const REFUSED = 2;

test('where the project has hooks of its own those of the plugin step back, and say so when a session begins', async (t) => {
  const project = await new HookedProject(t, { env: { CLAUDE_PLUGIN_ROOT: tempDir(t) } }).team('analyst');
  const write = { tool_name: 'Write', tool_input: { file_path: 'src/api/a.js', content: 'x' } };
  const guard = () => project.hook('pre-tool-use', 'team-lead', 'PreToolUse', write);
  assert.equal((await guard()).code, REFUSED, 'alone, they are all there is');
  project.write('.tool/hooks/session-start.js', OWN['.tool/hooks/session-start.js']);
  assert.equal((await guard()).code, REFUSED, 'a copy that no settings name is no hook');
  project.write('.claude/settings.json', OWN['.claude/settings.json']);
  const silent = { code: 0, stdout: '', stderr: '', json: null };
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
    systemMessage: 'toolcrew: this project has hooks of its own, so those of the plugin do nothing here',
  });
});
