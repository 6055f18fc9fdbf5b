// What is built into the shell and gives variables their values.

import { checkArithmeticText } from './arithmetic.ts';
import { checkAssigned } from './assigned.ts';
import { readOptions } from './options.ts';
import { type Builtin, both, type Call, type Holder } from './reader.ts';
import { forgetAll, type Input, join, NO_INPUT, type Shell, setVariable, spill } from './state.ts';
import { checkVariableName } from './test-expressions.ts';
import { type Field, isList, isText, UNKNOWN, UNKNOWN_WORDS, type Value } from './values.ts';
import { asField, assign, lookUp } from './variables.ts';

const NAME = /^[A-Za-z_]\w*$/;

type Named = { readonly name: string; readonly value: Field | undefined; readonly append: boolean };

/** `name`, `name=value` or `name+=value`; null when the name is not known. */
function namedOf(word: Field): Named | null {
  const text = isText(word) ? word : word.lead;
  const at = text.indexOf('=');
  if (at === -1) return isText(word) && NAME.test(word) ? { name: word, value: undefined, append: false } : null;
  const append = text[at - 1] === '+';
  const name = text.slice(0, append ? at - 1 : at);
  if (!NAME.test(name)) return null;
  const lead = text.slice(at + 1);
  return { name, value: isText(word) ? lead : { ...UNKNOWN, lead }, append };
}

/** Bash reads a text `(…)` as a list where the variable is one, and expands what stands in it. */
function assignList({ name, value, append }: Named, mayBeList: boolean, shell: Shell, call: Call): Shell | null {
  if (isText(value)) {
    if (!value.startsWith('(') || !value.includes(')')) return null;
    const outcome = call.reader.runText(`${name}${append ? '+' : ''}=${value}`, shell);
    return setVariable(join(outcome.ok, outcome.fail) ?? shell, name, UNKNOWN);
  }
  if (value !== undefined && mayBeList && !value.number && (value.lead === '' || value.lead.startsWith('(')))
    call.reader.unresolved(`${call.name} makes a list of a text that is known only when it runs`);
  return null;
}

/** What a variable holds when it is made a list. */
function asList(value: Value | undefined): Value {
  if (value === undefined) return [UNKNOWN_WORDS];
  if (value === null) return [];
  return isList(value) ? value : [value];
}

