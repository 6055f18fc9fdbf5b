// The bundle holds an empty validator in the SDK's place: nothing of the built team server asks for one.

import assert from 'node:assert/strict';
import test from 'node:test';
import { cleanEnv } from '../../support/daemon.ts';
import { McpClient } from '../../support/mcp-client.ts';
import { tempDir } from '../../support/temp.ts';

test('the built team server lists its tools and answers a call without a validator', async (t) => {
  const root = tempDir(t);
  const client = await McpClient.start(t, root, cleanEnv(root));
  const { tools } = await client.ask('tools/list');
  assert.ok(Array.isArray(tools) && tools.length > 0);
  // The SDK's client asks for the validator when a tool has a schema of its output, its server when it shows a form.
  assert.deepEqual(
    tools.filter((tool) => 'outputSchema' in tool),
    [],
  );
  const answers = await Promise.all(tools.map(({ name }) => client.call(name, {})));
  for (const { text } of answers) {
    assert.notEqual(text, '');
    assert.doesNotMatch(text, /getValidator|no validator|shows no forms|is not a function/);
  }
});
