// Hook commands from a host's settings with a broken or missing guard: they block calls while a team is active.

import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { HookForm, HookGroup } from '../../../src/install/hook-table.ts';
import { memberSettings } from '../../../src/install/member-settings.ts';
import { readPayload } from '../../../src/install/payload.ts';
import { HookedProject, type HookRun, runProgram, TEAM } from '../../support/hooked.ts';
import type { Cleanup } from '../../support/temp.ts';

const ITS = '.tool/specs/SPEC-AUTH-001/plan.md';
const FOREIGN = 'src/api/a.ts';

function commandIn(groups: readonly HookGroup[], tool: string): string {
  const group = groups.find(({ matcher }) => matcher !== undefined && new RegExp(`^(?:${matcher})$`).test(tool));
  const found = group?.hooks.find(({ type }) => type === 'command')?.command;
  assert.equal(typeof found, 'string');
  return String(found);
}

/** The command of the installed hook that a host runs before a tool. */
function installed(form: HookForm, tool: string): string {
  const { merged } = readPayload({ from: process.cwd(), version: '0.0.0', form, configText: '' });
  const groups = merged.flatMap(({ entries }) => entries.filter(({ path }) => path[1] === 'PreToolUse'));
  return commandIn(groups.map(({ value }) => value) as readonly HookGroup[], tool);
}

class Place {
  readonly project: HookedProject;
  readonly hooks: string;
  readonly #shell: string;

  constructor(t: Cleanup, shell = '/bin/sh') {
    this.#shell = shell;
    this.project = new HookedProject(t);
    this.hooks = join(this.project.root, '.tool', 'hooks');
    mkdirSync(this.hooks, { recursive: true });
    cpSync(join('dist', 'hooks'), this.hooks, { recursive: true });
  }

  /** A team whose lead delegates: it may write SPECs, and nothing else. */
  async lead(): Promise<void> {
    await this.project.call('team-lead', 'TeamCreate', { team_name: TEAM });
  }

  remove(...names: readonly string[]): void {
    for (const name of names) rmSync(join(this.hooks, name), { recursive: true });
  }

