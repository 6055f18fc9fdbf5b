import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { readToolSection } from '../../../src/daemon/config/tool-section.ts';
import { tempDir } from '../../support/temp.ts';

test('without a file, or without the section, every default holds; other keys are not judged', (t) => {
  const path = join(tempDir(t), 'WORKFLOW.md');
  const defaults = readToolSection(path);
  assert.equal(defaults.runtime, 'claude');
  writeFileSync(path, '---\ntracker: { repo: no slug }\n---\n');
  assert.deepEqual(readToolSection(path), defaults);
  writeFileSync(path, '---\ntool: { stall_timeout_ms: 7 }\n---\n');
  assert.equal(readToolSection(path).stallTimeoutMs, 7);
});

test('each wrong key of the section is named with its place in the file', (t) => {
  const path = join(tempDir(t), 'WORKFLOW.md');
  writeFileSync(path, '---\ntool: { runtime: cluade, stall_timeout_ms: 1.5 }\n---\n');
  assert.throws(
    () => readToolSection(path),
    (error) => {
      assert.ok(error instanceof ToolError && error.kind === 'config', String(error));
      assert.ok(error.message.startsWith(`${path} has 2 problems:\n`), error.message);
      assert.match(error.message, /^ {2}tool\.runtime: expected one of claude, command, patch, got "cluade"/m);
      assert.match(error.message, /^ {2}tool\.stall_timeout_ms: expected a whole number, got 1\.5/m);
      return true;
    },
  );
});
