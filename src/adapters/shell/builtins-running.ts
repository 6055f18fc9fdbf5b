// What is built into the shell and runs other commands, or ends what runs.

import { readOptions } from './options.ts';
import { type Builtin, both, type Call, type Outcome } from './reader.ts';
import { fileText } from './redirects.ts';
import { forgetAll, join, NO_INPUT, type Shell, sameState, sharedInput } from './state.ts';
import { type Field, isText } from './values.ts';
import { lookUp } from './variables.ts';

/** Texts joined by blanks; null when one is not known. */
function joined(words: readonly Field[]): string | null {
  return words.every(isText) ? words.join(' ') : null;
}

const evalBuiltin: Builtin = (call) => {
  const { reader, shell, args } = call;
  const text = joined(args[0] === '--' ? args.slice(1) : args);
  if (text !== null) {
    const outcome = reader.runText(text, { ...shell, stdin: sharedInput(call.stdin) });
    const back = (after: Shell | null) => (after === null ? null : { ...after, stdin: shell.stdin });
    return { ...outcome, ok: back(outcome.ok), fail: back(outcome.fail) };
  }
  reader.unresolved('eval runs a text that is known only when it runs');
  return both(forgetAll(shell));
};

/** One without a slash is looked for on the PATH, and then in the directory; null where it cannot be told. */
function placeOfSource(path: string, { reader, shell }: Call): string | null {
  if (path.includes('/')) return path;
  const directories = lookUp('PATH', shell, reader.context);
  if (typeof directories !== 'string') return null;
  const isOnPath = directories.split(':').some((one) => reader.kindAt(shell, `${one || '.'}/${path}`) !== 'none');
  return isOnPath ? null : `./${path}`;
}

