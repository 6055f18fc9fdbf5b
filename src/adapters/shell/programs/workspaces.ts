// The packages of one repository that hold together: where they lie, and which of them a package manager is told to work in.

import type { ShellContext } from '../effects.ts';
import { isOn, type Options } from '../options.ts';
import { isWithin, normalize, parentOf } from '../paths.ts';
import { matcher } from '../patterns.ts';
import type { Call, Reader } from '../reader.ts';
import type { Shell } from '../state.ts';
import { type Field, isText } from '../values.ts';
import { fieldsOf } from './scripts.ts';

/** Absolute. */
type Member = { readonly directory: string; readonly name: string | null };
type Workspaces = { readonly root: string; readonly members: readonly Member[] };

/** The shell in one directory. */
export function at(directory: string, shell: Shell): Shell {
  return { ...shell, cwds: [directory] };
}

/** The text of a file that the command itself has not changed. */
export function textOf({ reader, shell }: Call, path: string): string | null {
  return reader.kindAt(shell, path) === 'file' ? (reader.context.readText?.(path) ?? null) : null;
}

function isPattern(one: unknown): one is string {
  return typeof one === 'string' && one !== '';
}

/** The patterns below `packages:`, one in a line or all in brackets. */
function listedInYaml(text: string): readonly string[] {
  const [, inside, lines = ''] =
    /^packages:[ \t]*(?:\[([^\]]*)\]|(?:#.*)?\n((?:[ \t]*(?:[-#].*)?\n)*))/m.exec(`${text}\n`) ?? [];
  const items = inside?.split(',') ?? [...lines.matchAll(/^[ \t]*-(.*)$/gm)].map(([, item = '']) => item);
  return items.map((item) => /^\s*(['"]?)([^'"#]*?)\1\s*(?:#.*)?$/.exec(item)?.[2] ?? '').filter(isPattern);
}

/** The patterns of a directory that holds such packages; null: it holds none. */
function patternsOf(call: Call, directory: string): readonly string[] | null {
  if (call.name === 'pnpm') {
    const text = textOf(call, `${directory}/pnpm-workspace.yaml`);
    return text === null ? null : listedInYaml(text);
  }
  const { workspaces } = fieldsOf(textOf(call, `${directory}/package.json`) ?? '');
  const listed =
    typeof workspaces === 'object' && workspaces !== null && 'packages' in workspaces
      ? workspaces.packages
      : workspaces;
  return Array.isArray(listed) ? listed.filter(isPattern) : null;
}

const MOST_DIRECTORIES = 2_000;

/** A directory and those below it, but for what is installed there. */
function below({ reader: { context } }: Call, directory: string): readonly string[] {
  const found = [directory];
  for (let index = 0; index < found.length && found.length < MOST_DIRECTORIES; index += 1)
    for (const name of context.directoriesIn?.(found[index] ?? '') ?? [])
      if (name !== 'node_modules') found.push(normalize(`${found[index]}/${name}`));
  return found;
}

/** By the files that are looked at, which stay as they are while a command is read. */
const EXPANDED = new WeakMap<ShellContext, Map<string, readonly string[]>>();

/** Directories that a pattern stands for. */
function expanded(call: Call, pattern: string, from: string): readonly string[] {
  const { context } = call.reader;
  const known = EXPANDED.get(context) ?? new Map<string, readonly string[]>();
  const key = `${from}\0${pattern}`;
  const found = known.get(key) ?? expand(call, pattern, from);
  EXPANDED.set(context, known.set(key, found));
  return found;
}

function expand(call: Call, pattern: string, from: string): readonly string[] {
  const [, above] = /^(.*?)\/*\*\*\/*$/s.exec(pattern) ?? [];
  if (above !== undefined && !above.includes('**'))
    return expanded(call, above === '' ? '.' : above, from).flatMap((one) => below(call, one));
  const paths = call.reader.context.glob?.(pattern.replace(/\/+$/, ''), from) ?? [];
  return paths
    .map((path) => normalize(path.startsWith('/') ? path : `${from}/${path}`))
    .filter((path) => !/\/node_modules(\/|$)/.test(path.slice(from.length)));
}

/** As long as the command writes nothing more. */
const MEMBERS = new WeakMap<Reader, { readonly changes: number; readonly by: Map<string, readonly Member[]> }>();

function membersOf(call: Call, root: string, patterns: readonly string[]): readonly Member[] {
  const { reader } = call;
  const changes = reader.changes();
  const last = MEMBERS.get(reader);
  const { by } = last?.changes === changes ? last : { by: new Map<string, readonly Member[]>() };
  const key = [root, ...patterns].join('\0');
  const found = by.get(key) ?? lookForMembers(call, root, patterns);
  MEMBERS.set(reader, { changes, by: by.set(key, found) });
  return found;
}

function lookForMembers(call: Call, root: string, patterns: readonly string[]): readonly Member[] {
  const directories = new Set<string>();
  for (const pattern of patterns) {
    const isLess = pattern.startsWith('!');
    for (const directory of expanded(call, isLess ? pattern.slice(1) : pattern, root))
      if (isLess) directories.delete(directory);
      else directories.add(directory);
  }
  return [...directories].flatMap((directory) => {
    const text = textOf(call, `${directory}/package.json`);
    if (text === null || directory === root) return [];
    const { name } = fieldsOf(text);
    return [{ directory, name: typeof name === 'string' ? name : null }];
  });
}

/** Those that a directory belongs to: it is one of them, lies in one, or lists them. */
export function workspacesOf(call: Call, directory: string): Workspaces | null {
  for (let root = directory; ; root = parentOf(root)) {
    const patterns = patternsOf(call, root);
    const members = patterns === null ? [] : membersOf(call, root, patterns);
    const isCovered = members.some((one) => isWithin(directory, one.directory));
    if (patterns !== null && (root === directory || isCovered)) return { root, members };
    if (root === '/') return null;
  }
}

/** Where the shell stands, when that is one directory. */
export function standing({ reader }: Call, shell: Shell): string | null {
  const [start, ...others] = reader.places(shell, '.') ?? [];
  return start === undefined || others.length > 0 ? null : start;
}

/** The directory of the package that the shell is in; null when none is known. */
export function packageAt(call: Call, shell: Shell): string | null {
  let directory = standing(call, shell);
  while (directory !== null && call.reader.kindAt(shell, `${directory}/package.json`) === 'none')
    directory = directory === '/' ? null : parentOf(directory);
  return directory;
}

/** npm: a name, a directory, or one that holds several. */
function namedForNpm(text: string, { members }: Workspaces, from: string): readonly string[] {
  const place = normalize(text.startsWith('/') ? text : `${from}/${text}`);
  return members
    .filter(({ directory, name }) => name === text || directory === place || parentOf(directory) === place)
    .map(({ directory }) => directory);
}

/** pnpm and bun: names and directories, both with signs; dots beside them ask for others too. */
function filtered(text: string, { members }: Workspaces, from: string, call: Call): readonly string[] {
  const meant = text.replace(/^\.{3}(?=[^.])|(?<=[^.])\.{3}$/g, '').replace(/^\{(.*)\}$/s, '$1');
  if (/[![\]^{}]/.test(meant)) return [];
  if (/^\.{0,2}\//.test(meant) || text.startsWith('{')) {
    const places = expanded(call, meant, from);
    return members.filter(({ directory }) => places.includes(directory)).map(({ directory }) => directory);
  }
  const matches = matcher(meant);
  const named = members.filter(({ name }) => name !== null && matches(name));
  // a name may do without its scope
  const found = named.length > 0 ? named : members.filter(({ name }) => name?.endsWith(`/${meant}`) === true);
  return found.map(({ directory }) => directory);
}

const SELECTING: Readonly<Record<string, readonly string[]>> = {
  npm: ['w', 'workspace'],
  pnpm: ['F', 'filter', 'filter-prod'],
  bun: ['F', 'filter'],
};
const EACH: Readonly<Record<string, readonly string[]>> = {
  npm: ['workspaces'],
  pnpm: ['r', 'recursive'],
  bun: ['workspaces'],
};

/** The directories in which a manager is told to work by its options; null: by none of them; empty: which these are cannot be told. */
export function selectedBy(call: Call, options: Options, inside: Shell): readonly string[] | null {
  const { name } = call;
  const texts: readonly Field[] = options.all(...(SELECTING[name] ?? []));
  const isEach = isOn(options, ...(EACH[name] ?? []));
  const isRoot = name === 'pnpm' && options.has('w', 'workspace-root');
  if (texts.length === 0 && !isEach && !isRoot) return null;
  // npm looks for them from where it was called
  const from = standing(call, name === 'npm' ? call.shell : inside);
  const start = packageAt(call, inside);
  const workspaces = start === null ? null : workspacesOf(call, start);
  if (from === null || workspaces === null) return [];
  const roots = isRoot || isOn(options, 'include-workspace-root') ? [workspaces.root] : [];
  const found = texts.map((text) => {
    if (!isText(text)) return [];
    return name === 'npm' ? namedForNpm(text, workspaces, from) : filtered(text, workspaces, from, call);
  });
  if (found.some((one) => one.length === 0)) return [];
  const each = isEach && texts.length === 0 ? workspaces.members.map(({ directory }) => directory) : [];
  return [...new Set([...roots, ...each, ...found.flat()])];
}

/** The directory of the one of this name; `null`: of every one. Empty: that cannot be told. */
export function workspacesNamed(call: Call, name: Field | null, inside: Shell): readonly string[] {
  const start = packageAt(call, inside);
  const members = (start === null ? null : workspacesOf(call, start))?.members ?? [];
  return members.filter((one) => name === null || one.name === name).map(({ directory }) => directory);
}
