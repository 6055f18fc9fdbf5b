// How the files of this machine look to a shell command that is about to run.

import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import type { ShellContext } from './effects.ts';
import { hasPattern, matcher } from './patterns.ts';

const MOST_PATHS = 5_000;
/** As many as `**` may stand for. */
const MOST_DIRECTORIES = 2_000;
const LONGEST_FILE = 1_000_000;

/** The part of a `ShellContext` that looks at files, on the real ones. */
export const fileView: Required<Pick<ShellContext, 'kindOf' | 'linkTo' | 'readText' | 'glob' | 'directoriesIn'>> = {
  kindOf: (path) => {
    const stat = attempt(() => statSync(path, { throwIfNoEntry: false }));
    if (stat === undefined || stat === null) return 'none';
    return stat.isDirectory() ? 'directory' : 'file';
  },
  linkTo: (path) => attempt(() => readlinkSync(path)),
  readText: (path) =>
    attempt(() => {
      const stat = statSync(path);
      return stat.isFile() && stat.size <= LONGEST_FILE ? readFileSync(path, 'utf8') : null;
    }),
  directoriesIn: (path) =>
    entries(path, false)
      .filter(({ isReal }) => isReal)
      .map(({ name }) => name),
  glob: (pattern, cwd) => {
    const isAbsolute = pattern.startsWith('/');
    const segments = pattern
      .split('/')
      .filter((segment, index, all) => segment !== '' && !(segment === '**' && all[index - 1] === '**'));
    const found: string[] = [];
    const left = { directories: MOST_DIRECTORIES };
    walk(isAbsolute ? '/' : cwd, isAbsolute ? '/' : '', segments, found, left);
    if (left.directories < 0) return null;
    const wanted = pattern.endsWith('/')
      ? found.filter((path) => isDirectory(isAbsolute ? path : `${cwd}/${path}`))
      : found;
    const end = pattern.endsWith('/') ? '/' : '';
    return [...new Set(wanted.map((path) => (path.endsWith('/') ? path : path + end)))].sort();
  },
};

function attempt<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

function isDirectory(path: string): boolean {
  return fileView.kindOf(path) === 'directory';
}

function exists(path: string): boolean {
  return attempt(() => lstatSync(path, { throwIfNoEntry: false })) != null;
}

/**
 * @param prefix what the paths begin with, as the pattern has it
 * @param isInner whether `**`, with which the segments begin, led here
 */
function walk(
  directory: string,
  prefix: string,
  segments: readonly string[],
  found: string[],
  left: { directories: number },
  isInner = false,
): void {
  const [segment, ...rest] = segments;
  if (segment === undefined || found.length > MOST_PATHS || left.directories < 0) return;
  if (segment === '**') {
    left.directories -= 1;
    // `**` stands for no directory as well, and for files when nothing follows; then `a/**` is also `a/`
    if (rest.length > 0) walk(directory, prefix, rest, found, left);
    else if (!isInner && prefix !== '') found.push(prefix);
    for (const { name, isReal } of entries(directory, false)) {
      if (rest.length === 0) found.push(prefix + name);
      if (isReal) walk(`${directory}/${name}`, `${prefix}${name}/`, segments, found, left, true);
    }
    return;
  }
  for (const name of names(directory, segment)) {
    if (rest.length === 0) found.push(prefix + name);
    else if (isDirectory(`${directory}/${name}`)) walk(`${directory}/${name}`, `${prefix}${name}/`, rest, found, left);
  }
}

function names(directory: string, segment: string): readonly string[] {
  if (!hasPattern(segment)) {
    const name = segment.replace(/\\(.)/gs, '$1');
    return exists(`${directory}/${name}`) ? [name] : [];
  }
  const matches = matcher(segment);
  const isHidden = segment.startsWith('.') || segment.startsWith('\\.');
  return entries(directory, isHidden)
    .map(({ name }) => name)
    .filter(matches);
}

function entries(directory: string, hidden: boolean): readonly { readonly name: string; readonly isReal: boolean }[] {
  const found = attempt(() => readdirSync(directory, { withFileTypes: true })) ?? [];
  return found
    .filter(({ name }) => name.startsWith('.') === hidden)
    .map((entry) => ({ name: entry.name, isReal: entry.isDirectory() }));
}
