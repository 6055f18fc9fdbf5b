// The runners by the name that `tool.runtime` gives them.

import { join } from 'node:path';
import { ClaudeRunner } from '../../agents/claude.ts';
import { CommandRunner } from '../../agents/command.ts';
import type { Isolation } from '../../agents/isolation.ts';
import type { Runner } from '../../agents/ports.ts';
import { RUNTIME_NAMES, type Runtime } from '../../agents/rules/runtime.ts';
import { packageRoot } from '../../base/package-root.ts';
import type { RuntimeDir } from '../../base/processes/runtime-dir.ts';
import { BASE_CODES } from '../../base/rules/base-codes.ts';
import { TEST_COMMAND_VARIABLE } from '../../base/rules/command-line.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { failure } from '../../base/rules/errors.ts';
import type { Author } from '../../git/rules/author.ts';
import type { Workflow } from '../rules/workflow.ts';
import { TeamRunner } from './team-runner.ts';

export type RunnersOptions = {
  readonly workflow: () => Workflow;
  readonly stateDir: string;
  readonly runtime: RuntimeDir;
  readonly isolation: Isolation;
  readonly env: Environment;
  /** Of commits; undefined: the usual one. */
  readonly author?: Author | undefined;
};

export function createRunner(options: RunnersOptions): (name: string) => Runner {
  const { workflow } = options;
  const runners: Readonly<Record<Runtime, Runner>> = {
    claude: new ClaudeRunner(options),
    command: new CommandRunner({
      ...options,
      name: 'command',
      program: () => ({ command: workflow().tool.command ?? [], env: {} }),
    }),
    patch: new CommandRunner({
      ...options,
      name: 'patch',
      program: () => ({
        command: [process.execPath, join(packageRoot(), 'dist', 'cli.js'), 'agent', 'patch'],
        env: { [TEST_COMMAND_VARIABLE]: JSON.stringify(workflow().tool.command) },
      }),
    }),
  };
  const isRuntime = (name: string): name is Runtime => Object.hasOwn(runners, name);
  const alone = (name: string): Runner => {
    if (isRuntime(name)) return runners[name];
    const expected = `one of ${RUNTIME_NAMES.join(', ')}`;
    throw failure(BASE_CODES.config_value, { key: 'tool.runtime', expected, got: name });
  };
  return (name) => {
    const runner = alone(name);
    return workflow().tool.mode === 'agent' ? runner : new TeamRunner({ ...options, alone: runner });
  };
}