/** `declare`, `export`, `local`, `readonly`, `typeset`. */
const declare: Builtin = (call) => {
  const { reader, name: command } = call;
  const words = call.args.filter((arg) => !isText(arg) || !/^[-+][A-Za-z]+$/.test(arg));
  const flags = call.args.filter((arg) => isText(arg) && /^[-+][A-Za-z]+$/.test(arg)).join('');
  let shell = call.shell;
  if (/[pfF]/.test(flags) && command !== 'export' && command !== 'readonly') return both(shell);
  if (flags.includes('n') && command !== 'export') reader.unresolved(`${command} -n makes a name stand for another`);
  if (flags.includes('i')) reader.unresolved(`${command} -i works out texts, which may hold commands`);
  for (const word of words) {
    const named = namedOf(word);
    if (named === null) {
      if (word !== '--') {
        reader.unresolved(
          `${command} gives a value to a name that is known only when it runs; a file of them is read with \`set -a; . ./FILE; set +a\``,
        );
        shell = forgetAll(shell);
      }
      continue;
    }
    if (named.value !== undefined) {
      checkAssigned(named.name, named.value, shell, reader);
      const before = lookUp(named.name, shell, reader.context);
      const mayBeList = /[aA]/.test(flags) || (before !== undefined && before !== null && isList(before));
      const list = assignList(named, mayBeList, shell, call);
      // outside of functions `local` is a mistake
      const isNowhere = command === 'local' && shell.locals === null;
      if (list !== null) shell = list;
      else
        shell = isNowhere
          ? setVariable(shell, named.name, UNKNOWN)
          : assign(shell, named.name, named.value, named.append, reader.context);
    }
    if (shell.locals !== null) {
      const isOwn = shell.locals.has(named.name);
      if (command === 'export' || command === 'readonly') {
        // it may be one of a caller, or stand before the call and be kept
        if (!isOwn) shell = spill(shell, named.name);
      } else if (flags.includes('g')) {
        // the one outside is meant, whoever has another of its name
        shell = spill(setVariable(shell, named.name, UNKNOWN), named.name);
      } else {
        shell = { ...shell, locals: new Set([...shell.locals, named.name]) };
        // declared again it keeps its value
        if (named.value === undefined) shell = setVariable(shell, named.name, isOwn ? UNKNOWN : null);
      }
    }
    if (flags.includes('a') && named.value === undefined)
      shell = setVariable(shell, named.name, asList(lookUp(named.name, shell, reader.context)));
    if (flags.includes('A')) {
      // which key has which text is not followed
      shell = setVariable(shell, named.name, UNKNOWN);
      shell = { ...shell, fixed: new Set([...shell.fixed, named.name]) };
    }
    if (command === 'readonly' || flags.includes('r')) {
      shell = { ...shell, fixed: new Set([...shell.fixed, named.name]) };
      // to give it another value later ends the line
      reader.unresolved(`${command} keeps ${named.name} from being changed`);
    }
    if (command === 'export' || flags.includes('x')) {
      // a variable that holds commands becomes known to programs
      shell = { ...shell, exported: new Set([...shell.exported, named.name]) };
    }
  }
  // references to other variables, numbers and changed letters: what they do to values is not followed
  return both(/[nilcuIt]/.test(flags) && command !== 'export' ? { ...forgetAll(shell), cwds: shell.cwds } : shell);
};

const unset: Builtin = ({ args, shell, reader }) => {
  let now = shell;
  for (const arg of args) {
    if (isText(arg) && arg.startsWith('-')) continue;
    checkVariableName(arg, reader);
    if (!isText(arg)) now = forgetAll(now);
    else if (NAME.test(arg)) {
      const functions = new Map(now.functions);
      const known = functions.get(arg);
      if (known !== undefined) functions.set(arg, { ...known, certain: false });
      const isFunction = args.includes('-f');
      // what was declared by a caller is taken away, and what lies behind it is seen again
      const isOwn = now.locals === null || now.locals.has(arg);
      now = { ...now, functions };
      if (!isFunction) now = isOwn ? setVariable(now, arg, null) : spill(setVariable(now, arg, UNKNOWN), arg);
    } else now = setVariable(now, arg.split('[')[0] ?? arg, UNKNOWN);
  }
  return both(now);
};

/** Gives texts that are not known to names that are words of the command. */
function assignUnknown(names: readonly Field[], call: Call, shell = call.shell): Shell {
  let now = shell;
  for (const name of names) {
    checkVariableName(name, call.reader);
    if (!isText(name)) now = forgetAll(now);
    else {
      const plain = name.split('[')[0] ?? name;
      checkAssigned(plain, UNKNOWN, now, call.reader);
      now = setVariable(now, plain, UNKNOWN);
    }
  }
  return now;
}

const read: Builtin = (call) => {
  const options = readOptions(call.args, { short: ['d', 'i', 'n', 'N', 'p', 't', 'u', 'a'], stopsAtOperand: true });
  const names = [...options.operands, ...options.all('a')];
  return both(assignUnknown(names.length === 0 ? ['REPLY'] : names, call));
};

const mapfile: Builtin = (call) => {
  const options = readOptions(call.args, { short: ['d', 'n', 'O', 's', 'u', 'C', 'c'] });
  if (options.has('C') || options.isUncertain)
    call.reader.unresolved(`${call.name} -C runs commands for what it reads`);
  const [name = 'MAPFILE'] = options.operands;
  const { stdin } = call;
  const shell = assignUnknown([name], call);
  if (
    stdin.kind !== 'text' ||
    !isText(name) ||
    !NAME.test(name) ||
    ['d', 'n', 'O', 's', 'u'].some((flag) => options.has(flag))
  ) {
    return both(shell);
  }
  const lines = stdin.text.replace(/\n$/, '').split('\n');
  return both(setVariable(shell, name, options.has('t') ? lines : lines.map((line) => `${line}\n`)));
};

