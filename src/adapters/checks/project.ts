// Readers of a project's own files, for what they say of its checks.

import { accessSync, constants } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { Language } from '../../domain/unreported.ts';
import { readRegular } from '../own-file.ts';

/** One command that measures something. */
export type Way = {
  /** What a person types. */
  readonly command: string;
  /** What the shell is given; `$TOOL_REPORTS` is a directory for reports, outside of the project. */
  readonly script: string;
  /** The coverage report that it leaves in `$TOOL_REPORTS`; null: it may leave one in a usual place. */
  readonly report: string | null;
  /** Measured by Node's own runner. */
  readonly byNode?: boolean;
  /** No script runs it: which files the project has linted is not known. */
  readonly byConfiguration?: boolean;
  /** What is set for it, beside the caller's environment. */
  readonly env: Readonly<Record<string, string>>;
};

/** How one check is measured, or why it cannot be; `install`: a shell command that mends that, where one is known. */
export type Ways = { readonly ways: readonly Way[]; readonly gap: string; readonly install?: string };

export type Project = {
  /** The file that it was found by. */
  readonly manifest: string;
  /** Those of its source. */
  readonly languages: readonly Language[];
  readonly tests: Ways;
  /** The runner of another language that its tests are nothing but a call of. */
  readonly calls?: string;
  readonly coverage: Ways;
  /** Measuring the coverage runs the same tests: once is enough. */
  readonly coverageRunsTests: boolean;
  readonly lint: Ways;
  readonly security: Ways;
};

export type Surroundings = {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs something small and gives its standard output; null when it failed. */
  readonly ask: (script: string) => Promise<string | null>;
};

export function way(command: string, more: Partial<Omit<Way, 'command'>> = {}): Way {
  return { command, script: command, report: null, env: {}, ...more };
}

export function found(...ways: readonly Way[]): Ways {
  return { ways, gap: '' };
}

/** @param install what a person runs in the project's root to have it measured */
export function gap(reason: string, install?: string): Ways {
  return { ways: [], gap: reason, ...(install === undefined ? {} : { install }) };
}

const MAX_BYTES = 4 * 1024 * 1024;

/** A file of the project's root as text; null when there is no such ordinary file. */
export function readText(root: string, name: string): string | null {
  return readRegular(join(root, name), MAX_BYTES);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function isInstalled(program: string, env: Readonly<Record<string, string>>): boolean {
  return (env.PATH ?? '').split(delimiter).some((place) => place !== '' && isExecutable(join(place, program)));
}

/** A program that the project keeps for itself. */
export function hasProgram(root: string, path: string): boolean {
  return isExecutable(join(root, path));
}

/** A program that packages brought, in the root or above it: work trees share what stands above them. */
export function packageProgram(root: string, name: string): string | null {
  for (let place = root; ; place = dirname(place)) {
    const path = join(place, 'node_modules/.bin', name);
    if (hasProgram(place, `node_modules/.bin/${name}`)) return path;
    if (dirname(place) === place) return null;
  }
}

/** A value inside of a decoded file; undefined when there is no such place. */
export function inside(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((inner, key) => {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, key)) return undefined;
    return new Map<string, unknown>(Object.entries(inner)).get(key);
  }, value);
}

export function keysOf(value: unknown): readonly string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value) : [];
}
