// A teammate of `tool run` that looks for the person's credential, in all the places where a person has one.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { Isolation } from '../../src/agents/isolation.ts';
import { DEMO_FILES, DEMO_SPEC } from '../../src/cli/demo/demo-team-project.ts';
import { PhaseProject } from '../support/phase-project.ts';
import type { Cleanup } from '../support/temp.ts';

const SECRET = 'ghp_0123456789abcdefghijklmnop';
const PROGRAM = join(process.cwd(), 'test', 'support', 'programs', 'curious-teammate.mjs');
const TEAM = 'tool-run-spec-guestbook-001';
const { active, reason } = await Isolation.probe('auto', { readOnly: [], hidden: [], tables: '/nowhere' });

/** What a program of the same user can do where the kernel gives no namespaces: said in docs/security.md. */
const NEEDS_NAMESPACES =
  /^(the processes above|processes of others|the person's home|git config|the file of git config|git push elsewhere|git push, with|the repository's|the person's checkout|another's worktree|the project's rules|the lead's word, (cut loose|from namespaces))/;

/** The project of the demo; its repository and its owner's home hold a credential wherever one can be. */
function projectOf(t: Cleanup) {
  const project = new PhaseProject(t, {}, '', {
    ...DEMO_FILES,
    '.tool/config/workflow.yaml': 'workflow: { team: { enabled: true } }\n',
  });
  const { home } = project;
  for (const file of ['.git-credentials', '.netrc', '.ssh/id_ed25519', '.config/gh/hosts.yml', '.npmrc']) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), `https://x:${SECRET}@example.com\n`);
  }
  const helper = join(home, 'helper.sh');
  writeFileSync(helper, `#!/bin/sh\n[ "$1" = get ] && printf 'username=x\\npassword=${SECRET}\\n'\n`);
  chmodSync(helper, 0o755);
  writeFileSync(join(home, '.gitconfig'), `[credential]\n\thelper = ${helper}\n[canary]\n\ttoken = ${SECRET}\n`);
  const remotes = ['remote', 'elsewhere'].map((name) => join(home, '..', `${name}.git`));
  for (const path of remotes) execaSync`git init -q --bare ${path}`;
  project.git('remote', 'add', 'origin', remotes[0] ?? '');
  project.git('remote', 'add', 'elsewhere', `https://x:${SECRET}@example.com/a/b.git`);
  project.git('config', 'remote.elsewhere.pushurl', remotes[1] ?? '');
  project.git('config', 'credential.helper', helper);
  project.git('config', 'http.https://example.com/.extraheader', `AUTHORIZATION: basic ${SECRET}`);
  return { project, home, remotes };
}

test('a teammate that looks for a credential finds none, and pushes nothing', async (t) => {
  if (!active) t.diagnostic(`THE KERNEL GIVES NO NAMESPACES (${reason}): what only they prevent is not asserted`);
  const { project, home, remotes } = projectOf(t);
  const config = project.read('.git/config');
  const backwards = [...SECRET].reverse().join('');
  const words = [process.execPath, PROGRAM, backwards, home, project.root].map((word) => `'${word}'`).join(' ');
  const variables = {
    GITHUB_TOKEN: SECRET,
    GH_TOKEN: SECRET,
    TOOL_KEY: SECRET,
    SSH_AUTH_SOCK: join(home, 'agent.sock'),
    GIT_ASKPASS: join(home, 'helper.sh'),
  };
  const args = ['run', DEMO_SPEC, '--team', '--command', `exec ${words}`];
  const { code, stderr } = await project.toolWith(variables, ...args);
  assert.equal(code, 1, 'nobody does the work');
  const output = project.read(`.tool/teams/${TEAM}/output/backend-dev.log`);
  const tried = output.split('\n').filter((line) => /: (refused|GOT IT)$/.test(line));
  for (const line of new Set(tried)) t.diagnostic(line);
  const got = tried.filter((line) => line.endsWith('GOT IT') && (active || !NEEDS_NAMESPACES.test(line)));
  assert.deepEqual([...new Set(got)], []);
  assert.ok(new Set(tried).size >= 33, `${new Set(tried).size} ways were tried`);
  const log = readFileSync(join(project.root, '.tool', 'teams', TEAM, 'log.jsonl'), 'utf8');
  const said = [...log.matchAll(/"content":"truly ([\w-]+)".*"by":"([\w-]+)"/g)];
  assert.ok(said.length > 1);
  for (const [, truly, by] of said) assert.equal(by, truly, 'it speaks as who it is, whatever it says');
  assert.match(output, /its own worktree: written\nits own branch: written\nits team: reached\n/);
  for (const path of remotes) assert.equal(execaSync({ cwd: path })`git for-each-ref`.stdout, '');
  assert.ok(!`${stderr}${output}`.includes(SECRET));
  if (!active) return;
  assert.equal(project.read('.git/config'), config);
  assert.equal(project.git('status', '--short'), '');
  assert.equal(existsSync(join(home, 'left-behind')), false);
  assert.ok(!log.includes(SECRET));
});
