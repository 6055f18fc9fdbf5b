import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { createAgentHome } from '../../../src/agents/agent-home.ts';
import { CommandRunner } from '../../../src/agents/command.ts';
import { Isolation } from '../../../src/agents/isolation.ts';
import { readWithin } from '../../../src/base/files/safe-read.ts';
import { RuntimeDir } from '../../../src/base/processes/runtime-dir.ts';
import { finallyDo, tempDir } from '../../support/temp.ts';
import { workflowWith } from '../../support/world.ts';

test('a file of an agent’s is read where it is one, small, and its own', async (t) => {
  const directory = tempDir(t);
  const own = join(directory, 'own');
  mkdirSync(join(own, 'sub'), { recursive: true });
  writeFileSync(join(directory, 'secret'), 'the login');
  writeFileSync(join(own, 'file'), 'text');
  writeFileSync(join(own, 'large'), 'x'.repeat(101));
  symlinkSync(join(directory, 'secret'), join(own, 'link'));
  symlinkSync(directory, join(own, 'way'));
  symlinkSync(join(own, 'file'), join(own, 'sub', 'inner'));
  execaSync`mkfifo ${join(own, 'pipe')}`;
  assert.equal(await readWithin(own, 'file', 100), 'text');
  for (const name of ['large', 'link', 'way/secret', 'sub/inner', 'pipe', 'sub', 'nothing', '../secret'])
    assert.equal(await readWithin(own, name, 100), null, name);
});

test('what is carried over from an earlier attempt’s home is files, and none from outside of it', async (t) => {
  const stateDir = tempDir(t);
  const options = {
    stateDir,
    issue: 1,
    run: 'r',
    tmp: stateDir,
    env: process.env,
    passed: [],
    carry: '.claude/projects',
  };
  const { path } = await createAgentHome({ ...options, attempt: 1 });
  const projects = join(path, '.claude', 'projects');
  mkdirSync(projects, { recursive: true });
  writeFileSync(join(projects, 'session.jsonl'), 'session');
  execaSync`mkfifo ${join(projects, 'pipe')}`;
  symlinkSync('/etc/passwd', join(projects, 'link'));
  const second = await createAgentHome({ ...options, attempt: 2 });
  assert.equal(await readWithin(second.path, '.claude/projects/session.jsonl', 100), 'session');
  assert.throws(() => execaSync`test -e ${join(second.path, '.claude/projects/pipe')}`);
  mkdirSync(join(stateDir, 'elsewhere', 'projects'), { recursive: true });
  execaSync`rm -r ${join(second.path, '.claude')}`;
  symlinkSync(join(stateDir, 'elsewhere'), join(second.path, '.claude'));
  const third = await createAgentHome({ ...options, attempt: 3 });
  assert.throws(() => execaSync`test -e ${join(third.path, '.claude')}`);
});

const probe = await Isolation.probe('auto', { readOnly: [], hidden: [], tables: '/nowhere' });
const possible = probe.active ? {} : { skip: `this kernel gives no namespaces: ${probe.reason}` };

test('temporary files of an agent can be written where they lie in the person’s home', possible, async (t) => {
  const home = tempDir(t);
  const [tmp, cwd, stateDir] = ['tmp', 'workspace', 'state'].map((name) => join(home, name));
  for (const path of [tmp, cwd, stateDir]) mkdirSync(path ?? '');
  const before = process.env.TMPDIR;
  process.env.TMPDIR = tmp;
  const runtime = new RuntimeDir();
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  finallyDo(t, () => runtime.close());
  const runner = new CommandRunner({
    name: 'command',
    program: () => ({ command: 'echo x > "$TMPDIR/x" && cat "$TMPDIR/x"', env: {} }),
    workflow: () => workflowWith({}),
    stateDir: stateDir ?? '',
    runtime,
    isolation: await Isolation.probe('auto', { readOnly: [home], hidden: [], tables: join(home, 'mounts') }),
    env: { PATH: process.env.PATH },
  });
  const end = await runner.run(
    {
      run: 'r',
      issue: 1,
      attempt: 1,
      cwd: cwd ?? '',
      prompt: 'go',
      issueText: 'go',
      life: 1,
      resume: null,
      budgetUsd: null,
      env: {},
    },
    {
      onStarted: async () => undefined,
      onEvent: () => undefined,
      output: () => undefined,
      nextTurn: async () => null,
      signal: new AbortController().signal,
    },
  );
  assert.deepEqual(end, { ok: true, words: 'x' });
});
