// The agents that this package brings.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import test from 'node:test';
import { z } from 'zod';
import { parseFrontMatter } from '../src/adapters/config/front-matter.ts';

const frontMatter = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/),
  description: z.string().min(20).max(300),
  model: z.literal('inherit').optional(),
  tools: z.string().optional(),
});

for (const file of readdirSync('agents')) {
  test(`${file}: a name, a description, a short body that names the commands there are`, () => {
    const text = readFileSync(join('agents', file), 'utf8');
    const { data, content } = parseFrontMatter(text, file);
    const { name } = frontMatter.parse(data);
    assert.equal(name, basename(file, '.md'));
    assert.notEqual(content.trim(), '');
    assert.ok(text.split('\n').length <= 61, 'at most 60 lines');
    assert.doesNotMatch(text, /\r|\t|[ \t]$/m);
  });
}

test('the leading agent is told every command with which work is handed in', () => {
  const text = readFileSync(join('agents', 'jarvis.md'), 'utf8');
  for (const command of ['tool issue show', 'tool issue comment', 'tool issue done', 'tool pr create'])
    assert.ok(text.includes(command), command);
});
