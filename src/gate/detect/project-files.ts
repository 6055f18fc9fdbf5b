// Readers of a project's own files.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { readRegular } from '../../base/files/safe-read.ts';

const MAX_BYTES = 4 * 1024 * 1024;

/** A file of the project as text; null when there is no such ordinary file. */
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

/** A value inside of a decoded file; undefined when there is no such place. */
export function nestedValue(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((inner, key) => {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, key)) return undefined;
    return new Map<string, unknown>(Object.entries(inner)).get(key);
  }, value);
}

export function keysOf(value: unknown): readonly string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value) : [];
}

/** The path that stands before the files of a Go module in its profiles. */
export function modulePathOf(root: string): string | null {
  return /^module\s+"?([^\s"]+)/m.exec(readText(root, 'go.mod') ?? '')?.[1] ?? null;
}
