// Where the files that a command writes are collected, with the links on their way.

import type { ShellContext, ShellEffects, ShellWrite } from './effects.ts';
import { absolute, baseOf, isWithin, normalize, parentOf, realPath } from './paths.ts';
import { hasPattern, matcher } from './patterns.ts';
import { PIPE_OUT, type Reader, TooMuch, type WriteOptions } from './reader.ts';
import { isText, meansSame } from './values.ts';

const MOST_STEPS = 5_000;
const MOST_WRITES = 1_000;
const LONGEST_PATH = 4_096;
/** Signs at which a program may cut a name in two. */
const ODD = /[\s'"\\]/;

type Note = { readonly path: string; readonly tree: boolean; readonly by: string };

/** What was written from one moment to another was written by the program itself. */
type Execution = { readonly isGuess: boolean; readonly from: number; readonly to: number };

type Sink = Pick<
  Reader,
  | 'write'
  | 'unresolved'
  | 'inRepository'
  | 'onlyReads'
  | 'command'
  | 'executed'
  | 'kindAt'
  | 'places'
  | 'stirredBy'
  | 'changes'
  | 'oddDescriptor'
  | 'background'
  | 'otherPrograms'
  | 'step'
  | 'wroteAsScript'
> & { readonly effects: () => ShellEffects };

/** Counts work, and ends it when it is too much. */
export function stepCounter(): () => void {
  let steps = 0;
  return () => {
    steps += 1;
    if (steps > MOST_STEPS) throw new TooMuch(`it takes more than ${MOST_STEPS} steps`);
  };
}

/** What a path below /dev is to a program that opens it for writing. */
function deviceOf(path: string): 'nothing' | 'output' | 'descriptor' | null {
  if (path === '/dev/stdout' || path === '/dev/stderr' || path === '/dev/fd/1' || path === '/dev/fd/2') return 'output';
  if (path === PIPE_OUT) return 'nothing';
  if (path === '/dev/stdin' || path.startsWith('/dev/fd/') || isWithin(path, '/proc')) return 'descriptor';
  if (isWithin(path, '/dev/shm') || isWithin(path, '/dev/mqueue')) return null;
  return isWithin(path, '/dev') ? 'nothing' : null;
}

function keyOf({ path, tree, directory, how }: ShellWrite): string {
  return `${tree ? 'tree' : directory === true ? 'directory' : 'path'} ${how ?? ''} ${path}`;
}

function howOf({ removes, link, renews }: WriteOptions): Pick<ShellWrite, 'how'> {
  if (renews === true) return { how: 'renewed' };
  if (removes === true) return { how: 'removed' };
  return link === true ? { how: 'copied' } : {};
}

/** @param of the text of a `script`, of which nothing is asked but what it surely writes: links below a directory are not looked for */
export function createSink(context: ShellContext, of: 'command' | 'script' = 'command'): Sink {
  const writes = new Map<string, ShellWrite>();
  const scripted = new Map<string, ShellWrite>();
  const lines = new Set<string>();
  const repository = new Set<string>();
  const commands = new Map<string, readonly (string | null)[]>();
  const links: Note[] = [];
  const removed: Note[] = [];
  const made: Note[] = [];
  /** Whether what was written is one of the files that a pattern was taken to stand for. */
  const patterns: ((note: Note) => boolean)[] = [];
  const through: { readonly path: string; readonly by: string }[] = [];
  const seen = new Set<string>();
  const executed: { readonly path: string; readonly by: string; readonly how: Execution }[] = [];
  let usesOutput = false;
  let isOdd = false;
  let isBackground = false;
  let hasOtherPrograms = false;
  let usesDirectories = false;
  let hasCode = false;

  const unresolved = (line: string) => void lines.add(line);

  const put = (path: string, options: WriteOptions, by: string) => {
    const { tree = false, directory = false, hint } = options;
    const kind = { ...(directory && !tree ? { directory } : {}), ...(hint === undefined ? {} : { hint }) };
    const write = { path, tree, by, ...kind, ...howOf(options) };
    const key = keyOf(write);
    if (writes.has(key)) return;
    if (writes.size >= MOST_WRITES) throw new TooMuch(`it writes more than ${MOST_WRITES} files`);
    writes.set(key, write);
  };

  /** Where links below a directory lead: a program that writes there may follow them. */
  const putLinksBelow = (directory: string, by: string) => {
    if (of === 'script' || context.kindOf(directory) !== 'directory') return;
    if (context.glob === undefined) return unresolved(`${by}: links below ${directory} cannot be looked for`);
    for (const path of linksBelow(directory, context)) {
      const real = realPath(path, context, true);
      if (real === null) unresolved(`${by}: the link ${path} leads nowhere`);
      else if (!isWithin(real, directory)) put(real, { tree: true }, by);
    }
  };

  const writeAt = (path: string, by: string, options: WriteOptions) => {
    const tree = options.tree === true;
    const written = normalize(path);
    const device = deviceOf(written);
    if (device === 'output') usesOutput = true;
    if (device === 'descriptor') unresolved(`${by}: ${written} may be any file`);
    if (device !== null) return;
    const real = realPath(path, context, options.entry !== true);
    if (real === null) return unresolved(`${by}: the links on the way to ${written} go round in a circle`);
    if (deviceOf(real) === 'descriptor') unresolved(`${by}: ${written} may be any file`);
    for (const place of new Set([written, real])) put(place, options, by);
    if (tree && options.entry !== true) putLinksBelow(real, by);
    const key = JSON.stringify([path, by, options]);
    if (seen.has(key)) return;
    seen.add(key);
    through.push({ path: options.entry === true ? parentOf(real) : real, by }, { path: parentOf(written), by });
    if (options.link === true) links.push({ path: real, tree, by }, { path: written, tree, by });
    if (options.removes === true) removed.push({ path: real, tree: true, by }, { path: written, tree: true, by });
    made.push({ path: real, tree, by }, { path: written, tree, by });
  };

  const write: Reader['write'] = (shell, path, by, options = {}) => {
    if (!isText(path)) {
      if (path.within === null) return unresolved(`${by}: which path it writes is known only when it runs`);
      if (!meansSame(path.within, shell.cwds)) return unresolved(`${by}: its paths were printed in another directory`);
      for (const directory of path.within.directories) writeAt(directory, by, { ...options, tree: true });
      return;
    }
    if (path === '') return;
    if (path.length > LONGEST_PATH) return unresolved(`${by}: its path is longer than paths are`);
    if (path.includes('\0')) return unresolved(`${by}: its path holds a character that no path has`);
    if (path.startsWith('/')) return writeAt(path, by, options);
    if (shell.cwds === null) return unresolved(`${by} ${path}: in which directory is known only when it runs`);
    if (shell.cwds.length > 0) usesDirectories = true;
    for (const cwd of shell.cwds) {
      const base = realPath(cwd, context, true);
      if (base === null) unresolved(`${by} ${path}: the links on the way to ${cwd} go round in a circle`);
      else {
        if (!seen.has(`${base} ${by}`)) through.push({ path: base, by });
        seen.add(`${base} ${by}`);
        if (base !== cwd && normalize(absolute(path, cwd)) !== normalize(absolute(path, base))) {
          put(normalize(absolute(path, cwd)), options, by);
        }
        writeAt(absolute(path, base), by, options);
      }
    }
  };

  const places: Reader['places'] = (shell, path) => {
    if (path.startsWith('/')) return [realPath(path, context, true) ?? normalize(path)];
    if (shell.cwds === null) return null;
    return shell.cwds.map((cwd) => {
      const full = absolute(path, realPath(cwd, context, true) ?? cwd);
      return realPath(full, context, true) ?? normalize(full);
    });
  };

  const kindAt: Reader['kindAt'] = (shell, path) => {
    const found = places(shell, path);
    if (found === null) return 'maybe';
    const kinds = new Set(found.map((place) => (isChanged(place) ? 'maybe' : context.kindOf(place))));
    const [kind] = kinds;
    return kinds.size === 1 && kind !== undefined ? kind : 'maybe';
  };

  const isChanged = (place: string) =>
    made.some((note) => note.path === place || (note.tree && isWithin(place, note.path))) ||
    removed.some((note) => isWithin(place, note.path));

  const effects = (): ShellEffects => {
    for (const { path, by } of through) {
      const link = links.find(
        (note) => isWithin(path, note.path) && !(note.tree && note.path === path && note.by === by),
      );
      if (link !== undefined) unresolved(`${by}: ${link.path} may be a link by then`);
    }
    for (const { path, by, how } of executed) {
      const isMade = (note: Note) => note.path === path || (!how.isGuess && note.tree && isWithin(path, note.path));
      const isOwn = (index: number) => index >= how.from && index < how.to;
      if (made.some((note, index) => note.by !== by && !isOwn(index) && isMade(note))) {
        unresolved(`${by}: the command itself writes the program ${path}: run that in a call of its own`);
      }
    }
    const names = hasOtherPrograms ? new Set(made.map(({ path }) => baseOf(path))) : new Set();
    for (const [name] of commands.values()) {
      if (name !== null && names.has(name)) unresolved(`${name}: the command itself writes a program of this name`);
    }
    if (usesOutput && isOdd) unresolved('/dev/stdout may be any file: descriptors are turned round');
    if (isBackground && ((usesDirectories && removed.length > 0) || links.length > 0)) {
      unresolved('what runs in the background may change where paths lead');
    }
    if (isBackground && made.some((note) => patterns.some((isMatched) => isMatched(note)))) {
      unresolved('what runs in the background may change what a pattern stands for');
    }
    return {
      writes: [...writes.values(), ...scripted.values()],
      unresolved: [...lines],
      repository: [...repository],
      commands: [...commands.values()],
      ...(hasCode ? { hasCode } : {}),
    };
  };

  return {
    write,
    unresolved,
    inRepository: (by) => void repository.add(by),
    onlyReads: (code) => {
      hasCode ||= context.onlyReads === undefined;
      return context.onlyReads?.(code) ?? null;
    },
    command: (words) => {
      const known = words.map((word) => (isText(word) ? word : null));
      commands.set(JSON.stringify(known), known);
    },
    executed: (shell, path, by, how) => {
      if (!isText(path) || of === 'script') return;
      const own = { isGuess: how === 'guess', from: typeof how === 'number' ? how : made.length, to: made.length };
      for (const place of places(shell, path) ?? []) executed.push({ path: place, by, how: own });
    },
    kindAt,
    places,
    stirredBy: (shell, segments) => {
      if (links.length > 0) return 'links';
      if (segments === null) return made.some(({ path, tree }) => tree || ODD.test(path)) ? 'names' : 'nothing';
      const at = segments.findIndex(hasPattern);
      const [first = '', ...rest] = segments.slice(at);
      const parents =
        rest.length > 0 || first === '**'
          ? null
          : places(shell, at === 0 ? '.' : `${segments.slice(0, at).join('/')}/`);
      const matches = matcher(rest.at(-1) ?? first);
      const isMatched = ({ path, tree }: Note) =>
        tree || (matches(baseOf(path)) && (parents === null || parents.includes(parentOf(path))));
      patterns.push(isMatched);
      return made.some(isMatched) ? 'names' : 'nothing';
    },
    changes: () => made.length,
    oddDescriptor: () => {
      isOdd = true;
    },
    otherPrograms: () => {
      hasOtherPrograms = true;
    },
    background: () => {
      isBackground = true;
    },
    step: stepCounter(),
    wroteAsScript: (write) => {
      if (scripted.size < MOST_WRITES) scripted.set(`${keyOf(write)}\0${write.script}`, write);
    },
    effects,
  };
}

/** The links in a directory and below it, without entering them. */
export function linksBelow(directory: string, context: ShellContext): readonly string[] {
  const found: string[] = [];
  const waiting = [directory];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const path of listing(next, context)) {
      if (context.linkTo(path) !== null) found.push(path);
      else if (context.kindOf(path) === 'directory') waiting.push(path);
    }
    if (waiting.length > MOST_WRITES) throw new TooMuch(`${directory} has too many directories`);
  }
  return found;
}

/** Everything in one directory, hidden entries too. */
export function listing(directory: string, context: ShellContext): readonly string[] {
  const entries = [...(context.glob?.('*', directory) ?? []), ...(context.glob?.('.*', directory) ?? [])];
  return entries.filter((name) => name !== '.' && name !== '..').map((name) => normalize(`${directory}/${name}`));
}
