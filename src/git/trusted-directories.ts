// The person's word for repositories of other users: git goes by `safe.directory` of its protected settings alone.

import { runProgram } from '../base/processes/program.ts';
import { type Environment, setVariables } from '../base/rules/environment.ts';

/** Whether git refuses a repository because another user owns it. */
export function saysForeignOwner(words: string): boolean {
  return /^fatal: (?:detected dubious ownership|unsafe repository)/m.test(words);
}

/** The person's own `safe.directory`, in its order. What a repository says of itself does not count, as for git. */
export async function safeDirectories(env: Environment): Promise<readonly string[]> {
  const args = ['config', '--null', '--show-scope', '--type=path', '--get-all', 'safe.directory'];
  const { exitCode, stdout } = await runProgram('git', args, {
    cwd: '/',
    env: setVariables(env),
    timeoutMs: 30_000,
    graceMs: 1_000,
  });
  if (exitCode !== 0) return [];
  const words = stdout.split('\0');
  return words.flatMap((value, index) => {
    const scope = index % 2 === 1 ? words[index - 1] : undefined;
    return scope === undefined || scope === 'local' || scope === 'worktree' ? [] : [value];
  });
}
