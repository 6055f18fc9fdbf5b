import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { agentTools, hasAgentFile, toolsIn } from '../../src/agents/agent-tools.ts';
import { tempDir } from '../support/temp.ts';

const CASES: readonly (readonly [string, string, readonly string[] | null])[] = [
  ['a line with commas', 'tools: Read, Bash , "Grep"', ['Read', 'Bash', 'Grep']],
  ['a list in brackets', "tools: [Read, 'Bash']", ['Read', 'Bash']],
  ['a list below', 'tools:\n  - Read\n  - "Bash"\nmodel: haiku', ['Read', 'Bash']],
  ['a list below, not indented', 'tools:\n- Read\nmodel: haiku\n- x', ['Read']],
  ['nothing', 'tools:\nmodel: haiku', []],
  ['no list', 'model: haiku', null],
];

for (const [what, front, tools] of CASES)
  test(`the tools of an agent: ${what}`, () => {
    for (const end of ['\n', '\r\n']) {
      const text = `---\nname: x\n${front}\n---\ntools: none of these\n`.replaceAll('\n', end);
      assert.deepEqual(toolsIn(text), tools);
    }
  });

test('an agent of the project is read where the host reads it', (t) => {
  const root = tempDir(t);
  assert.equal(agentTools(root, 'team-tester'), null);
  mkdirSync(join(root, '.claude', 'agents'), { recursive: true });
  writeFileSync(join(root, '.claude', 'agents', 'team-tester.md'), '---\ntools: Read\n---\nx\n');
  assert.deepEqual(agentTools(root, 'team-tester'), ['Read']);
  assert.equal(toolsIn('no front matter\ntools: Read\n'), null);
});

test('the file of an agent may be the project’s or the user’s', (t) => {
  const places = { root: tempDir(t), home: tempDir(t), own: tempDir(t) };
  const has = (env: Record<string, string>) => hasAgentFile(places.root, 'team-writer', env);
  const write = (directory: string) => {
    mkdirSync(join(directory, 'agents'), { recursive: true });
    writeFileSync(join(directory, 'agents', 'team-writer.md'), '');
  };
  const env = { HOME: places.home };
  assert.equal(has(env), false);
  write(join(places.home, '.claude'));
  assert.equal(has(env), true);
  const moved = { ...env, CLAUDE_CONFIG_DIR: places.own };
  assert.equal(has(moved), false);
  write(places.own);
  assert.equal(has(moved), true);
  write(join(places.root, '.claude'));
  assert.equal(has({ HOME: tempDir(t) }), true);
});
