// The rows of `tool doctor` about the repository that worktrees of teams are made from: its owner, and workspace.copy.

import { refusal } from '../../base/rules/codes.ts';
import { shellWord } from '../../base/rules/command-line.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { oneLine } from '../../base/rules/text.ts';
import { tryGit } from '../../git/git.ts';
import { saysForeignOwner } from '../../git/trusted-directories.ts';
import { createRunGit } from '../../git/worktree-git.ts';
import { ignoredFiles } from '../../git/worktrees/copies.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import { type DoctorCheck, fail, warn } from './doctor-row.ts';

async function checkCopies(root: string, copies: readonly string[], env: Environment): Promise<readonly DoctorCheck[]> {
  const runGit = createRunGit(env);
  const found = await Promise.all(copies.map((entry) => ignoredFiles(root, entry, runGit)));
  return copies
    .filter((_, index) => found[index]?.length === 0)
    .map((entry) =>
      warn(
        'workspace copy',
        refusal(CLI_CODES.workspace_copy_unmatched, { entry }),
        'correct the entry in .tool/config/workflow.yaml, or remove it',
      ),
    );
}

/** @param copies globs of `workflow.team.workspace.copy` */
export async function diagnoseWorkspace(
  root: string,
  copies: readonly string[],
  env: Environment,
): Promise<readonly DoctorCheck[]> {
  const { exitCode, stderr } = await tryGit(['rev-parse', '--show-toplevel'], { cwd: root });
  if (exitCode === 0) return checkCopies(root, copies, env);
  if (!saysForeignOwner(stderr)) return [];
  const [says = ''] = stderr.split('\n').filter((line) => line.startsWith('fatal: '));
  const place = /'(\/.+)'$/.exec(says)?.[1] ?? root;
  return [
    fail(
      'git repository',
      refusal(CLI_CODES.git_repository_refused, { said: oneLine(says, 300) }),
      `git config --global --add safe.directory ${shellWord(place)}`,
    ),
  ];
}