const printf: Builtin = (call) => {
  const [first, name, ...rest] = call.args;
  if (first === '-v' || (isText(first) && first.startsWith('-v'))) {
    const target = first === '-v' ? name : first.slice(2);
    const text = first === '-v' ? formatted(rest) : UNKNOWN;
    const shell = assignUnknown(target === undefined ? [] : [target], call);
    return both(isText(target) && NAME.test(target) ? setVariable(shell, target, text) : shell, NO_INPUT);
  }
  if (first !== undefined && !isText(first)) {
    call.reader.unresolved('printf may give a value to a variable that is known only when it runs');
    return both(forgetAll(call.shell));
  }
  const text = formatted(first === '--' ? call.args.slice(1) : call.args);
  return both(call.shell, isText(text) ? { kind: 'text', text } : { kind: 'unknown' });
};

/** What printf prints, for formats of texts and escapes alone. */
function formatted(args: readonly Field[]): Field {
  const [format, ...values] = args;
  if (!isText(format) || !values.every(isText)) return UNKNOWN;
  const rest = [...values];
  let text = '';
  do {
    const before = rest.length;
    for (const part of format.match(/%%|%[^%]|\\.|[^%\\]+|./gs) ?? []) {
      if (part === '%%') text += '%';
      else if (part === '%s') text += rest.shift() ?? '';
      else if (part === '%d' && /^-?[1-9]?\d$/.test(rest[0] ?? '')) text += rest.shift() ?? '';
      else if (ESCAPES[part] !== undefined) text += ESCAPES[part];
      else if (part.startsWith('%') || part.startsWith('\\')) return UNKNOWN;
      else text += part;
    }
    if (rest.length === before) break;
  } while (rest.length > 0 && text.length < 100_000);
  return text;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\n': '\n', '\\t': '\t', '\\\\': '\\', '\\"': '"', "\\'": "'" };

const letBuiltin: Builtin = (call) => {
  const holder: Holder = { shell: call.shell };
  for (const arg of call.args) {
    const assigned = isText(arg) ? /^\s*([A-Za-z_]\w*)\s*([-+*/%]?=|\+\+|--)([^=].*)?$/s.exec(arg) : null;
    if (assigned?.[1] === undefined) {
      checkArithmeticText(arg, holder, call.reader);
      continue;
    }
    if (assigned[2] !== '=') checkArithmeticText(assigned[1], holder, call.reader);
    checkArithmeticText(assigned[3] ?? '', holder, call.reader);
    holder.shell = setVariable(holder.shell, assigned[1], { ...UNKNOWN, number: true });
  }
  return both(holder.shell);
};

const getopts: Builtin = (call) => both(assignUnknown(call.args.slice(1, 2), call));

const echo: Builtin = ({ args, shell }) => {
  const isRaw = args[0] === '-n';
  const words = isRaw ? args.slice(1) : args;
  const isKnown =
    words.every(isText) && !words.some((word) => isText(word) && (word.includes('\\') || /^-[neE]+$/.test(word)));
  const out: Input = isKnown ? { kind: 'text', text: `${words.join(' ')}${isRaw ? '' : '\n'}` } : { kind: 'unknown' };
  return both(shell, out);
};

const set: Builtin = (call) => {
  const { args, shell, reader } = call;
  let now: Shell = shell;
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index];
    if (arg === undefined) continue;
    if (!isText(arg))
      return both({ ...forgetAll(now), cwds: now.cwds, options: new Set([...now.options, 'physical']) });
    if (arg === '--' || arg === '-') return both(withPositional(now, args.slice(index + 1)));
    if (!/^[-+]/.test(arg)) return both(withPositional(now, args.slice(index)));
    now = option(arg, args[index + 1], now, reader);
    if (/^[-+]\w*o$/.test(arg)) index += 1;
  }
  return both(now);
};