  run(command: string, file_path: string, env: Readonly<Record<string, string>> = {}): Promise<HookRun> {
    const cwd = env.CLAUDE_PROJECT_DIR ?? this.project.root;
    const call = { cwd, tool_name: 'Write', tool_input: { file_path } };
    const fields = this.project.fields('team-lead', 'PreToolUse', call);
    const all = { ...this.project.env, ...this.project.envOf('2.1.177'), ...env };
    return runProgram(this.#shell, ['-c', command], JSON.stringify(fields), all, this.project.root);
  }
}

const BROKEN: Readonly<Record<string, (place: Place) => void>> = {
  'is missing': (place) => place.remove('pre-tool-use.js'),
  'is damaged': (place) => writeFileSync(join(place.hooks, 'pre-tool-use.js'), 'import {\n'),
  'is missing with all that is beside it': (place) => place.remove(''),
};

for (const form of ['script', 'resident'] as const) {
  for (const [how, damage] of Object.entries(BROKEN)) {
    test(`${form}: a guard that ${how} lets nothing through while a team stands`, async (t) => {
      const place = new Place(t);
      await place.lead();
      const command = installed(form, 'Write');
      assert.equal((await place.run(command, ITS)).code, 0);
      const refused = await place.run(command, FOREIGN);
      assert.equal(refused.code, 2);
      assert.match(refused.stderr, /^toolcrew: [^\n]*src\/api\/a\.ts[^\n]*\(lead_delegates\)\n$/);
      damage(place);
      const broken = await place.run(command, FOREIGN);
      assert.equal(broken.code, 2, broken.stderr);
      if (!how.endsWith('beside it'))
        assert.match(
          broken.stderr,
          /^toolcrew: the guard did not start \(exit code 1\).*`tool init`\. \(guard_cannot_decide\)$/m,
        );
    });
  }

  test(`${form}: without a team a guard that cannot run keeps nobody from writing`, async (t) => {
    const place = new Place(t);
    const command = installed(form, 'Write');
    place.remove('pre-tool-use.js');
    assert.equal((await place.run(command, FOREIGN)).code, 0);
    rmSync(join(place.project.root, '.tool'), { recursive: true });
    assert.equal((await place.run(command, FOREIGN)).code, 0);
  });
}

for (const shell of ['/bin/dash', '/bin/bash'].filter((path) => existsSync(path)))
  for (const form of ['script', 'resident'] as const)
    test(`${form}, ${shell}: whatever is missing, and wherever the team is`, async (t) => {
      const place = new Place(t, shell);
      const { project } = place;
      project.commit();
      await place.lead();
      const worktree = join(project.root, '.claude', 'worktrees', 'agent-1');
      await runProgram('git', ['worktree', 'add', '-q', worktree], '', project.env, project.root);
      const command = installed(form, 'Write');
      const bin = join(project.root, '..', 'bin');
      mkdirSync(bin);
      for (const name of ['sh', 'dash', 'bash'])
        if (existsSync(`/bin/${name}`)) symlinkSync(`/bin/${name}`, join(bin, name));
      const env = { own: {}, 'no node': { PATH: bin }, worktree: { CLAUDE_PROJECT_DIR: worktree } };
      const codes = async (...at: readonly (keyof typeof env)[]) => {
        const runs = at.flatMap((one) => [ITS, FOREIGN].map((path) => place.run(command, path, env[one])));
        return (await Promise.all(runs)).map(({ code }) => code).join(' ');
      };
      const part = (path: string) => join(worktree, '.tool', 'hooks', path);
      assert.equal(await codes('own', 'no node', 'worktree'), '0 2 2 2 0 2');
      rmSync(part('pre-tool-use.js'));
      assert.equal(await codes('worktree'), '2 2', 'its team is that of the checkout that it was made in');
      place.remove('guard.sh');
      assert.equal(await codes('own'), form === 'script' ? '0 2' : '2 2', 'the guard that is left decides');
      place.remove('');
      assert.equal(await codes('own', 'no node'), '2 2 2 2');
      rmSync(join(project.root, '.tool', 'teams'), { recursive: true });
      assert.equal(await codes('own', 'no node', 'worktree'), '0 0 0 0 0 0');
    });

test('a guard that refuses is heard where the project keeps no team', async (t) => {
  const place = new Place(t);
  rmSync(join(place.project.root, '.tool', 'teams'), { recursive: true, force: true });
  writeFileSync(join(place.hooks, 'pre-tool-use.js'), 'process.exit(2);\n');
  for (const form of ['script', 'resident'] as const)
    assert.equal((await place.run(installed(form, 'Write'), FOREIGN)).code, 2, form);
});

test('what stands for the shell beside the guard is no yes either', async (t) => {
  const place = new Place(t);
  await place.lead();
  place.remove('pre-tool-use.js');
  for (const code of [0, 1, 2, 127]) {
    writeFileSync(join(place.hooks, 'guard.sh'), `exit ${code}\n`);
    const { code: ended } = await place.run(installed('script', 'Write'), FOREIGN);
    assert.equal(ended, code === 0 ? 0 : 2);
  }
});

test('spawns are held up as writes are', async (t) => {
  const place = new Place(t);
  await place.lead();
  place.remove('pre-tool-use.js');
  for (const form of ['script', 'resident'] as const)
    assert.equal((await place.run(installed(form, 'Agent'), FOREIGN)).code, 2);
});

test('the team of a worktree stands in the checkout that it belongs to', async (t) => {
  const place = new Place(t);
  const { project } = place;
  project.commit();
  await place.lead();
  const worktree = join(project.root, '.claude', 'worktrees', 'agent-1');
  await runProgram('git', ['worktree', 'add', '-q', worktree], '', project.env, project.root);
  place.remove('pre-tool-use.js');
  const at = { CLAUDE_PROJECT_DIR: worktree };
  assert.equal((await place.run(`sh "${place.hooks}/guard.sh" 1`, FOREIGN, at)).code, 2);
  rmSync(join(project.root, '.tool', 'teams'), { recursive: true });
  assert.equal((await place.run(`sh "${place.hooks}/guard.sh" 1`, FOREIGN, at)).code, 0);
});

test('a teammate that is a process of its own writes nothing without its guard', async (t) => {
  const place = new Place(t);
  await place.lead();
  const { hooks } = JSON.parse(memberSettings(place.hooks));
  const command = commandIn(hooks.PreToolUse, 'Write');
  assert.equal((await place.run(command, ITS)).code, 0);
  place.remove('');
  assert.equal((await place.run(command, ITS)).code, 2);
});
