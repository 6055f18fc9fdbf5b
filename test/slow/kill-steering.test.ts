// The daemon is killed at each record while `tool cancel` or `tool retry` is carried out; the next one on the same state
// carries it out once, and is killed under the next issue.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after } from 'node:test';
import type { StateView } from '../../src/daemon/view.ts';
import { cleanEnv, runTool } from '../support/daemon.ts';
import { type KilledPlace, killedPlaces } from '../support/killed-places.ts';

const CANCEL = [
  'record steered recorded',
  'record attempt_ended recorded',
  'label_remove label_remove:tool-todo announced',
  'label_remove label_remove:tool-todo performed',
  // A reading of the issue follows, which is no effect.
  'label_remove label_remove:tool-todo recorded',
  'record finished recorded',
];

const RETRY = [
  'record steered recorded',
  'label_add label_add:tool-todo announced',
  'label_add label_add:tool-todo performed',
  'label_add label_add:tool-todo recorded',
  'record claimed recorded',
  'label_remove label_remove:tool-failed announced',
  'label_remove label_remove:tool-failed performed',
];

const CASES = [...CANCEL, ...RETRY];
const places = killedPlaces({ after });
const SETTINGS = 'agent: { max_attempts: 1 }';

type Killed = { readonly place: KilledPlace; readonly issue: number; readonly isLast: boolean };
type Rows = Pick<StateView, 'running' | 'queued' | 'completed' | 'poll'>;

/** Gives the command once `isReady`; the daemon dies of it, and the next one starts. */
async function killedBy(
  command: string,
  at: string,
  script: string,
  isReady: (rows: Rows) => boolean,
): Promise<Killed> {
  const place = await places.take('', SETTINGS);
  const { forge, daemon } = place;
  const issue = await forge.open('Do it', { label: null });
  writeFileSync(place.path(issue, 'sh'), `echo "$TOOL_ATTEMPT" >> ${place.path(issue, 'attempts')}\n${script}`);
  await forge.label(issue, 'tool-todo');
  await daemon.until('it is ready', async () => isReady(rowsOf(await daemon.state(), issue)));
  place.killAt(`${at} ${issue}`);
  const { code, stderr } = await runTool([command, String(issue), daemon.workflow], { env: cleanEnv(daemon.home) });
  assert.ok(code === 0 || stderr.includes('(daemon_unreachable)'), stderr);
  assert.equal(await daemon.exit(), 'SIGKILL', daemon.log);
  const isLast = at === CASES.at(-1);
  place.goOn(isLast);
  return { place, issue, isLast };
}

function rowsOf({ running, queued, completed, poll }: StateView, issue: number): Rows {
  const isOurs = (row: { readonly issue_number: number }) => row.issue_number === issue;
  return {
    running: running.filter(isOurs),
    queued: queued.filter(isOurs),
    completed: completed.filter(isOurs),
    poll,
  };
}

function timesFinished({ daemon }: KilledPlace, issue: number): number {
  const lines = readFileSync(join(daemon.stateDir, 'journal.jsonl'), 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line)).filter((one) => one.type === 'finished' && one.issue === issue).length;
}

for (const at of CANCEL)
  test(`killed under tool cancel, ${at}: the label is off, the work is kept, and no agent starts again`, async () => {
    const { place, issue, isLast } = await killedBy(
      'cancel',
      at,
      'echo at work; setsid sleep 600 & sleep 600',
      ({ running }) => running[0]?.last_message === 'at work',
    );
    const { forge, daemon } = place;
    await daemon.until('it is cancelled', async () => {
      const { running, completed, poll } = rowsOf(await daemon.state(), issue);
      return running.length === 0 && completed[0]?.outcome === 'label_removed' && poll.last_at !== null;
    });
    await place.left(isLast);
    assert.deepEqual(await forge.labelsOf(issue), []);
    assert.deepEqual(await forge.comments(issue), []);
    assert.equal(timesFinished(place, issue), 1);
    assert.equal(readFileSync(place.path(issue, 'attempts'), 'utf8'), '1\n');
    assert.ok(existsSync(join(daemon.root, `issue-${issue}`, '.git')));
    places.giveBack('', place);
  });

/** Holds once the issue has failed and a poll has ended since then: one that began before it may show the label that is gone. */
function hasFailed(): (rows: Rows) => boolean {
  let pollAt: string | null = null;
  return ({ queued, completed, poll }) => {
    if (completed[0]?.outcome !== 'failed') return false;
    pollAt ??= poll.last_at;
    return poll.last_at !== pollAt && queued.length === 0;
  };
}

for (const at of RETRY)
  test(`killed under tool retry, ${at}: the issue goes on in the same life, and ends once`, async () => {
    const { place, issue, isLast } = await killedBy(
      'retry',
      at,
      'if [ "$TOOL_ATTEMPT" = 1 ]; then exit 1; fi; echo done >> work.txt; git add work.txt; git commit -qm "Do it"',
      hasFailed(),
    );
    const { forge, daemon } = place;
    await daemon.until('it is done', async () =>
      rowsOf(await daemon.state(), issue).completed.some(({ outcome }) => outcome === 'done'),
    );
    await place.left(isLast);
    assert.deepEqual(await forge.labelsOf(issue), ['tool-done']);
    const heads = (await forge.pulls()).map(({ head }) => head);
    assert.deepEqual(
      heads.filter((head) => `${head}-`.startsWith(`tool/issue-${issue}-`)),
      [`tool/issue-${issue}`],
    );
    assert.equal(
      (await forge.comments(issue)).length,
      1,
      `that it failed is told once: ${JSON.stringify(await forge.comments(issue))} ${daemon.log}`,
    );
    assert.equal(readFileSync(place.path(issue, 'attempts'), 'utf8'), '1\n2\n');
    places.giveBack('', place);
  });
