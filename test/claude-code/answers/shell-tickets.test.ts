// Shell calls with the write guard: tickets by caller, and the team's log and the agent's answer from what the guard notes.

import assert from 'node:assert/strict';
import test from 'node:test';
import { onPostToolUse } from '../../../src/claude-code/answers/on-post-tool-use.ts';
import { onPreToolUse } from '../../../src/claude-code/answers/on-pre-tool-use.ts';
import type { GuardNote } from '../../../src/guard/rules/notes.ts';
import type { CallerRules } from '../../../src/guard/rules/policy.ts';
import { WRITES_CODES } from '../../../src/team/rules/codes/writes-codes.ts';
import { lineLike } from '../../support/codes.ts';
import { TEAM, TeamWorld } from '../../support/team-world.ts';
import type { Cleanup } from '../../support/temp.ts';

type Marked = { readonly caller: string; readonly rules: CallerRules };

class World extends TeamWorld {
  readonly marked: Marked[] = [];
  notes: GuardNote[] = [];
  leases: readonly string[] = [];
  hasMarks = true;
  /** Calls whose tickets are found by their text. */
  readonly waiting = new Map<string, Marked>();

  constructor(t: Cleanup) {
    super(t);
    this.context = {
      ...this.context,
      placeLeases: (_team, leases) => {
        this.leases = [...leases.values()].map(({ path, member }) => `${path} ${member}`);
      },
      allowsTicketComments: () => this.hasMarks,
      shellGuard: {
        takesNotes: true,
        mark: async ({ caller }, command, _id, rules) => {
          this.marked.push({ caller, rules });
          return `${command} # ${caller}`;
        },
        wait: async ({ caller }, command, _id, rules) => void this.waiting.set(command, { caller, rules }),
        forget: (_place, command) => void this.waiting.delete(command),
        whole: () => Promise.reject(new Error('no process is guarded whole here')),
        notes: () => this.notes.splice(0),
      },
    };
  }

  /** @param writes the path that the command names */
  async bash(who: string, session = 'session-1', writes?: string): Promise<unknown> {
    const input = { command: 'ls', timeout: 1, ...(writes === undefined ? {} : { file_path: writes }) };
    const answer = await onPreToolUse(this.context, this.event(who, 'PreToolUse', { tool: 'Bash', input, session }));
    return answer.kind === 'rewrite' ? answer.input.command : answer.kind === 'reject' ? answer.reason : answer.kind;
  }

  async after(who: string, ...notes: readonly (readonly string[])[]): Promise<string> {
    this.notes = notes.map(([kind, path = '', owner = '', pattern = '']) => {
      assert.ok(kind === 'wrote' || kind === 'refused' || kind === 'lease' || kind === 'git');
      return { kind, path, owner, pattern };
    });
    const input = { command: 'ls' };
    const answer = await onPostToolUse(this.context, this.event(who, 'PostToolUse', { tool: 'Bash', input }));
    return answer.kind === 'context' ? answer.text : answer.kind;
  }

  lines(): readonly string[] {
    return this.state().decisions.flatMap(({ hook, decision, member, about }) =>
      hook === 'ownership' ? [`${decision} ${member} ${about}`] : [],
    );
  }
}

test('each caller of a team gets a ticket with its own rules', async (t) => {
  const world = new World(t);
  await world.team(['tester', 'analyst']);
  assert.equal(await world.bash('tester'), 'ls # tester');
  assert.equal(await world.bash('analyst'), 'ls # analyst');
  assert.equal(await world.bash('team-lead'), 'ls # team-lead');
  assert.equal(await world.bash('team-lead', 'session-9'), 'ls # session-session-9');
  const members = world.marked.map(({ rules }) => rules.member);
  assert.deepEqual([members[0], members[1], members[3]], ['tester', null, null]);
});

test('with a guard that takes no notes, writes that the command names are judged and put on record before the call', async (t) => {
  const world = new World(t);
  Object.assign(world.context.shellGuard ?? {}, { takesNotes: false });
  await world.team(['tester', 'frontend-dev']);
  const foreign = await world.bash('tester', 'session-1', 'src/components/b.js');
  assert.match(
    String(foreign),
    /is frontend-dev's .* SendMessage \{"recipient":"frontend-dev","type":"change_request"/,
  );
  assert.equal(world.marked.length, 0);
  for (const path of ['tests/a.js', 'package.json'])
    assert.equal(await world.bash('tester', 'session-1', path), 'ls # tester');
  assert.equal(world.state().leases.get('package.json')?.member, 'tester');
  const lines = [
    'reject tester Bash src/components/b.js',
    'accept tester Bash tests/a.js',
    'accept tester Bash package.json',
  ];
  assert.deepEqual(world.lines(), lines);
  assert.equal(await world.bash('tester'), 'ls # tester');
});

