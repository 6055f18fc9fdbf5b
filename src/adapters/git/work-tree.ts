// The work tree as a Git tree: what it looked like when a team began, and in what it differs now.

import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkTree } from '../../engine/ports.ts';
import { cloneEnvironment, tryGit } from './git.ts';

/** What the team itself writes is none of its work. */
const LEFT_OUT = [':(exclude).tool/teams', ':(exclude).tool/state', ':(exclude).tool/cache'];
/** After a power cut they are made anew. */
const UNFLUSHED = ['-c', 'core.fsync=none'];

export type WorkTreeOptions = {
  readonly root: string;
  /** Takes the objects of trees that were looked at, so that the repository gets none. */
  readonly objects: string;
};

export function createWorkTree({ root, objects }: WorkTreeOptions): WorkTree {
  const git = async (
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    input?: string,
  ): Promise<string | null> => {
    const { exitCode, stdout } = await tryGit(args, {
      cwd: root,
      env: { ...cloneEnvironment(process.env), ...env },
      ...(input === undefined ? {} : { input }),
    });
    return exitCode === 0 ? stdout : null;
  };
  const places = async () => {
    const answer = await git(['rev-parse', '--path-format=absolute', '--git-path', 'index', '--git-path', 'objects']);
    const [index, own] = answer?.split('\n') ?? [];
    return index === undefined || own === undefined || own === '' ? null : { index, own };
  };
  const environment = (own: string) => ({
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: own,
  });
  return {
    tree: async () => {
      const at = await places();
      if (at === null) return null;
      mkdirSync(objects, { recursive: true });
      const scratch = mkdtempSync(join(tmpdir(), 'toolcrew-index-'));
      try {
        const index = join(scratch, 'index');
        try {
          // What it knows of unchanged files spares reading them.
          copyFileSync(at.index, index);
        } catch {
          // A repository without a commit has none.
        }
        const env = { ...environment(at.own), GIT_INDEX_FILE: index };
        // Not by `git add`: to leave out what is ignored anyway is an error to it.
        const listed = await git(
          ['ls-files', '-z', '-m', '-d', '-o', '--exclude-standard', '--', '.', ...LEFT_OUT],
          env,
        );
        if (listed === null) return null;
        const kept = await git([...UNFLUSHED, 'update-index', '-z', '--add', '--remove', '--stdin'], env, listed);
        return kept === null ? null : ((await git([...UNFLUSHED, 'write-tree'], env))?.trim() ?? null);
      } finally {
        rmSync(scratch, { recursive: true, force: true });
      }
    },
    changed: async (from, to) => {
      const at = await places();
      if (at === null) return null;
      const text = await git(['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to], environment(at.own));
      return text === null ? null : text.split('\0').filter((path) => path !== '');
    },
  };
}