const source: Builtin = (call) => {
  const { reader, shell, name } = call;
  const [path, ...args] = call.args[0] === '--' ? call.args.slice(1) : call.args;
  const place = isText(path) ? placeOfSource(path, call) : null;
  const text = place === null ? undefined : fileText(place, { shell }, reader);
  if (path !== undefined) reader.executed(shell, path, name);
  // one that is not there is a mistake, and the shell goes on
  const isUnmade = reader.changes() === 0 && reader.stirredBy(shell, null) === 'nothing';
  if (place !== null && isUnmade && !/^\/(?:dev|proc)\//.test(place) && reader.kindAt(shell, place) === 'none')
    return both(shell);
  if (text?.kind !== 'text') {
    reader.unresolved(`${name} runs a file that cannot be read before it runs`);
    return both(forgetAll(shell));
  }
  const { exits } = reader;
  const saved = exits.function;
  exits.function = [];
  const inner = args.length === 0 ? shell : { ...shell, positional: args.every(isText) ? args : null };
  const outcome = reader.runText(text.text, inner);
  const returned = exits.function;
  exits.function = saved;
  const back = (after: Shell | null): Shell | null =>
    after === null ? null : { ...after, positional: args.length === 0 ? after.positional : shell.positional };
  const ends = [outcome, ...returned.map((state) => both(state))];
  return ends.reduce<Outcome>(
    (all, one) => ({ ok: join(all.ok, back(one.ok)), fail: join(all.fail, back(one.fail)), out: one.out }),
    {
      ok: null,
      fail: null,
      out: NO_INPUT,
    },
  );
};

const command: Builtin = (call) => {
  const options = readOptions(call.args, { stopsAtOperand: true });
  if (options.has('v', 'V')) return both(call.shell);
  if (options.isUncertain && !isText(call.args[0]))
    call.reader.unresolved('command runs what is known only when it runs');
  return options.operands.length === 0
    ? both(call.shell)
    : call.reader.runWords(options.operands, call.shell, call.stdin, 'builtin');
};

const builtin: Builtin = (call) => {
  const words = call.args[0] === '--' ? call.args.slice(1) : call.args;
  return words.length === 0 ? both(call.shell) : call.reader.runWords(words, call.shell, call.stdin, 'builtin');
};

const exec: Builtin = (call) => {
  const options = readOptions(call.args, { short: ['a'], stopsAtOperand: true });
  if (options.operands.length === 0) {
    // its redirections are those of the shell from here on
    return both({ ...call.shell, stdin: call.stdin.kind === 'none' ? call.shell.stdin : { kind: 'unknown' } });
  }
  const outcome = call.reader.runWords(options.operands, call.shell, call.stdin, 'program');
  // when the program is not found a shell that is not asked ends; one that a person uses goes on
  return { ok: null, fail: outcome.fail, out: outcome.out };
};

const trap: Builtin = (call) => {
  const { reader, shell } = call;
  const options = readOptions(call.args, { stopsAtOperand: true });
  if (options.has('p', 'l')) return both(shell);
  const [text, ...signals] = options.operands;
  if (text === undefined || (signals.length === 0 && text !== '-')) return both(shell);
  if (!isText(text)) {
    reader.unresolved('trap keeps a text that is known only when it runs');
    return both(shell);
  }
  if (text === '-' || text === '') return both(shell);
  reader.exits.traps.push(text);
  const isOnExit = signals.every((signal) => signal === 'EXIT' || signal === '0');
  const after = isOnExit ? null : reader.deeper(() => reader.runText(text, shell), shell);
  const changed = [after?.ok ?? null, after?.fail ?? null].some((state) => state !== null && !sameState(state, shell));
  if (changed) reader.unresolved('trap changes the shell at a moment that is not known');
  reader.exits.moments = join(reader.exits.moments, shell);
  return both(shell);
};

const alias: Builtin = (call) => {
  const { reader, shell } = call;
  const names = new Set(shell.aliases);
  for (const arg of call.args) {
    const text = isText(arg) ? arg : arg.lead;
    const name = text.split('=')[0] ?? '';
    if (!text.includes('=')) {
      if (shell.zsh && /^-\w*[gs]/.test(text)) reader.unresolved('alias defines a word that may stand anywhere');
      if (!isText(arg)) reader.unresolved('alias defines a name that is known only when it runs');
      continue;
    }
    if (KEYWORDS.has(name)) reader.unresolved(`alias changes what ${name} means to the shell`);
    names.add(name);
  }
  return both({ ...shell, aliases: names });
};

const KEYWORDS: ReadonlySet<string> = new Set(
  'if then elif else fi for in do done while until case esac select function time coproc { } ! [[ ]]'.split(' '),
);

/** With other words than one number the shell complains, and may go on. */
function isEnd(args: readonly Field[]): boolean {
  const [count] = args;
  if (args.length > 1) return false;
  return count === undefined || (isText(count) ? /^\d+$/.test(count) : count.number && !count.many);
}

const ENDED: Outcome = { ok: null, fail: null, out: NO_INPUT };

const exit: Builtin = ({ reader, shell, args }) => {
  reader.exits.shell.push(shell);
  return isEnd(args) ? ENDED : both(shell, NO_INPUT);
};

const returnBuiltin: Builtin = ({ reader, shell, args }) => {
  reader.exits.function.push(shell);
  // outside of functions and sourced files it does nothing
  return shell.locals !== null && isEnd(args) ? ENDED : both(shell, NO_INPUT);
};

const breakBuiltin: Builtin = ({ reader, shell, args }) => {
  reader.exits.loop.push(shell);
  // outside of loops it does nothing
  return reader.exits.isInLoop && isEnd(args) && args[0] !== '0' ? ENDED : both(shell, NO_INPUT);
};

/** Commands of the shell that run texts in ways that are not followed. */
const refused =
  (why: string): Builtin =>
  ({ reader, shell, name }) => {
    reader.unresolved(`${name} ${why}`);
    return both(forgetAll(shell));
  };

const history: Builtin = (call) => {
  for (const arg of call.args) {
    if (arg === '-c' || (isText(arg) && /^\d+$/.test(arg))) continue;
    call.reader.unresolved('history may write a file');
  }
  return both(call.shell);
};

const jobs: Builtin = (call) => {
  if (call.args[0] === '-x') return call.reader.runWords(call.args.slice(1), call.shell, call.stdin);
  return both(call.shell);
};

/** `hash -p` makes a name stand for another program. */
const hash: Builtin = (call) => {
  if (call.args.length > 0 && !(call.args.length === 1 && call.args[0] === '-r')) {
    call.reader.unresolved('hash may make a name stand for another program');
  }
  return both(call.shell, NO_INPUT);
};

const quiet: Builtin = ({ shell }) => both(shell, NO_INPUT);

const certain =
  (isOk: boolean): Builtin =>
  ({ shell }) => ({ ok: isOk ? shell : null, fail: isOk ? null : shell, out: NO_INPUT });

export const RUNNING_BUILTINS: readonly (readonly [string, Builtin])[] = [
  ['eval', evalBuiltin],
  ['source', source],
  ['.', source],
  ['command', command],
  ['builtin', builtin],
  ['exec', exec],
  ['trap', trap],
  ['alias', alias],
  ['exit', exit],
  ['logout', exit],
  ['return', returnBuiltin],
  ['break', breakBuiltin],
  ['continue', breakBuiltin],
  ['history', history],
  ['jobs', jobs],
  ['hash', hash],
  ['true', certain(true)],
  [':', certain(true)],
  ['false', certain(false)],
  ['fc', refused('runs commands of the past')],
  ['enable', refused('may load code into the shell')],
  ['bind', refused('may bind commands to keys')],
  ['compgen', refused('may run commands')],
  ['complete', refused('may run commands')],
  ...['umask', 'ulimit', 'type', 'times', 'kill', 'disown', 'bg', 'fg', 'caller', 'unalias'].map(
    (name): readonly [string, Builtin] => [name, quiet],
  ),
];