test('on a host without marks a ticket waits for the call, and the writes that the command names are judged', async (t) => {
  const world = new World(t);
  world.hasMarks = false;
  await world.team(['tester', 'frontend-dev']);
  assert.match(String(await world.bash('tester', 'session-1', 'src/components/b.js')), /is frontend-dev's/);
  assert.equal(world.waiting.size, 0);
  assert.equal(await world.bash('tester'), 'silent');
  assert.deepEqual([world.waiting.get('ls')?.rules.member, world.marked.length], ['tester', 0]);
  await world.after('tester');
  assert.equal(world.waiting.size, 0);
});

test('without a team, a call is left as it is', async (t) => {
  const world = new World(t);
  assert.equal(await world.bash('team-lead'), 'silent');
  assert.equal(world.marked.length, 0);
});

test('what the guard notes goes into the log; a refusal comes with the call that helps', async (t) => {
  const world = new World(t);
  await world.team(['tester', 'frontend-dev']);
  const told = await world.after(
    'tester',
    ['wrote', 'tests/a.js'],
    ['wrote', '.tool/x'],
    ['lease', 'package.json'],
    ['wrote', 'package.json'],
    ['refused', 'src/components/b.js', 'frontend-dev', 'src/components/**'],
    ['refused', 'src/types/c.ts', 'shared', 'src/types/**'],
  );
  assert.match(told, /SendMessage \{"recipient":"frontend-dev","type":"change_request"/);
  assert.match(told, /FileLease \{"path":"src\/types\/c\.ts"\}/);
  for (const line of told.split('\n')) assert.ok(line.length <= 300, line);
  assert.deepEqual(world.lines(), [
    'accept tester Bash tests/a.js, package.json',
    'reject tester Bash src/components/b.js, src/types/c.ts',
  ]);
  assert.deepEqual(world.leases, ['package.json tester']);
  assert.equal(world.state().leases.get('package.json')?.member, 'tester');
});

test('a write is put on record once for each task', async (t) => {
  const world = new World(t);
  await world.team(['tester']);
  for (let times = 0; times < 3; times += 1) await world.after('tester', ['wrote', 'tests/a.js']);
  assert.deepEqual(world.lines(), ['accept tester Bash tests/a.js']);
  await world.call('team-lead', 'TaskCreate', { subject: 'x', description: 'd', owner: 'tester' });
  await world.call('tester', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  await world.after('tester', ['wrote', 'tests/a.js']);
  assert.equal(world.lines().length, 2);
});

test('many refused paths are told as a few and their number', async (t) => {
  const world = new World(t);
  await world.team(['tester']);
  const refused = Array.from({ length: 5 }, (_, index) => [
    'refused',
    `src/api/${index}.js`,
    'backend-dev',
    'src/api/**',
  ]);
  const told = await world.after('tester', ...refused);
  assert.match(told, /src\/api\/2\.js/);
  assert.doesNotMatch(told, /src\/api\/3\.js/);
  assert.match(told, /and 2 more paths$/);
});

test('in work without a team, writes are on record as the lead’s', async (t) => {
  const world = new World(t);
  await world.team(['tester']);
  await world.append({ type: 'fell_back', trigger: 'spawn_failed', reason: 'x' });
  assert.equal(await world.bash('team-lead'), world.state().purpose?.phase === 'run' ? 'ls # alone' : 'silent');
});

test('an unowned file is its first writer’s by Write as well; a second writer is refused with the holder’s name', async (t) => {
  const world = new World(t);
  await world.team(['tester', 'frontend-dev']);
  const write = (who: string) =>
    onPreToolUse(
      world.context,
      world.event(who, 'PreToolUse', { tool: 'Write', input: { file_path: 'package.json' } }),
    );
  assert.equal((await write('tester')).kind, 'silent');
  assert.deepEqual(world.leases, ['package.json tester']);
  assert.match(
    await world.reasonOf(write('frontend-dev')),
    lineLike(WRITES_CODES.lease_held, { path: 'package.json', holder: 'tester' }),
  );
  assert.ok(TEAM);
});
