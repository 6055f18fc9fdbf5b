// `tool team events`: a team's log in words.

import assert from 'node:assert/strict';
import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execa } from 'execa';
import { TASK_CODES } from '../../../src/team/rules/codes/tasks-codes.ts';
import { wordsOf } from '../../support/codes.ts';
import { programFile } from '../../support/compiled.ts';
import { rec, TEAM } from '../../support/team.ts';
import { Scribe } from '../../support/team-files.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';

const AT = Date.parse('2026-03-01T10:00:00Z');

const MEANT = wordsOf(TASK_CODES.task_meant_for_other, { task: '1', owner: 'tester' });

const PROGRAM = programFile('team-view');

const start = (args: readonly string[]) =>
  execa(process.execPath, args, {
    ...{ env: { PATH: process.env.PATH, TZ: 'UTC' }, extendEnv: false, buffer: false, reject: false },
  });

class Shown {
  readonly #child: ReturnType<typeof start>;
  readonly ended: Promise<{ readonly code: number | undefined; readonly stdout: string; readonly stderr: string }>;
  stdout = '';
  stderr = '';

  constructor(t: Cleanup, root: string, team: string, options: object) {
    const args = [PROGRAM, 'events', root, team, JSON.stringify(options)];
    this.#child = start(args);
    this.#child.stdout.on('data', (chunk: Buffer) => {
      this.stdout += chunk.toString();
    });
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    this.ended = this.#child.then(({ exitCode: code }) => ({ code, stdout: this.stdout, stderr: this.stderr }));
    finallyDo(t, async () => {
      this.#child.kill('SIGKILL');
      await this.ended;
    });
  }

  /** Waits until it has printed that. */
  async printed(words: string): Promise<void> {
    const gone = this.ended.then(() =>
      assert.ok(this.stdout.includes(words), `never printed ${words}: ${this.stdout}`),
    );
    while (!this.stdout.includes(words))
      await Promise.race([gone, new Promise((resolve) => this.#child.stdout.once('data', resolve))]);
  }

  /** Reads no more, like `head` that has seen enough. */
  turnAway(): void {
    this.#child.stdout.destroy();
  }
}

function events(t: Cleanup, root: string, team = '', options = {}) {
  return new Shown(t, root, team, options).ended;
}

/** A team of two, in which one thing counts for nothing and one is refused. */
async function story(t: Cleanup, root: string, maxBytes?: number): Promise<Scribe> {
  const scribe = new Scribe(root, TEAM, AT, maxBytes);
  finallyDo(t, () => scribe.close());
  await scribe.tell('created');
  for (const name of ['backend-dev', 'tester']) {
    await scribe.tell('member_registered', { name });
    await scribe.tell('member_spawned', { name });
  }
  await scribe.tell('task_created', { owner: 'tester' });
  await scribe.later(5_000).put(rec('task_updated'));
  await scribe.tell('task_updated', { by: 'tester' });
  await scribe.tell('decision', {
    member: 'tester',
    reason: 'The gate rejects it.\ntests: 2 failed\n  - a\u001b[2J',
  });
  return scribe;
}

test('one line a record: time, who, what; what does not count and what was refused, with the reason', async (t) => {
  const root = tempDir(t);
  await story(t, root);
  const { stdout, ...end } = await events(t, root);
  assert.deepEqual(end, { code: 0, stderr: '' });
  assert.deepEqual(
    stdout.replace(/✖ [^:]+: /, '✖ '),
    [
      `2026-03-01 10:00:00  team-lead       creates ${TEAM} for SPEC-AUTH-001 (run, implementation; backend-dev, tester)`,
      '2026-03-01 10:00:00  backend-dev     is registered as team-backend-dev, run 1 (model inherit)',
      '2026-03-01 10:00:00  backend-dev     is started, run 1, process 77',
      '2026-03-01 10:00:00  tester          is registered as team-backend-dev, run 1 (model inherit)',
      '2026-03-01 10:00:00  tester          is started, run 1, process 77',
      '2026-03-01 10:00:00  team-lead       adds task 1: Sign in (for tester)',
      `2026-03-01 10:00:05  backend-dev     claims task 1  ✖ ${MEANT} (task_meant_for_other)`,
      '2026-03-01 10:00:05  tester          claims task 1',
      '2026-03-01 10:00:05  tester          TaskCompleted rejects task 1: The gate rejects it. tests: 2 failed; - a\\x1b[2J',
      '',
    ].join('\n'),
  );
});

test('records as JSON lines, of one member or of one type', async (t) => {
  const root = tempDir(t);
  const scribe = await story(t, root);
  await scribe.tell('message_sent', { to: 'all', content: 'a\u009b2J\u202e\u{e0041}' });
  const { stdout } = await events(t, root, TEAM, { json: true });
  const lines = stdout.trimEnd().split('\n');
  const records = lines.map((line) => JSON.parse(line));
  assert.deepEqual(
    records.map(({ type, counts, refusal }) => [type, counts, refusal]),
    [
      ['created', true, null],
      ['member_registered', true, null],
      ['member_spawned', true, null],
      ['member_registered', true, null],
      ['member_spawned', true, null],
      ['task_created', true, null],
      ['task_updated', false, `${MEANT} (task_meant_for_other)`],
      ['task_updated', true, null],
      ['decision', true, null],
      ['message_sent', true, null],
    ],
  );
  assert.equal(records[8].reason, 'The gate rejects it.\ntests: 2 failed\n  - a\u001b[2J');
  assert.equal(records[9].content, 'a\u009b2J\u202e\u{e0041}');
  assert.match(lines[9] ?? '', /"a\\u009b2J\\u202e\\udb40\\udc41"/);

  const types = async (options: object) =>
    (await events(t, root, TEAM, { json: true, ...options })).stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type);
  assert.deepEqual(await types({ type: 'decision' }), ['decision']);
  assert.deepEqual(await types({ member: 'backend-dev', type: 'task_updated' }), ['task_updated']);
  assert.deepEqual(await types({ member: 'tester' }), [
    'member_registered',
    'member_spawned',
    'task_created',
    'task_updated',
    'decision',
    'message_sent',
  ]);
  const type = await events(t, root, TEAM, { type: 'decisions' });
  assert.deepEqual([type.code, type.stdout], [2, '']);
  assert.match(
    type.stderr,
    /^tool: --type: expected one of proposed, .*, got "decisions"\. Did you mean decision\? \(option_invalid\)\n$/,
  );
  const member = await events(t, root, TEAM, { member: 'testr' });
  assert.deepEqual([member.code, member.stdout], [2, '']);
  assert.equal(
    member.stderr,
    'tool: --member: expected one of backend-dev, tester, team-lead, got "testr". Did you mean tester? (option_invalid)\n',
  );
});

test('all files of a log are read, archived ones too; what is torn is told of', async (t) => {
  const root = tempDir(t);
  const scribe = await story(t, root, 4_000);
  for (let count = 1; count <= 200; count++) await scribe.tell('message_sent', { content: `message ${count}` });
  const { directory } = scribe;
  assert.ok(readdirSync(directory).length > 2, 'the log goes on in further files');
  appendFileSync(join(directory, 'log.jsonl'), '\n{"torn');
  const whole = await events(t, root);
  assert.match(whole.stderr, new RegExp(`^tool: warning: Team ${TEAM}: [^\\n]*: 1\\. \\(log_lines_torn\\)\\n$`));
  const numbers = [...whole.stdout.matchAll(/ #(\d+): message (\d+)\n/g)].map(([, seq, words]) => [seq, words]);
  assert.deepEqual(
    numbers,
    Array.from({ length: 200 }, (_, index) => [String(index + 1), String(index + 1)]),
  );
  assert.match(whole.stdout, /the log goes on in log\.2\.jsonl\n/);
  assert.doesNotMatch(whole.stdout, /the state so far/);

  await scribe.put(rec('fell_back'));
  for (const name of ['backend-dev', 'tester']) await scribe.tell('member_ended', { name });
  await scribe.tell('deleted');
  const archive = scribe.archive().split('/').at(-1) ?? '';
  const kept = await events(t, root, archive, { follow: true });
  assert.equal(kept.code, 0);
  assert.ok(kept.stdout.startsWith(whole.stdout));
  assert.match(kept.stdout, /team-lead +deletes the team\n$/);
});

test('a log is followed, into further files, until the team is deleted or nobody reads', async (t) => {
  const root = tempDir(t);
  const scribe = await story(t, root, 4_000);
  const follower = new Shown(t, root, TEAM, { follow: true, member: 'nobody-yet' });
  const all = new Shown(t, root, TEAM, { follow: true });
  const away = new Shown(t, root, TEAM, { follow: true });
  await Promise.all([all.printed('TaskCompleted rejects'), away.printed('TaskCompleted rejects')]);
  away.turnAway();
  for (let count = 1; count <= 60; count++) await scribe.tell('message_sent', { content: `message ${count}` });
  await all.printed('#60: message 60\n');
  assert.equal((await away.ended).code, 0);
  assert.ok(readdirSync(scribe.directory).length > 1);
  await scribe.tell('member_registered', { name: 'nobody-yet' });
  await scribe.put(rec('fell_back'));
  for (const name of ['backend-dev', 'tester', 'nobody-yet']) await scribe.tell('member_ended', { name });
  await scribe.tell('deleted');
  const ended = await all.ended;
  assert.deepEqual([ended.code, ended.stderr], [0, '']);
  assert.match(ended.stdout, /team-lead +deletes the team\n$/);
  assert.match((await follower.ended).stdout, /^[^\n]* nobody-yet +is registered[^\n]*\n[^\n]* is over[^\n]*\n$/);
});
