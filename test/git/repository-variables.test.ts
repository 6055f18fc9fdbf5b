// Variables that name a caller's repository reach neither hooks nor agents nor git.

import assert from 'node:assert/strict';
import test from 'node:test';
import { execaSync } from 'execa';
import { hookEnvironment, passedEnvironment } from '../../src/agents/agent-home.ts';
import { cloneEnvironment, networkEnvironment } from '../../src/git/git.ts';
import { dropRepositoryVariables, isRepositoryVariable } from '../../src/git/repository-variables.ts';

const MORE = ['GIT_NAMESPACE', 'GIT_CEILING_DIRECTORIES', 'GIT_CONFIG_KEY_0', 'GIT_CONFIG_VALUE_12'];
const KEPT = { PATH: '/bin', HOME: '/home/x', GIT_SSH_COMMAND: 'ssh -v', GIT_CONFIG_GLOBAL: '/g' };

test('every variable that git itself calls local to a repository is known', () => {
  const local = execaSync({ lines: true })`git rev-parse --local-env-vars`.stdout;
  assert.ok(local.includes('GIT_DIR'));
  assert.deepEqual(
    [...local, ...MORE].filter((name) => !isRepositoryVariable(name)),
    [],
  );
});

test('they are in no environment that a program is started with; what is no repository stays', () => {
  const local = execaSync({ lines: true })`git rev-parse --local-env-vars`.stdout;
  const names = [...local, ...MORE];
  const env = { ...Object.fromEntries(names.map((name) => [name, 'foreign'])), ...KEPT };
  for (const made of [
    hookEnvironment(env),
    passedEnvironment(env, names),
    networkEnvironment(env, 'https://forge.invalid/a/b.git'),
    cloneEnvironment(env),
  ])
    assert.deepEqual(
      Object.entries(made).filter(([, value]) => value === 'foreign'),
      [],
    );
  const own: NodeJS.ProcessEnv = { ...env };
  dropRepositoryVariables(own);
  assert.deepEqual(own, KEPT);
});
