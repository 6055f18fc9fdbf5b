// Loaded before a program (`--require`): the clock on its wall is an hour ahead.

'use strict';

const AHEAD_MS = 3_600_000;
const { Date: Real } = globalThis;
const { now } = Real;

class Ahead extends Real {
  constructor(...given) {
    super(...(given.length === 0 ? [now() + AHEAD_MS] : given));
  }

  static now() {
    return now() + AHEAD_MS;
  }
}

// `Date()` without `new` gives a text.
globalThis.Date = new Proxy(Ahead, { apply: () => new Ahead().toString() });
