// A team that is deleted from a shell when its lead is gone: what its worktrees hold is kept, and none of it gets into the next run.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { PhaseProject } from '../support/phase-project.ts';
import { SPEC, shopProject, TEAM } from '../support/shop-spec.ts';
import type { Cleanup } from '../support/temp.ts';

const BRANCH = `tool/${TEAM}`;
const LEFT = 'src/api/left.txt';

/** Its teammates begin something, commit a part of it, and end without a word; so does their lead then. */
async function given(t: Cleanup): Promise<PhaseProject> {
  const project = shopProject(t);
  project.before = `mkdir -p src/api; echo half >> ${LEFT}; git add ${LEFT} && git commit -qm Half; echo more >> ${LEFT}; exit 3; `;
  const { code, stderr } = await project.lead('run', SPEC, '--team');
  assert.equal(code, 1, stderr);
  assert.notDeepEqual(project.names(`.tool/worktrees/${TEAM}`), []);
  project.before = '';
  return project;
}

function branches(project: PhaseProject): readonly string[] {
  return project.git('branch', '--list', '--format=%(refname:short)', 'tool/*').split('\n');
}

test('what its worktrees hold is kept, and the answer names it with the branch that stays', async (t) => {
  const project = await given(t);
  // The person's own on the branch, while nobody leads.
  const tree = project.git('rev-parse', `${BRANCH}^{tree}`);
  const by = ['-c', 'user.name=x', '-c', 'user.email=x@example.com'];
  const mine = project.git(...by, 'commit-tree', tree, '-p', BRANCH, '-m', 'Mine');
  project.git('update-ref', `refs/heads/${BRANCH}`, mine);
  await project.tool('team', 'shutdown', '--team', TEAM);
  const { code, stdout, stderr } = await project.tool('team', 'delete', TEAM, '--json');
  assert.equal(code, 0, stderr);
  const answer = JSON.parse(stdout);
  assert.equal(answer.branch, BRANCH);
  assert.ok(answer.kept.length > 0);
  for (const ref of answer.kept) assert.match(ref, new RegExp(`^refs/toolcrew/saved/${TEAM}/`));
  const owners = answer.kept.filter((ref: string) => ref.includes('/backend-dev/'));
  assert.match(owners.map((ref: string) => project.git('show', `${ref}:${LEFT}`)).join(''), /half\n(half\n)*more/);
  assert.deepEqual(project.names(`.tool/worktrees/${TEAM}`), []);
  assert.deepEqual(branches(project), [BRANCH]);
  assert.equal(project.git('rev-parse', BRANCH), mine);
});

test('so is it where the command is given in one of them', async (t) => {
  const project = await given(t);
  await project.tool('team', 'shutdown', '--team', TEAM);
  const directory = `.tool/worktrees/${TEAM}/backend-dev`;
  const { code, stdout, stderr } = await project.toolIn(directory, 'team', 'delete', TEAM, '--json');
  assert.equal(code, 0, stderr);
  const { kept, left } = JSON.parse(stdout);
  assert.equal(left, undefined);
  assert.ok(kept.length > 0);
  assert.deepEqual(branches(project), [BRANCH]);
});

test('what was not closed with it is closed by the next run, which says so, and builds on none of it', async (t) => {
  const project = await given(t);
  // As who is killed between the two leaves it.
  rmSync(join(project.root, '.tool', 'teams', TEAM), { recursive: true });
  const { code, stderr } = await project.lead('run', SPEC, '--team');
  assert.equal(code, 0, stderr);
  const [, ref = ''] = /an earlier team \S+ has left what \S+ lacks: it is kept as (\S+)/.exec(stderr) ?? [];
  assert.match(project.git('show', `${ref}:${LEFT}`), /half\n(half\n)*more/);
  assert.doesNotMatch(project.git('ls-tree', '-r', '--name-only', BRANCH), /left\.txt/);
  assert.deepEqual(branches(project), [BRANCH]);
});
