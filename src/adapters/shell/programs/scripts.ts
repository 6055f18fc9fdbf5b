// Scripts of a manifest: what they surely write is told, and what the words behind them add; the rest is run unread, as programs of the project are.

import type { ShellWrite } from '../effects.ts';
import { parentOf } from '../paths.ts';
import type { Call } from '../reader.ts';
import type { Shell } from '../state.ts';
import { type Field, isText } from '../values.ts';
import { anyRunner } from './snapshots.ts';

type Manifest = { readonly scripts: Readonly<Record<string, unknown>>; readonly directory: string };

export function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === 'object' && found !== null ? { ...found } : {};
  } catch {
    return {};
  }
}

/** The nearest one at or above the directory; null when it cannot be told what it says. */
function manifestOf({ reader }: Call, inside: Shell): Manifest | null {
  const [start, ...others] = reader.places(inside, '.') ?? [];
  if (start === undefined || others.length > 0) return null;
  let directory = start;
  while (reader.context.kindOf(`${directory}/package.json`) !== 'file') {
    if (directory === '/') return null;
    directory = parentOf(directory);
  }
  const path = `${directory}/package.json`;
  // the command itself may have changed it
  if (reader.kindAt(inside, path) !== 'file') return null;
  const { scripts } = fieldsOf(reader.context.readText?.(path) ?? '');
  return { scripts: typeof scripts === 'object' && scripts !== null ? { ...scripts } : {}, directory };
}

/** A script that a manifest has, or a line of a recipe, with where it runs. */
type Script = {
  readonly name: string;
  readonly text: string;
  readonly directory: string;
  /** What is said of it, where that is more than its name. */
  readonly title?: string;
};

/** Those of these scripts that there are. */
export function scriptsOf(call: Call, inside: Shell, names: readonly string[]): readonly Script[] {
  const manifest = manifestOf(call, inside);
  if (manifest === null) return [];
  const { scripts, directory } = manifest;
  return names.flatMap((name) => {
    const text = Object.hasOwn(scripts, name) ? scripts[name] : null;
    return typeof text === 'string' ? [{ name, text, directory }] : [];
  });
}

export function hasScript(call: Call, inside: Shell, name: string): boolean {
  return scriptsOf(call, inside, [name]).length > 0;
}

/** First words of the names of scripts that look at a project, build it or start it. */
const CHECKS: ReadonlySet<string> = new Set(
  (
    'test tests unit e2e it integration spec specs coverage cov cover bench check checks verify validate ci qa lint eslint ' +
    'stylelint tsc type types typecheck typings build compile bundle dist dev start serve preview watch prepare install pack publish'
  ).split(' '),
);
/** Words by which they are there to change files all the same. */
const CHANGES: ReadonlySet<string> = new Set('fix format fmt write update'.split(' '));

function isCheck(name: string): boolean {
  const [first = '', ...rest] = name.toLowerCase().split(/[^a-z0-9]+/);
  return (
    CHECKS.has(CHECKS.has(first) ? first : first.replace(/^(?:pre|post)/, '')) && !rest.some((one) => CHANGES.has(one))
  );
}

/** Of one that checks or builds, what it puts somewhere in a directory, or mends there, is an aside that may come to nothing. */
function isSure({ tree, how }: ShellWrite, name: string): boolean {
  return !tree || how !== undefined || !isCheck(name);
}

const keyOf = ({ path, tree, directory }: ShellWrite) => `${tree} ${directory} ${path}`;

/** Tells what a script writes, for the variables that it is given as well. */
export function tellWrites({ reader }: Call, { name, text, directory, title = name }: Script, inside: Shell): void {
  const { context } = reader;
  const shell: Shell = { ...inside, cwds: [directory], positional: [] };
  const vars = new Map([...inside.vars].filter(([one]) => !inside.exported.has(one)));
  const read = (now: Shell) => reader.writesOfScript(`${directory} ${title}`, text, now);
  const own = read({ ...shell, vars, exported: new Set() });
  const known = new Set(own.map(keyOf));
  for (const write of inside.exported.size === 0 ? own : read(shell)) {
    const isGone =
      write.how === 'removed' && context.kindOf(write.path) === 'none' && context.linkTo(write.path) === null;
    if (write.directory === true || write.how === 'renewed' || isGone) continue;
    if (isSure(write, name) || !known.has(keyOf(write))) reader.wroteAsScript({ script: title, ...write });
  }
}

/** Reads what a script writes for the words that it is given and would not write without them. */
export function readWords(call: Call, inside: Shell, script: Script | undefined, words: readonly Field[]): void {
  const { reader } = call;
  if (!words.some((word) => !isText(word) || word.startsWith('-'))) return;
  if (script === undefined) {
    anyRunner({ ...call, shell: inside, args: words });
    return;
  }
  const shell = { ...inside, cwds: [script.directory] };
  const plain = reader.tried(script.text, { ...shell, positional: [] });
  const given = reader.tried(`${script.text} "$@"`, { ...shell, positional: words });
  const known = new Set(plain.writes.map(keyOf));
  for (const write of given.writes) {
    if (known.has(keyOf(write))) continue;
    if (write.script !== undefined) reader.wroteAsScript(write);
    else
      reader.write(shell, write.path, `${call.name}: ${write.by}`, {
        tree: write.tree,
        ...(write.directory === true ? { directory: true } : {}),
      });
  }
  for (const line of given.unresolved) if (!plain.unresolved.includes(line)) reader.unresolved(line);
}
