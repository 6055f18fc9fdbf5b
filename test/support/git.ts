// Git as tests call it: by somebody of its own, whatever the settings of this machine are.

import { execaSync } from 'execa';

export type GitCall = (...args: readonly string[]) => string;

/** Calls of git in a directory. Each gives what it printed, with its last line break, and throws what it said. */
export function gitIn(directory: string): GitCall {
  const { PATH } = process.env;
  const env = {
    ...{ PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
    // Without the process that each commit starts to look whether there is something to clean up.
    ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'maintenance.auto', GIT_CONFIG_VALUE_0: 'false' },
    ...{ GIT_AUTHOR_NAME: 'p', GIT_AUTHOR_EMAIL: 'p@example.com' },
    ...{ GIT_COMMITTER_NAME: 'p', GIT_COMMITTER_EMAIL: 'p@example.com' },
  };
  const run = execaSync({ env, extendEnv: false, stripFinalNewline: false });
  return (...args) => run`git -C ${directory} ${args}`.stdout;
}