/** Options that leave alone how words are read. */
const LETTERS = /^[-+][euxvmbhETCafPo]+$/;
const NAMES: ReadonlySet<string> = new Set(
  'errexit nounset xtrace verbose pipefail noclobber noglob allexport monitor notify errtrace functrace physical'.split(
    ' ',
  ),
);

export function option(arg: string, next: Field | undefined, shell: Shell, reader: Call['reader']): Shell {
  const options = new Set(shell.options);
  const name = /o$/.test(arg) ? (next ?? 'errexit') : 'errexit';
  if (!LETTERS.test(arg) || !isText(name) || !NAMES.has(name)) {
    reader.unresolved('an option of the shell changes how its words are read');
    return forgetAll(shell);
  }
  if (name === 'noglob' || arg.includes('f')) options.add('noglob');
  if (name === 'physical' || arg.includes('P')) options.add('physical');
  return { ...shell, options };
}

function withPositional(shell: Shell, fields: readonly Field[]): Shell {
  return { ...shell, positional: fields.every((field) => isText(field) || !field.many) ? fields : null };
}

const shift: Builtin = ({ args, shell }) => {
  const count = args[0] === undefined ? '1' : args[0];
  const isKnown = shell.positional !== null && isText(count) && /^\d+$/.test(count);
  return both({ ...shell, positional: isKnown ? (shell.positional?.slice(Number(count)) ?? null) : null });
};

const SHOPTS: ReadonlySet<string> = new Set([
  ...'expand_aliases globstar nullglob dotglob extglob nocaseglob lastpipe nocasematch inherit_errexit'.split(' '),
  ...'checkwinsize histappend cmdhist progcomp huponexit cdable_vars -s -u -q -p'.split(' '),
]);

const shopt: Builtin = ({ args, shell, reader }) => {
  const names = args.filter(isText).filter((name) => SHOPTS.has(name));
  if (names.length === args.length) {
    // zsh has no shopt
    const isSet = !shell.zsh && names.includes('globstar') && names.includes('-s') !== names.includes('-u');
    const deep = isSet ? names.includes('-s') : shell.deep;
    return both({ ...shell, deep, options: new Set([...shell.options, ...names]) });
  }
  reader.unresolved('an option of the shell changes how its words are read');
  return both(forgetAll(shell));
};

const pwd: Builtin = ({ shell, reader, args }) => {
  const text: Value | undefined =
    args.length === 0 ? lookUp('PWD', { ...shell, vars: new Map() }, reader.context) : undefined;
  const field = asField(text);
  return both(shell, isText(field) ? { kind: 'text', text: `${field}\n` } : { kind: 'unknown' });
};

const wait: Builtin = (call) => {
  const options = readOptions(call.args, { short: ['p'] });
  return both(assignUnknown(options.all('p'), call));
};

/** `test -v` evaluates the subscript of the name it is given. */
const test: Builtin = ({ args, shell, reader }) => {
  for (const [index, arg] of args.entries()) {
    if (arg === '-v' || arg === '-R') checkVariableName(args[index + 1] ?? '', reader);
  }
  return both(shell, NO_INPUT);
};

export const ASSIGNING_BUILTINS: readonly (readonly [string, Builtin])[] = [
  ...['declare', 'export', 'local', 'readonly', 'typeset'].map((name): readonly [string, Builtin] => [name, declare]),
  ['unset', unset],
  ['read', read],
  ['mapfile', mapfile],
  ['readarray', mapfile],
  ['printf', printf],
  ['let', letBuiltin],
  ['getopts', getopts],
  ['echo', echo],
  ['set', set],
  ['shift', shift],
  ['shopt', shopt],
  ['pwd', pwd],
  ['wait', wait],
  ['test', test],
  ['[', test],
];
