// The daemon is killed at each moment of each effect it has; the next one on the same state finishes the issue once, and is killed at
// the next moment, of another issue. The moment after an effect is a state of its own only where nothing follows: what is recorded is
// what the next effect begins with. With TOOLCREW_ALL all of them are tried.

import test, { after } from 'node:test';
import type { Effect } from '../../src/daemon/rules/effect-names.ts';
import {
  assertOneEnd,
  type Case,
  goThrough,
  MOMENTS,
  MORE,
  OWN_HOOKS,
  placeOf,
  SCENARIOS,
  type Scenario,
  settingsOf,
} from '../support/kill-cases.ts';
import { killedPlaces } from '../support/killed-places.ts';

const EFFECTS: [Effect, Scenario][] = [
  ...Object.entries(SCENARIOS).map(([effect, scenario]): [Effect, Scenario] => [effect as Effect, scenario]),
  ...MORE,
];

const isAll = process.env.TOOLCREW_ALL !== undefined;

const CASES = EFFECTS.flatMap(([effect, scenario]): readonly Case[] =>
  scenario.keys.flatMap((key) =>
    MOMENTS.filter((moment) => moment !== 'recorded' || (scenario.isLast ?? isAll)).map((moment) => ({
      ...scenario,
      effect,
      key,
      moment,
    })),
  ),
);

const places = killedPlaces({ after });

for (const [at, one] of CASES.entries()) {
  const { key, moment } = one;
  const name = placeOf(one);
  const isLastThere = !CASES.slice(at + 1).some((later) => placeOf(later) === name);
  test(`killed with ${key || 'the comment'} ${moment}${one.nests ? ', work left over' : ''}: one end, and nothing twice`, async () => {
    const place = await places.take(name, settingsOf(one), { files: one.hasOwnHooks ? OWN_HOOKS : undefined });
    const issue = await goThrough(one, place, () => place.goOn(isLastThere));
    await place.left(isLastThere);
    await assertOneEnd(one, place, issue);
    places.giveBack(name, place);
  });
}
