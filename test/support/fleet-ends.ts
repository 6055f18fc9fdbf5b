// Ends of issues that a fleet worked on, as the hosting service shows them.

import assert from 'node:assert/strict';
import { openStore } from '../../src/fleet/store/open-store.ts';
import type { Daemon } from './daemon.ts';
import type { TestForge } from './forge.ts';

/** One attempt may fail: none of those that were cut off counted. */
export const ONE_TRY = 'agent: { max_attempts: 1, max_retry_backoff_ms: 100 }';

/** Waits until the store has that the agent of an attempt works: from then on, the next one goes on with it. */
export async function knowsAgent(
  daemon: Daemon,
  { url }: { readonly url: string },
  issue: number,
  attempt = 1,
): Promise<void> {
  const record = `"type":"effect_finished","issue":${issue},"effect":"agent","key":"agent:${attempt}"`;
  const [, repository = ''] = /watching (\S+) for/.exec(daemon.log) ?? [];
  const store = await openStore(url, 'the test');
  try {
    await daemon.until('it knows the agent', async () => {
      const { lines } = await store.readJournal(repository, 0, 100_000);
      return lines.some((line) => line.includes(record));
    });
  } finally {
    store.close();
  }
}

/** Waits for the end of an issue, which is one pull request and one label. */
export async function assertDoneOnce(forge: TestForge, daemon: Daemon, issue: number): Promise<void> {
  await daemon.until('it has an end', async () => !(await forge.labelsOf(issue)).includes('tool-todo'));
  const labels = (await forge.labelsOf(issue)).filter((label) => label.startsWith('tool-'));
  assert.deepEqual(labels, ['tool-done'], daemon.log);
  const pulls = (await forge.pulls()).filter(({ head }) => head === `tool/issue-${issue}`);
  assert.equal(pulls.length, 1, daemon.log);
}

export type Ended = {
  readonly labels: readonly string[];
  /** How many pull requests there are of its branch. */
  readonly pulls: number;
  readonly comments: readonly string[];
};

/** How an issue stands on the hosting service. @param all pull requests, by their branches */
export async function endOf(forge: TestForge, issue: number, all: readonly string[]): Promise<Ended> {
  const labels = (await forge.labelsOf(issue)).filter((label) => label.startsWith('tool-'));
  const pulls = all.filter((head) => head === `tool/issue-${issue}`).length;
  return { labels, pulls, comments: await forge.comments(issue) };
}
