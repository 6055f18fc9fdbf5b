// `cd`, `pushd`, `popd`: where the shell is afterwards.

import { readOptions } from './options.ts';
import { normalize } from './paths.ts';
import { type Builtin, both, type Call, type Outcome } from './reader.ts';
import { join, joinDirectories, type Shell } from './state.ts';
import { type Field, isText, mayBeOption, UNKNOWN } from './values.ts';
import { asField, lookUp } from './variables.ts';

type Directories = readonly string[] | null;

/** The directories that a word of `cd` may lead to; null when that is not known. */
function targetsOf(target: Field, isPhysical: boolean, { shell, reader }: Call, isSearched = true): Directories {
  if (!isText(target) || shell.options.has('cdable_vars')) return null;
  const isPlain = target.startsWith('/') || /^\.\.?(\/|$)/.test(target);
  if (!isPlain && isSearched) {
    const path = lookUp('CDPATH', shell, reader.context);
    if (path !== undefined && path !== null && path !== '') return null;
  }
  if (isPhysical) return reader.places(shell, target);
  if (target.startsWith('/')) return ways('/', target, shell, reader);
  return shell.cwds === null ? null : [...new Set(shell.cwds.flatMap((cwd) => ways(cwd, target, shell, reader)))];
}

/** Where a path leads with the links as they are written; where that is no directory, bash follows them. */
function ways(cwd: string, target: string, shell: Shell, reader: Call['reader']): readonly string[] {
  const written = normalize(`${cwd}/${target}`);
  if (!target.includes('..') || reader.kindAt(shell, written) === 'directory') return [written];
  const [real] = reader.places({ ...shell, cwds: [cwd] }, target) ?? [];
  const isSame = real === undefined || reader.places(shell, written)?.[0] === real;
  return isSame ? [written] : [written, real];
}

/** The shell after it went to a directory. */
function arrived(shell: Shell, cwds: Directories): Shell {
  const vars = new Map(shell.vars);
  const before = shell.cwds;
  vars.delete('PWD');
  const old = before?.length === 1 ? before[0] : undefined;
  vars.set('OLDPWD', old ?? UNKNOWN);
  return { ...shell, cwds, vars };
}

/** Goes there; a directory that is not surely there may leave the shell where it is. */
function go(call: Call, cwds: Directories): Outcome {
  const { shell, reader } = call;
  const moved = arrived(shell, cwds);
  const isThere = cwds?.every((cwd) => reader.kindAt(shell, cwd) === 'directory');
  return { ok: moved, fail: isThere ? null : shell, out: { kind: 'unknown' } };
}

const cd: Builtin = (call) => {
  const { shell, reader, args } = call;
  const options = readOptions(args, { stopsAtOperand: true });
  const [target, ...more] = options.operands;
  if (args.some((arg) => !isText(arg) && arg.many)) return go(call, null);
  // zsh puts the second in the place of the first
  if (more.length > 0) return shell.zsh ? go(call, null) : both(shell);
  if (target === undefined) return go(call, targetsOf(asField(lookUp('HOME', shell, reader.context)), false, call));
  if (target === '-') {
    // the text may have been assigned, and is a path like another
    const old = shell.vars.has('OLDPWD') ? asField(lookUp('OLDPWD', shell, reader.context)) : UNKNOWN;
    if (old === '') return both(shell);
    const isPhysical = options.has('P') || shell.options.has('physical');
    return go(call, isPhysical ? null : targetsOf(old, false, call, false));
  }
  if (target === '') return both(shell);
  if (mayBeOption(target) && !isText(target)) return go(call, null);
  const isUnsure = (options.has('P') && options.has('L')) || shell.options.has('physical');
  const targets = targetsOf(target, options.has('P'), call);
  if (!isUnsure) return go(call, targets);
  return go(call, joinDirectories(targets, targetsOf(target, !options.has('P'), call)));
};

const pushd: Builtin = (call) => {
  const { shell, args } = call;
  const [target] = args;
  if (args.length !== 1 || !isText(target) || /^[-+]/.test(target)) return both({ ...shell, cwds: null, stack: [] });
  const outcome = go(call, targetsOf(target, false, call));
  const ok = outcome.ok === null ? null : { ...outcome.ok, stack: [shell.cwds, ...shell.stack] };
  return { ...outcome, ok };
};

const popd: Builtin = (call) => {
  const { shell, args } = call;
  const [top, ...rest] = shell.stack;
  if (args.length > 0 || (top === undefined && shell.cwds === null)) return both({ ...shell, cwds: null, stack: [] });
  if (top === undefined) return both(shell);
  const outcome = go(call, top);
  return { ...outcome, ok: join(outcome.ok === null ? null : { ...outcome.ok, stack: rest }, null) };
};

const dirs: Builtin = ({ shell, args }) => {
  if (args.every((arg) => isText(arg) && /^(-[lpv]+|[-+]\d+)$/.test(arg))) return both(shell);
  return both(args.length === 1 && args[0] === '-c' ? { ...shell, stack: [] } : { ...shell, cwds: null, stack: [] });
};

export const DIRECTORY_BUILTINS: readonly (readonly [string, Builtin])[] = [
  ['cd', cd],
  ['chdir', cd],
  ['pushd', pushd],
  ['popd', popd],
  ['dirs', dirs],
];
