// What each command of git is given, and how it writes paths.

import type { Call, Reader, WriteOptions } from '../reader.ts';
import type { Input } from '../state.ts';
import { type Field, isText } from '../values.ts';

export type GitCall = {
  /** In the directory that `-C` leads to. */
  readonly call: Call;
  readonly reader: Reader;
  /** Behind the command's name. */
  readonly args: readonly Field[];
  readonly command: string;
  /** Absolute; null when it is not known. */
  readonly roots: readonly string[] | null;
};

// biome-ignore lint/suspicious/noConfusingVoidType: most commands print nothing that is followed
export type GitCommand = (git: GitCall) => Input | undefined | void;

/** Anything in the work tree may change. */
export function writeAll(git: GitCall): void {
  const by = `git ${git.command}`;
  if (git.roots === null) {
    git.reader.unresolved(`${by}: which work tree it changes is known only when it runs`);
    return;
  }
  for (const root of git.roots) git.reader.write(git.call.shell, root, by, { tree: true, link: true, removes: true });
}

/** What a pathspec stands for may change. */
export function writePathspec(git: GitCall, pathspec: Field, more: WriteOptions = {}): void {
  const { call, reader, command } = git;
  const by = `git ${command}`;
  if (!isText(pathspec)) {
    if (pathspec.within === null) writeUnknown(git);
    else reader.write(call.shell, pathspec, by, { ...more, tree: true });
    return;
  }
  // `:/` and `:(top)` begin at the root, `:!` is all but that
  if (pathspec.startsWith(':') || pathspec === '') {
    writeAll(git);
    return;
  }
  const sign = pathspec.search(/[*?[\\]/);
  if (sign >= 0) {
    const directory = pathspec.slice(0, pathspec.lastIndexOf('/', sign) + 1);
    reader.write(call.shell, directory === '' ? '.' : directory, by, {
      ...more,
      tree: true,
      link: true,
      entry: true,
    });
    return;
  }
  const isFile = reader.kindAt(call.shell, pathspec) === 'file';
  reader.write(call.shell, pathspec, by, { entry: true, ...more, tree: !isFile, link: !isFile });
}

function writeUnknown(git: GitCall): void {
  git.reader.unresolved(`git ${git.command}: which paths it changes is known only when it runs`);
}
