// The work tree as a Git tree: what it looked like when a team began, and in what it differs now.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generatedIn } from './generated-files.ts';
import { cloneEnvironment, tryGit } from './git.ts';
import { copyIndex } from './index-copy.ts';
import type { WorkTree } from './ports.ts';

/** What the team itself writes is none of its work. */
const OWN = ['.tool/teams', '.tool/state', '.tool/cache'];
const LIST_BYTES = 512 * 1024 * 1024;
/** After a power cut they are made anew. */
const UNFLUSHED = ['-c', 'core.fsync=none'];

export type WorkTreeOptions = {
  readonly root: string;
  /** Takes the objects of trees that were looked at, so that the repository gets none. */
  readonly objects: string;
};

type Ask = (
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
  good?: readonly number[],
) => Promise<string | null>;

function gitIn(root: string): Ask {
  return async (args, env = {}, good = [0]) => {
    const options = { cwd: root, env: { ...cloneEnvironment(process.env), ...env }, maxBytes: LIST_BYTES };
    const { exitCode, stdout } = await tryGit(args, options);
    return exitCode !== null && good.includes(exitCode) ? stdout : null;
  };
}

/** The repository's own index and objects, and the way from its top to here; null where there is no repository. */
async function placesOf(git: Ask) {
  const paths = ['--git-path', 'index', '--git-path', 'objects', '--show-prefix'];
  const answer = await git(['rev-parse', '--path-format=absolute', ...paths]);
  const [index, own, ...prefix] = answer?.replace(/\n$/, '').split('\n') ?? [];
  return index === undefined || own === undefined || own === '' ? null : { index, own, prefix: prefix.join('\n') };
}

/** In which git finds the trees that were looked at as well; null where there is no repository. */
export async function treeEnvironment(root: string, objects: string): Promise<Record<string, string> | null> {
  const at = await placesOf(gitIn(root));
  return at === null ? null : { ...cloneEnvironment(process.env), ...beside(objects, at.own) };
}

function beside(objects: string, own: string): Record<string, string> {
  return { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: own };
}

export function createWorkTree({ root, objects }: WorkTreeOptions): WorkTree {
  const git = gitIn(root);
  return {
    head: async () => (await git(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']))?.trim() ?? null,
    tree: async () => {
      const at = await placesOf(git);
      if (at === null) return null;
      mkdirSync(objects, { recursive: true });
      const scratch = mkdtempSync(join(tmpdir(), 'toolcrew-index-'));
      try {
        const index = join(scratch, 'index');
        try {
          // What it knows of unchanged files spares reading them.
          copyIndex(at.index, index);
        } catch {
          // A repository without a commit has none.
        }
        const env = { ...beside(objects, at.own), GIT_INDEX_FILE: index };
        const excludes = join(scratch, 'excludes');
        writeFileSync(excludes, [...OWN.map((path) => `**/${path}/`), ...generatedIn(at.prefix), ''].join('\n'));
        // Git itself takes in what became a directory, or was one. What it cannot read stays as it was, which it ends with 1 for.
        const add = ['-c', `core.excludesFile=${excludes}`, 'add', '-A', '--ignore-errors', '--', '.'];
        if ((await git([...UNFLUSHED, ...add], env, [0, 1])) === null) return null;
        return (await git([...UNFLUSHED, 'write-tree'], env))?.trim() ?? null;
      } finally {
        rmSync(scratch, { recursive: true, force: true });
      }
    },
    changed: async (from, to) => {
      const at = await placesOf(git);
      if (at === null) return null;
      const paths = ['.', ...OWN.map((path) => `:(exclude)${path}`)];
      const text = await git(
        ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--relative', from, to, '--', ...paths],
        beside(objects, at.own),
      );
      return text === null ? null : text.split('\0').filter((path) => path !== '');
    },
  };
}
