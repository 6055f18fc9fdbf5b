// The contract of trackers: every kind reads, labels and comments issues of its service.

import assert from 'node:assert/strict';
import test from 'node:test';
import { TRACKERS } from '../../src/compose/trackers.ts';
import { Credential } from '../../src/daemon/github/credential.ts';
import type { TrackerKind } from '../../src/daemon/rules/tracker-kind.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { DAEMON_TOKEN, startForge } from '../support/forge.ts';
import { type Cleanup, finallyDo, tempDir } from '../support/temp.ts';
import { workflowWith } from '../support/world.ts';

type Service = { readonly apiUrl: string; open(title: string): Promise<number> };

/** A service with the repository maintainer/project, whose new issues have the label tool-todo. */
const SERVICES: Readonly<Record<TrackerKind, (t: Cleanup) => Promise<Service>>> = {
  github: async (t) => {
    const { forge, open } = await startForge(t);
    return { apiUrl: forge.url, open };
  },
};

for (const kind of Object.keys(TRACKERS) as TrackerKind[])
  test(`${kind}: issues are read, labelled and commented`, async (t) => {
    const { apiUrl, open } = await SERVICES[kind](t);
    const slug = { owner: 'maintainer', repo: 'project' };
    const workflow = workflowWith({ tracker: { kind, apiUrl, slug } });
    const env = { TOKEN: DAEMON_TOKEN };
    const credential = await Credential.find('TOKEN', new Map(Object.entries(env)), new URL(apiUrl).host, env);
    const clock = new FakeClock(Date.now());
    const options = { workflow, credential, authorities: [], stateDir: tempDir(t), env, clock };
    const { tracker, reach, repository, takenPrefix, close } = await TRACKERS[kind].open(options);
    finallyDo(t, close);
    const { signal } = new AbortController();
    const [first, second] = [await open('first'), await open('second')];
    const listed = await tracker.listActive(['tool-todo'], signal);
    assert.deepEqual(
      listed.map(({ number }) => number),
      [first, second],
    );
    await tracker.addLabel(first, 'tool-done', signal);
    await tracker.removeLabel(first, 'tool-todo', signal);
    await tracker.removeLabel(first, 'tool-todo', signal);
    const read = await tracker.readIssue(first, signal);
    assert.deepEqual([read?.title, read?.labels], ['first', ['tool-done']]);
    assert.equal(await tracker.readIssue(second + 1, signal), null);
    assert.deepEqual(await tracker.readLinks(first, 'dependencies', signal), []);
    assert.equal(await tracker.hasComment(first, 'mark', signal), false);
    await tracker.addComment(first, 'It is done.', 'mark', signal);
    assert.equal(await tracker.hasComment(first, 'mark', signal), true);
    assert.match((await tracker.readComments(first, signal))[0]?.body ?? '', /^It is done\./);
    assert.equal(await tracker.findPullRequest('tool/issue-1', signal), null);
    await reach(signal);
    assert.equal((await repository(signal)).archived, false);
    assert.equal(await takenPrefix(signal), undefined);
  });
