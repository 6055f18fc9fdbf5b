// `tool spec check` on a real project: each problem and warning with its line.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { SPEC_CODES } from '../../src/team/rules/codes/spec-codes.ts';
import { createSpec } from '../../src/team/spec-documents/specs.ts';
import { wordsOf } from '../support/codes.ts';
import { cleanEnv, runTool } from '../support/daemon.ts';
import { gitIn } from '../support/git.ts';
import { NEW_SPEC } from '../support/spec.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

function projectOf(t: Cleanup) {
  const place = tempDir(t);
  const root = join(place, 'project');
  mkdirSync(join(root, '.tool', 'config'), { recursive: true });
  writeFileSync(join(root, '.tool', 'config', 'workflow.yaml'), 'workflow:\n  team:\n    enabled: true\n');
  const git = (cwd: string, ...args: readonly string[]) => gitIn(cwd)('-c', 'protocol.file.allow=always', ...args);
  git(root, 'init', '-q', '-b', 'main');
  const created = createSpec(root, NEW_SPEC, '2026-01-31');
  assert.ok(created.ok);
  const { id } = created;
  const edit = (name: string, from: string, to: string) => {
    const path = join(root, '.tool', 'specs', id, name);
    const text = readFileSync(path, 'utf8');
    assert.ok(text.includes(from), from);
    writeFileSync(
      path,
      text.replace(from, () => to),
    );
  };
  const check = (...more: readonly string[]) =>
    runTool(['spec', 'check', id, ...more], { cwd: root, env: cleanEnv(place) });
  return { place, root, git, id, edit, check };
}

test('a merge that was left with its conflict is named with its lines', async (t) => {
  const { root, git, edit, check } = projectOf(t);
  const save = (words: string) => {
    edit('spec.md', 'shall end the session', `shall ${words}`);
    git(root, 'commit', '-qam', words);
  };
  git(root, 'add', '-A');
  git(root, 'commit', '-qm', 'Begin');
  git(root, 'checkout', '-qb', 'side');
  save('end all of them');
  git(root, 'checkout', '-q', 'main');
  save('end the session at once');
  assert.throws(() => git(root, 'merge', 'side'));
  const { code, stdout } = await check();
  assert.equal(code, 1);
  const marked = (marker: string) => wordsOf(SPEC_CODES.spec_conflict_marker, { marker: `"${marker}"` });
  assert.match(
    stdout,
    new RegExp(`^spec\\.md:15: ${marked('<<<<<<< HEAD')}\nspec\\.md:\\d+: ${marked('>>>>>>> side')}\n$`),
  );
});

test('warnings are said with their line, and the SPEC has no problems', async (t) => {
  const { place, root, git, id, edit, check } = projectOf(t);
  const library = join(place, 'library');
  mkdirSync(library);
  git(library, 'init', '-q');
  git(library, 'commit', '-q', '--allow-empty', '-m', 'Begin');
  git(root, 'submodule', '--quiet', 'add', library, 'vendor/lib');
  edit('spec.md', 'The page shall show a button to log out.', 'Die Seite zeigt einen Knopf zum Abmelden.');
  edit('plan.md', 'src/pages/**', 'vendor/lib/page.js');
  const { code, stdout } = await check();
  assert.equal(code, 0);
  const foreign = wordsOf(SPEC_CODES.spec_not_english, { id: 'R2' });
  const apart = wordsOf(SPEC_CODES.spec_file_in_submodule, {
    id: 'T2',
    file: '"vendor/lib/page.js"',
    submodule: '"vendor/lib"',
  });
  assert.match(
    stdout,
    new RegExp(
      `^spec\\.md:16: warning: ${foreign}.*\\nplan\\.md:\\d+: warning: ${apart}.*\\n${id} has no problems \\(awaiting_approval\\)\\n$`,
    ),
  );
  const told: unknown = JSON.parse((await check('--json')).stdout);
  assert.ok(typeof told === 'object' && told !== null && 'problems' in told && 'warnings' in told);
  assert.deepEqual(told.problems, []);
  assert.ok(Array.isArray(told.warnings) && told.warnings.length === 2);
});
