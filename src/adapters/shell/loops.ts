// Loops: over words that are known one by one, over others until nothing new is found.

import type { CompoundList, For, Select } from 'unbash';
import { checkAssigned } from './assigned.ts';
import { both, type Holder, type Outcome, type Reader } from './reader.ts';
import { forgetAll, join, joinAll, type Shell, sameState, setVariable, UNKNOWN_INPUT } from './state.ts';
import { type Field, isText, UNKNOWN } from './values.ts';

const MOST_ROUNDS = 10;
const MOST_WORDS = 200;

/** Runs something that `break` and `continue` lead out of, and answers with the states they carry. */
export function withLoop(reader: Reader, run: () => void): Shell | null {
  const { loop: saved, isInLoop } = reader.exits;
  const own: (Shell | null)[] = [];
  Object.assign(reader.exits, { loop: own, isInLoop: true });
  run();
  Object.assign(reader.exits, { loop: saved, isInLoop });
  const carried = joinAll(own);
  // `break 2` leads out of the loop around as well
  if (carried !== null && isInLoop) saved.push(carried);
  return carried;
}

/** Runs a round again until what is known no longer changes. */
export function runUntilStable(
  start: Shell,
  reader: Reader,
  round: (now: Shell) => { readonly next: Shell | null; readonly out: Shell | null },
): Outcome {
  let now = start;
  let ended: Shell | null = null;
  let changes = reader.changes();
  for (let count = 0; ; count += 1) {
    let next: Shell | null = null;
    const broken = withLoop(reader, () => {
      const done = round(now);
      next = done.next;
      ended = join(ended, done.out);
    });
    ended = join(ended, broken);
    const joined: Shell = join(now, join(next, broken)) ?? now;
    // a file that was made may be found by the patterns of another round
    const isStable = sameState(joined, now) && changes === reader.changes();
    if (isStable) break;
    changes = reader.changes();
    if (count > MOST_ROUNDS + 2) break;
    now = count > MOST_ROUNDS ? forgetAll(joined) : joined;
  }
  return both(ended, UNKNOWN_INPUT);
}

export function runFor(
  node: For | Select,
  shell: Shell,
  reader: Reader,
  runBody: (body: CompoundList, shell: Shell) => Outcome,
): Outcome {
  const holder: Holder = { shell };
  const name = node.name.value;
  const words = node.wordlist?.flatMap((word) => reader.expandWord(word, holder)) ?? shell.positional;
  const start = holder.shell;
  if (node.type === 'For' && words !== null && words.length <= MOST_WORDS && words.every(isSingle)) {
    return overWords(name, words, node.body, start, reader, runBody);
  }
  const value = node.type === 'For' ? commonOf(words) : UNKNOWN;
  checkAssigned(name, value, start, reader);
  return runUntilStable(start, reader, (now) => {
    const body = runBody(node.body, setVariable(now, name, value));
    return { next: join(body.ok, body.fail), out: now };
  });
}

function isSingle(word: Field): boolean {
  return isText(word) || !word.many;
}

/** What is true of all words: that they lie in the same directories. */
function commonOf(words: readonly Field[] | null): Field {
  const [only] = words ?? [];
  if (words?.length === 1 && only !== undefined && !isText(only) && only.within !== null)
    return { ...only, many: false };
  return UNKNOWN;
}

function overWords(
  name: string,
  words: readonly Field[],
  body: CompoundList,
  start: Shell,
  reader: Reader,
  runBody: (body: CompoundList, shell: Shell) => Outcome,
): Outcome {
  let now: Shell | null = start;
  let ended: Shell | null = words.length === 0 ? start : null;
  for (const word of words) {
    if (now === null) break;
    checkAssigned(name, word, now, reader);
    const from: Shell = setVariable(now, name, word);
    let after: Shell | null = null;
    const carried = withLoop(reader, () => {
      const outcome = runBody(body, from);
      after = join(outcome.ok, outcome.fail);
    });
    ended = join(ended, carried);
    now = join(after, carried);
  }
  return both(join(now, ended), UNKNOWN_INPUT);
}
