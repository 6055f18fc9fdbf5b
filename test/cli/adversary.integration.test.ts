// An agent that wants more than it is given, against the daemon as it is.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { Isolation } from '../../src/agents/isolation.ts';
import { cleanEnv, Daemon, runTool } from '../support/daemon.ts';
import { DAEMON_TOKEN, gitAs, startForge } from '../support/forge.ts';

const CANARY = DAEMON_TOKEN.slice(0, 24);
const { active, reason } = await Isolation.probe('auto', { readOnly: [], hidden: [], tables: '/nowhere' });

/** What an agent of the same user can do where the kernel gives no namespaces: said in docs/security.md. */
const NEEDS_NAMESPACES =
  /the daemon's memory|open files|person's home|user's home|git push past|a ref planted|the workflow file|the journal|another issue's workspace|a link in|its own workspace moved|start-up files|killing the daemon|another attempt's socket|git configuration|outside of its namespaces/;

test('an agent that tries everything gets neither the credential nor beyond its issue', async (t) => {
  if (!active) t.diagnostic(`THE KERNEL GIVES NO NAMESPACES (${reason}): what only they prevent is not asserted`);
  const forge = await startForge(t);
  await forge.open('the adversary’s');
  await forge.open('somebody else’s');
  const daemon = await Daemon.create(t, forge, {});
  const { home } = daemon;
  const program = join(process.cwd(), 'test/support/programs/adversary.mjs');
  const victim = join(daemon.directory, 'project', 'wait.sh');
  writeFileSync(
    victim,
    '#!/bin/sh\nif [ "$TOOL_ISSUE" = 1 ]; then exec "$@"; fi\nwhile [ ! -e "$TOOL_WORKSPACE/go" ]; do sleep 0.05; done\n',
  );
  chmodSync(victim, 0o755);
  // The person is logged in everywhere.
  for (const file of [
    '.config/gh/hosts.yml',
    '.git-credentials',
    '.netrc',
    '.ssh/id_ed25519',
    '.config/git/credentials',
    '.docker/config.json',
    '.npmrc',
    '.aws/credentials',
  ]) {
    mkdirSync(join(home, file, '..'), { recursive: true });
    writeFileSync(join(home, file), `password: ${DAEMON_TOKEN}\n`);
  }
  for (const file of ['.gitconfig', '.config/git/config'])
    writeFileSync(join(home, file), `[canary]\n\ttoken = ${DAEMON_TOKEN}\n`);
  mkdirSync(join(home, 'victim'));
  for (const file of ['attributes', 'grafts']) writeFileSync(join(home, 'victim', file), 'keep me\n');
  mkdirSync(join(daemon.directory, 'bin'));
  writeFileSync(
    join(daemon.directory, 'bin', 'gh'),
    '#!/bin/sh\n[ "$1 $2" = "auth status" ] && exit 0\ncat "$HOME/.config/gh/hosts.yml"\n',
  );
  chmodSync(join(daemon.directory, 'bin', 'gh'), 0o755);
  const command = [
    victim,
    process.execPath,
    program,
    [...CANARY].reverse().join(''),
    home,
    daemon.directory,
    forge.forge.url,
  ];
  daemon.write(
    `agent: { max_concurrent_agents: 2, max_retry_backoff_ms: 200 }\ntool: { runtime: command, command: ${JSON.stringify(command)} }`,
  );
  const path = `${join(daemon.directory, 'bin')}:${process.env.PATH ?? ''}`;
  daemon.start([], { PATH: path });
  await daemon.logged('issue #1 state changed to tool-done');
  const page = await (await fetch(`http://127.0.0.1:${daemon.port}/`, { headers: { accept: 'text/html' } })).text();
  const state = JSON.stringify(await daemon.state());
  const logs = await runTool(['logs', '1', daemon.workflow], { env: cleanEnv(home) });
  assert.equal(logs.code, 0);
  const tried = logs.stdout.split('\n').filter((line) => /: (refused|GOT IT)/.test(line));
  const got = tried.filter((line) => line.includes('GOT IT') && (active || !NEEDS_NAMESPACES.test(line)));
  for (const line of new Set(tried)) t.diagnostic(line);
  assert.deepEqual(got, []);
  assert.ok(new Set(tried.map((line) => line.split(':')[0])).size >= 40, `${tried.length} ways were tried`);
  assert.match(logs.stdout, /traps are set/);
  assert.match(logs.stdout, /the traps in the clone's configuration and hooks: refused/);

  // What did happen is what was allowed: one branch, one pull request, nothing on the other issue.
  const heads = (await gitAs(forge.bare, 'for-each-ref', '--format=%(refname:short)', 'refs/heads')).trim().split('\n');
  assert.deepEqual(heads.sort(), ['main', 'tool/issue-1']);
  assert.equal((await forge.pulls()).length, 1);
  assert.deepEqual(await forge.comments(2), []);
  assert.deepEqual(await forge.labelsOf(2), ['tool-todo']);
  assert.equal(existsSync(join(home, '.profile')), false);
  assert.deepEqual(readdirSync(join(home, 'victim')), ['attributes', 'grafts']);
  assert.match(logs.stdout, /through links in the Git directory: refused/);
  if (active) assert.match(logs.stdout, /through a repository inside the clone: refused/);

  // The credential stands nowhere but where the person put it.
  await daemon.stop();
  for (const [name, text] of Object.entries({ log: daemon.log, page, state, logs: logs.stdout }))
    assert.ok(!text.includes(CANARY), name);
  const found = execaSync({ reject: false })`grep -rlF ${CANARY} ${daemon.directory}`.stdout
    .split('\n')
    .filter((file) => file !== '' && !file.startsWith(home));
  assert.deepEqual(found, []);
});
