// A coordinator is killed at each moment of each effect it has, under an issue that a worker works on. The next one is of another machine,
// with nothing but the store, or goes on where the first was: one end, nothing twice, and no attempt counted.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Effect } from '../../src/daemon/rules/effect-names.ts';
import { RedisServer } from '../support/fleet.ts';
import {
  assertOneEnd,
  type Case,
  goThrough,
  linesOf,
  type Moment,
  placeOf,
  SCENARIOS,
  settingsOf,
} from '../support/kill-cases.ts';
import { KilledPlace } from '../support/killed-places.ts';

/** `elsewhere`: the next coordinator has nothing of the first one. */
type Killed = { readonly moment: Moment; readonly elsewhere: boolean };

const BOTH: readonly Killed[] = [
  { moment: 'announced', elsewhere: true },
  { moment: 'performed', elsewhere: false },
];
const SWAPPED: readonly Killed[] = BOTH.map(({ moment, elsewhere }) => ({ moment, elsewhere: !elsewhere }));

/** When the coordinator is killed. An effect without a row does not compile; workers run the checks, and the hooks after the agent. */
const MOMENTS = {
  workspace: BOTH,
  hook: SWAPPED,
  agent: [...BOTH, { moment: 'recorded', elsewhere: true }, { moment: 'recorded', elsewhere: false }],
  gate: [],
  take_base: SWAPPED,
  review: BOTH,
  push: SWAPPED,
  pull_request: SWAPPED,
  evidence: BOTH,
  review_request: SWAPPED,
  reply: BOTH,
  comment: SWAPPED,
  label_add: SWAPPED,
  label_remove: SWAPPED,
  workspace_remove: SWAPPED,
} as const satisfies Record<Effect, readonly Killed[]>;

const KEYS: Partial<Record<Effect, readonly string[]>> = { hook: ['after_create:', 'before_run:'] };

type FleetCase = Case & { readonly elsewhere: boolean };

/** The worker asks the next coordinator for what got no answer. */
const COMMENTED: FleetCase = {
  ...{ effect: 'comment', key: 'comment:1:', moment: 'performed', elsewhere: true },
  ...{ keys: [], ends: 'tool-done', comments: true },
};

const CASES = Object.entries(SCENARIOS).flatMap(([name, scenario]) => {
  const effect = name as Effect;
  const keys = KEYS[effect] ?? scenario.keys;
  return keys.flatMap((key) => MOMENTS[effect].map((killed): FleetCase => ({ ...scenario, effect, key, ...killed })));
});
CASES.unshift(COMMENTED);

/** Attempts as the agent saw them. An agent that was at work goes on; one that had not got its prompt is started anew. */
function ranOf({ effect, moment, isRead, isReviewed, ends }: FleetCase): readonly string[] {
  if (effect === 'agent') return moment === 'recorded' ? ['1'] : moment === 'performed' ? ['1', '2'] : ['2'];
  if (effect === 'workspace' || effect === 'hook') return ['2'];
  return isRead || (isReviewed && ends === 'tool-done') ? ['1', '2'] : ['1'];
}

function failuresOf({ daemon }: KilledPlace, issue: number): number {
  const lines = readFileSync(join(daemon.stateDir, 'journal.jsonl'), 'utf8').split('\n').filter(Boolean);
  const records = lines.map((line) => JSON.parse(line)).filter((one) => one.issue === issue);
  return records.filter(({ type, outcome }) => type === 'attempt_ended' && outcome === 'failed').length;
}

const GROUPS = new Map<string, FleetCase[]>();
for (const one of CASES) GROUPS.set(placeOf(one), [...(GROUPS.get(placeOf(one)) ?? []), one]);

describe('a coordinator that is killed', { concurrency: 4 }, () => {
  for (const [settings, cases] of GROUPS)
    test(`under ${settings.replaceAll('\n', ', ')}`, async (t) => {
      const place = await KilledPlace.start(t, settingsOf(cases[0] ?? assert.fail()), {
        queue: await RedisServer.start(t),
      });
      for (const [at, one] of cases.entries()) {
        const { key, moment, elsewhere } = one;
        const isLast = at === cases.length - 1;
        const name = `with ${key || 'the comment'} ${moment}, the next one ${elsewhere ? 'elsewhere' : 'at its place'}`;
        await t.test(name, async () => {
          const go = join(place.daemon.directory, `${at}.go`);
          const waits = `while [ ! -e ${go} ]; do sleep 0.1; done`;
          const issue = await goThrough({ ...one, waits }, place, () => {
            if (elsewhere) place.vanish();
            place.goOn(isLast);
            writeFileSync(go, '');
          });
          await assertOneEnd(one, place, issue);
          assert.deepEqual(linesOf(place.path(issue, 'attempts')), ranOf(one), place.daemon.log);
          assert.equal(failuresOf(place, issue), one.ends === 'tool-failed' ? 1 : 0);
        });
      }
    });
});
