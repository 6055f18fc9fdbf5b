// Changes to files that are made all or not at all; files that are thrown away come last, and do not come back.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { failure, messageOf } from '../base/rules/errors.ts';
import { INSTALL_CODES } from './rules/install-codes.ts';

/** Paths are the project's, with `/` between their parts. */
export type FileOperation =
  | { readonly kind: 'make'; readonly path: string }
  | { readonly kind: 'write'; readonly path: string; readonly bytes: Buffer }
  | { readonly kind: 'remove'; readonly path: string }
  /** Of what can be made again, with all in it; it does not come back. What cannot be removed is left lying. */
  | { readonly kind: 'discard'; readonly path: string }
  /** Of a directory; one that holds something stays. */
  | { readonly kind: 'clear'; readonly path: string };

/** Writes a file whole: whoever reads it meanwhile sees the old one or the new one. A file that was there keeps its mode. */
function write(path: string, bytes: Buffer, mode: number | undefined): void {
  const fresh = join(dirname(path), `.toolcrew-${process.pid}`);
  try {
    writeFileSync(fresh, bytes, { flag: 'wx' });
    if (mode !== undefined) chmodSync(fresh, mode);
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

function isEmptyDirectoryError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST');
}

type Undoable = Exclude<FileOperation, { kind: 'discard' }>;

/** Makes one change; gives what undoes it. */
function perform(root: string, operation: Undoable): () => void {
  const path = join(root, operation.path);
  switch (operation.kind) {
    case 'make':
      mkdirSync(path);
      return () => rmdirSync(path);
    case 'clear':
      try {
        const { mode } = statSync(path);
        rmdirSync(path);
        return () => mkdirSync(path, { mode });
      } catch (error) {
        if (isEmptyDirectoryError(error) || !existsSync(path)) return () => undefined;
        throw error;
      }
    case 'write':
    case 'remove': {
      const old = existsSync(path) ? { bytes: readFileSync(path), mode: statSync(path).mode } : undefined;
      if (operation.kind === 'write') write(path, operation.bytes, old?.mode);
      else rmSync(path);
      return () => (old === undefined ? rmSync(path, { force: true }) : write(path, old.bytes, old.mode));
    }
  }
}

function removeTree(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

/** What was to be discarded and is still there, whole or in part. */
export type LeftBehind = { readonly path: string; readonly why: string };

/**
 * Makes the changes in their order. When one fails, those before it are undone, the last one first.
 * @param remove removes a directory with all in it
 */
export function performAll(
  root: string,
  operations: readonly FileOperation[],
  remove = removeTree,
): readonly LeftBehind[] {
  const undo: (() => void)[] = [];
  const discarded: string[] = [];
  const left: LeftBehind[] = [];
  for (const operation of operations) {
    if (operation.kind === 'discard') {
      discarded.push(operation.path);
      try {
        remove(join(root, operation.path));
      } catch (error) {
        left.push({ path: operation.path, why: messageOf(error) });
      }
      continue;
    }
    try {
      undo.push(perform(root, operation));
    } catch (error) {
      const lost = undo.reverse().flatMap((step) => {
        try {
          step();
          return [];
        } catch (fault) {
          return [messageOf(fault)];
        }
      });
      const all = discarded.length === 0 ? 'Everything' : `Everything but ${discarded.join(', ')}`;
      const state = lost.length === 0 ? `${all} is as it was` : `Not all could be undone: ${lost.join('; ')}`;
      const values = { path: operation.path, said: messageOf(error), state };
      throw failure(INSTALL_CODES.change_undone, values, { cause: error });
    }
  }
  return left;
}
