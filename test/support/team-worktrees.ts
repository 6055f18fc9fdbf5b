// A project with a repository, for teams whose writers work in it.

import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { createTeamWorktrees } from '../../src/team/worktrees/team-worktrees.ts';
import { gitIn } from './git.ts';
import { type Tree, writeTree } from './installed.ts';
import { type Cleanup, tempDir } from './temp.ts';

export const TEAM = 'tool-run-spec-a-001';

export const FILES: Tree = {
  'src/api/a.js': '1\n',
  'src/pages/p.js': '1\n',
  'package.json': '{}\n',
  '.gitignore': 'dist/\n',
};

export function commitAll(directory: string, message: string): string {
  const git = gitIn(directory);
  git('add', '-A');
  git('commit', '-qm', message);
  return git('rev-parse', 'HEAD').trim();
}

export type ProjectOptions = { readonly name?: string; readonly format?: string; readonly files?: Tree };

type Begun = { readonly gitDirectory: string; readonly base: string };

const begun = new Map<string, Begun>();

/** The Git directory after the first commit, made once for each process: to begin anew takes five processes. */
function begunWith(format: string, files: Tree): Begun {
  const key = JSON.stringify([format, files]);
  const known = begun.get(key);
  if (known !== undefined) return known;
  const root = mkdtempSync(join(tmpdir(), 'toolcrew-test-begun-'));
  process.once('exit', () => rmSync(root, { recursive: true, force: true }));
  execaSync`git init -q -b main --object-format=${format} ${root}`;
  writeTree(root, files);
  const base = commitAll(root, 'Begin');
  const gitDirectory = join(root, '.git');
  // Written anew by each project: it holds the times and numbers of the files.
  rmSync(join(gitDirectory, 'index'));
  const made = { gitDirectory, base };
  begun.set(key, made);
  return made;
}

/** A repository with one commit on `main`, and its team worktrees. */
export function projectOf(t: Cleanup, { name = 'project', format = 'sha1', files = FILES }: ProjectOptions = {}) {
  const root = join(tempDir(t), name);
  const { gitDirectory, base } = begunWith(format, files);
  cpSync(gitDirectory, join(root, '.git'), { recursive: true });
  writeTree(root, files);
  const git = gitIn(root);
  git('add', '-A');
  return { root, git, base, teamWorktrees: createTeamWorktrees({ root, env: process.env }) };
}

export function textOf(...path: readonly string[]): string {
  return readFileSync(join(...path), 'utf8');
}
