// Where a path of a command leads, with links followed as the kernel follows them.

import type { ShellContext } from './effects.ts';

const MOST_LINKS = 40;

/** An absolute path with `.` and `..` taken as text. */
export function normalize(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') parts.pop();
    else parts.push(part);
  }
  return `/${parts.join('/')}`;
}

export function absolute(path: string, cwd: string): string {
  return path.startsWith('/') ? path : `${cwd}/${path}`;
}

export function parentOf(path: string): string {
  return normalize(`${path}/..`);
}

export function baseOf(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  return parts.at(-1) ?? '';
}

/** Whether `path` is `directory` or lies below it. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);
}

/**
 * The place that an absolute path names in the end; null when its links go round in a circle. `..` after a link leaves the
 * place that the link leads to.
 * @param follow whether the last part is followed when it is a link itself
 */
export function realPath(path: string, context: ShellContext, follow: boolean): string | null {
  const rest = path.split('/').filter((part) => part !== '' && part !== '.');
  const slashed = path.endsWith('/') || path.endsWith('/.');
  const done: string[] = [];
  let links = 0;
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    if (part === '..') {
      done.pop();
      continue;
    }
    done.push(part);
    if (rest.length === 0 && !follow && !slashed) continue;
    const target = context.linkTo(`/${done.join('/')}`);
    if (target === null) continue;
    links += 1;
    if (links > MOST_LINKS) return null;
    if (target.startsWith('/')) done.length = 0;
    else done.pop();
    rest.unshift(...target.split('/').filter((piece) => piece !== '' && piece !== '.'));
  }
  return `/${done.join('/')}`;
}
