// The user's directory for state: a variable that is empty or relative counts as unset.

import assert from 'node:assert/strict';
import test from 'node:test';
import { stateHome } from '../../../src/base/files/state-home.ts';
import { defaultStateDir } from '../../../src/daemon/config/state-place.ts';
import { projectState } from '../../../src/git/project-state.ts';
import { guardHome } from '../../../src/guard/guard-shell.ts';

for (const [given, expected] of [
  [undefined, '/home/me/.local/state'],
  ['', '/home/me/.local/state'],
  ['state', '/home/me/.local/state'],
  ['/var/state', '/var/state'],
] as const)
  test(`XDG_STATE_HOME ${JSON.stringify(given) ?? 'unset'}: daemon, projects and guard are in ${expected}`, () => {
    const env = { HOME: '/home/me', XDG_STATE_HOME: given };
    assert.equal(stateHome(env), expected);
    assert.equal(guardHome(env), `${expected}/toolcrew/guard`);
    assert.equal(projectState('/p', env), `${expected}/toolcrew/projects/%2Fp`);
    const daemon = defaultStateDir({ owner: 'o', repo: 'r' }, 'https://api.github.com', env);
    assert.equal(daemon, `${expected}/toolcrew/github.com/o/r`);
  });
