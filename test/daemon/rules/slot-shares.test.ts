// Fair shares of the slots.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type SlotShare, sharedSlots } from '../../../src/daemon/rules/slot-shares.ts';

const share = (held: number, wants = 0, since = 0): SlotShare => ({ held, wants, since });

test('alone, or beside those that want nothing, a repository gets every free slot', () => {
  assert.equal(sharedSlots(4, share(1, 9), []), 3);
  assert.equal(sharedSlots(4, share(1, 9), [share(1), share(0)]), 2);
  assert.equal(sharedSlots(2, share(2, 9), [share(1, 1)]), 0);
});

test('a free slot goes to whoever holds the fewest; of two that hold as many, to the one that waits longer', () => {
  assert.equal(sharedSlots(3, share(2, 9), [share(0, 1)]), 0);
  assert.equal(sharedSlots(3, share(0, 9, 5), [share(0, 1, 4), share(0, 1, 6)]), 1);
  assert.equal(sharedSlots(1, share(0, 9, 5), [share(0, 1, 4)]), 0);
  assert.equal(sharedSlots(5, share(0, 9, 1), [share(0, 1, 2)]), 4);
});

test('however slots are taken: nobody waits while another takes a second, and none is left free that somebody wants', () => {
  const member = fc.record({ wants: fc.nat(5), held: fc.nat(3) });
  fc.assert(
    fc.property(
      fc.array(member, { minLength: 1, maxLength: 6 }),
      fc.nat(12),
      fc.infiniteStream(fc.nat()),
      (all, slots, order) => {
        const members = all.map((one, since) => ({ ...one, since }));
        const free = () => slots - members.reduce((sum, { held }) => sum + held, 0);
        for (let turn = 0; turn < 40 && free() > 0; turn++) {
          const taker = members[(order.next().value ?? 0) % members.length];
          if (taker === undefined || taker.wants === 0) continue;
          const others = members.filter((one) => one !== taker);
          if (sharedSlots(slots, taker, others) === 0) continue;
          const waiting = others.filter(({ wants, held }) => wants > 0 && held < taker.held);
          assert.ok(free() > waiting.length, 'a slot is left for each that waits and holds fewer');
          taker.held += 1;
          taker.wants -= 1;
        }
        for (const one of members)
          if (one.wants > 0 && free() > 0) {
            const somebody = members.some(
              (other) =>
                other.wants > 0 &&
                sharedSlots(
                  slots,
                  other,
                  members.filter((third) => third !== other),
                ) > 0,
            );
            assert.ok(somebody, 'a free slot can be had by somebody that wants one');
          }
      },
    ),
  );
});
