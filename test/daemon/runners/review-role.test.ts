// The role of a reviewer: of the repository first, then of this package.

import assert from 'node:assert/strict';
import test from 'node:test';
import { BASE_CODES } from '../../../src/base/rules/base-codes.ts';
import { readReviewRole, requireReviewer } from '../../../src/daemon/runners/review-role.ts';
import { failsWith } from '../../support/codes.ts';

const FILES: Readonly<Record<string, string>> = {
  'base:.claude/agents/strict.md': '---\nname: strict\nmodel: opus\n---\n\nBe strict.\n',
  'base:.claude/agents/reviewer.md': 'Review as we do here.\n',
};

const repository = {
  fileIn: async (commit: string, path: string) => FILES[`${commit}:${path}`] ?? null,
  namesIn: async (commit: string) =>
    Object.keys(FILES).flatMap((name) =>
      name.startsWith(`${commit}:`) ? [name.slice(name.lastIndexOf('/') + 1)] : [],
    ),
};
const { signal } = new AbortController();

test('the text of a role is that of the base commit, else that of this package', async () => {
  assert.deepEqual(await readReviewRole(repository, 'strict', 'base', signal), { text: 'Be strict.', model: 'opus' });
  const own = await readReviewRole(repository, 'reviewer', 'base', signal);
  assert.deepEqual(own, { text: 'Review as we do here.', model: null });
  const built = await readReviewRole(repository, 'reviewer', 'other', signal);
  assert.ok('text' in built && built.text.startsWith('You review finished work'));
  const shipped = await readReviewRole(repository, 'team-quality', 'other', signal);
  assert.ok('text' in shipped && shipped.text.startsWith('You are `quality`') && shipped.model === null);
  const none = await readReviewRole(repository, 'strict', 'other', signal);
  assert.ok('of' in none && none.of.code === 'review_agent_unknown');
});

test('an unknown name is refused with those that are known; without an answer of the service nothing is', async () => {
  const mirror = {
    refresh: async () => undefined,
    defaultBranch: async () => 'main',
    branchHead: async () => 'base',
    comparison: repository,
  };
  for (const name of [null, 'reviewer', 'jarvis', 'strict']) await requireReviewer(name, mirror, signal);
  await failsWith(() => requireReviewer('nobody', mirror, signal), BASE_CODES.config_value, { key: 'review.agent' });
  const away = { ...mirror, refresh: () => Promise.reject(new Error('away')) };
  await requireReviewer('nobody', away, signal);
});
