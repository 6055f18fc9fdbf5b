// Says which files a shell command would write, from its parse tree alone and before it runs.

import { parse } from 'unbash';
import { dispatch } from './dispatch.ts';
import type { ShellContext, ShellEffects } from './effects.ts';
import { both, type Outcome, type Reader, type ShellKind, TooMuch } from './reader.ts';
import { inSubshell, runFunction, runScript } from './run.ts';
import { createSink, stepCounter } from './sink.ts';
import { forgetAll, NO_INPUT, type Shell, UNKNOWN_INPUT } from './state.ts';
import { LONGEST_TEXT, UNKNOWN } from './values.ts';
import { expandText, expandWord } from './words.ts';
import { mayBeZsh } from './zsh.ts';

const DEEPEST = 40;

/** Reads a command as the person's shell may: with `**` as directories of any depth where the settings say so, and without. */
export function readShell(command: string, context: ShellContext): ShellEffects {
  const deep = { isOn: false, isMet: false };
  const flat = readOnce(command, context, deep);
  return deep.isMet ? eitherWay(flat, readOnce(command, context, { isOn: true, isMet: false })) : flat;
}

/** What a command does that is read in two ways. */
function eitherWay(a: ShellEffects, b: ShellEffects): ShellEffects {
  const all = <T>(...lists: readonly (readonly T[])[]): readonly T[] => [
    ...new Map(lists.flat().map((one) => [JSON.stringify(one), one])).values(),
  ];
  return {
    writes: all(a.writes, b.writes),
    unresolved: all(a.unresolved, b.unresolved),
    repository: all(a.repository, b.repository),
    commands: all(a.commands, b.commands),
    ...(a.hasCode || b.hasCode ? { hasCode: true } : {}),
  };
}

function readOnce(command: string, context: ShellContext, deep: Scripts['deep']): ShellEffects {
  const sink = createSink(context);
  if (command.length > LONGEST_TEXT) {
    sink.unresolved(`it is ${command.length} characters long, at most ${LONGEST_TEXT} are read`);
    return sink.effects();
  }
  const { effects, ...collecting } = sink;
  const reader = createReader(context, collecting, {
    open: [],
    step: stepCounter(),
    deep,
  });
  try {
    inSubshell(firstShell(context, deep.isOn), reader, (shell) => reader.runText(command, shell));
  } catch (error) {
    if (error instanceof TooMuch) sink.unresolved(`it is too much to read: ${error.message}`);
    // the stack of calls ended, or a part has a shape that was not thought of: nothing is let through for that
    else sink.unresolved(`it cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  return effects();
}

type Collecting = Omit<ReturnType<typeof createSink>, 'effects'>;

/** Scripts that are being read one out of the other, and the steps that all of a command take together. */
type Scripts = {
  readonly open: readonly string[];
  readonly step: () => void;
  /** How the person's shell is taken to be set, and whether that matters. */
  readonly deep: { readonly isOn: boolean; isMet: boolean };
};

/** @param start how deep it is nested */
function createReader(context: ShellContext, collecting: Collecting, scripts: Scripts, start = 0): Reader {
  let depth = start;
  const runText = (text: string, shell: Shell): Outcome => {
    if (text.length > LONGEST_TEXT || text.includes('\0')) {
      reader.unresolved(`a text of ${text.length} characters is run as commands`);
      return both(forgetAll(shell));
    }
    return reader.deeper(() => runScript(parse(text), shell, reader), shell);
  };
  const reader: Reader = {
    ...collecting,
    context,
    exits: { loop: [], isInLoop: false, function: [], shell: [], line: [], traps: [], moments: null },
    deeper: (inner, shell) => {
      if (depth >= DEEPEST) {
        // what is tried may be held against what was tried as deep
        if (start > 0) throw new TooMuch(`it is nested more than ${DEEPEST} deep`);
        reader.unresolved(`it is nested more than ${DEEPEST} deep`);
        return both(forgetAll(shell));
      }
      depth += 1;
      try {
        return inner();
      } finally {
        depth -= 1;
      }
    },
    mayStop: (shell) => void reader.exits.line.push(shell),
    runScript: (script, shell) =>
      reader.deeper(() => inSubshell(shell, reader, (now) => runScript(script, now, reader)), shell),
    runText,
    runChild: (text, shell, kind = 'plain') =>
      inSubshell(childOf(shell, context, kind, scripts.deep.isOn), reader, (now) => runText(text, now)),
    metDeep: () => {
      scripts.deep.isMet = true;
    },
    tried: (text, shell) => {
      const { effects, ...others } = createSink(context);
      const { step, onlyReads } = collecting;
      const inner = createReader(context, { ...others, step, onlyReads }, scripts, depth);
      inner.deeper(() => inner.runChild(text, shell), shell);
      return effects();
    },
    writesOfScript: (name, text, shell) => {
      const { open, step } = scripts;
      if (open.includes(name)) return [];
      const { effects, ...others } = createSink(context, 'script');
      const own = { ...scripts, open: [...open, name] };
      const inner = createReader(context, { ...others, step, onlyReads: () => null }, own, depth);
      try {
        step();
        inner.deeper(() => inner.runChild(text, shell), shell);
      } catch {
        // what cannot be read is run unread, as programs of the project are; what was found until then counts
      }
      return effects().writes;
    },
    runFunction: (name, args, shell, stdin) => runFunction(name, args, shell, stdin, reader),
    runWords: (words, shell, stdin, how = 'all') => dispatch(words, shell, stdin, how, reader),
    expandWord: (word, holder) => expandWord(word, holder, reader),
    expandText: (word, holder) => expandText(word, holder, reader),
  };
  return reader;
}

function firstShell(context: ShellContext, deep: boolean): Shell {
  return {
    vars: new Map(),
    exported: new Set(),
    fixed: new Set(),
    opaque: false,
    cwds: [context.cwd],
    stack: [],
    functions: new Map(),
    aliases: new Set(),
    positional: null,
    options: new Set(),
    deep,
    zsh: mayBeZsh(context),
    locals: null,
    spilled: new Set(),
    stdin: NO_INPUT,
  };
}

/** What a shell that is started by this one knows of it. */
function childOf(shell: Shell, context: ShellContext, kind: ShellKind, deep: boolean): Shell {
  const vars = new Map(
    [...shell.vars].map(([name, value]) => {
      const isSeen = shell.exported.has(name) || Object.hasOwn(context.env, name) || name === 'PWD' || name === 'HOME';
      // bash sets its own separators anew
      return [name, isSeen && typeof value === 'string' ? value : UNKNOWN] as const;
    }),
  );
  vars.delete('IFS');
  const functions = new Map([...shell.functions].map(([name, { bodies }]) => [name, { bodies, certain: false }]));
  const stdin = shell.stdin.kind === 'none' ? NO_INPUT : UNKNOWN_INPUT;
  return {
    ...shell,
    vars,
    functions,
    aliases: new Set(),
    options: new Set(),
    deep: kind === 'own' ? deep : kind === 'zsh',
    zsh: kind === 'own' ? mayBeZsh(context) : kind === 'zsh',
    fixed: new Set(),
    locals: null,
    stack: [],
    stdin,
  };
}
