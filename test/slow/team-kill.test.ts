// The lead, a teammate, or all of them are killed at records of the log all over a run; whoever comes after brings it to the same end.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, utimesSync, watch, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { execaSync, type Subprocess } from 'execa';
import type { PhaseReport } from '../../src/cli/phase-report.ts';
import { TeamHistory } from '../../src/team/log/team-history.ts';
import { passTimeForDeadHolders } from '../support/dead-holders.ts';
import type { PhaseProject } from '../support/phase-project.ts';
import { SPEC, shopProject, TEAM, WORK } from '../support/shop-spec.ts';
import { matesOf, processesOf } from '../support/team-processes.ts';
import { type Cleanup, finallyDo } from '../support/temp.ts';
import { within } from '../support/within.ts';

const BRANCH = `tool/${TEAM}`;
const IDS = WORK.map((_work, at) => String(at + 1));

function kill({ pid }: { readonly pid: number }): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** What is counted until somebody is killed. A claim is a record too, after which work is under way. */
type Count = 'record' | 'claim' | 'git command';

function countOf({ root }: PhaseProject, count: Count): number {
  const path = join(root, '.tool', 'teams', TEAM, 'log.jsonl');
  if (!existsSync(path)) return 0;
  const all = lines(readFileSync(path, 'utf8'));
  return count === 'record' ? all.length : all.filter((line) => line.includes('"status":"in_progress"')).length;
}

/** `git`: whoever runs the n-th git command, the lead or a teammate's server; the command is not run. */
type Victim = 'lead' | 'teammate' | 'all' | 'git';

/** Kills; false when nobody of that kind lives. */
function strike(project: PhaseProject, lead: Subprocess, victim: Victim): boolean {
  const all = processesOf(project);
  if (victim === 'teammate') {
    const [mate] = matesOf(project, lead.pid ?? 0);
    if (mate !== undefined) kill(mate);
    return mate !== undefined;
  }
  kill({ pid: lead.pid ?? 0 });
  if (victim === 'all') for (const one of all) kill(one);
  return true;
}

/** Lets the lead run until the log has so many, and strikes; false when it was over before. */
async function killedAt(
  project: PhaseProject,
  lead: Subprocess,
  victim: Victim,
  count: Count,
  at: number,
  said: () => string,
): Promise<boolean> {
  let isStruck = false;
  const directory = join(project.root, '.tool', 'teams', TEAM);
  mkdirSync(directory, { recursive: true });
  const watcher = watch(directory, () => {
    if (!isStruck && count !== 'git command' && countOf(project, count) >= at) isStruck = strike(project, lead, victim);
  });
  await within(`the lead ends, or is killed at ${count} ${at}`, once(lead, 'close'), said);
  watcher.close();
  return isStruck;
}

/** A `git` that does something before it is the real one; gives the directory that both it and its notes are in. */
function gitAfter(project: PhaseProject, act: (real: string, bin: string) => string): string {
  const real = execaSync`sh -c ${'command -v git'}`.stdout;
  const bin = join(dirname(project.root), 'bin');
  mkdirSync(bin);
  project.env = { PATH: `${bin}:${process.env.PATH}` };
  const git = join(bin, 'git');
  writeFileSync(git, `#!/bin/sh\n${act(real, bin)}\nexec ${real} "$@"\n`);
  chmodSync(git, 0o755);
  return bin;
}

/** A `git` that kills, once, whoever runs its n-th command; gives what tells how many there were. */
function killingGit(project: PhaseProject, at: number): () => number {
  // One line each, since several of them may write at once.
  const bin = gitAfter(project, (_real, place) => {
    const file = join(place, 'count');
    return `echo x >>'${file}'\nif [ "$(wc -l <'${file}')" -eq ${at} ] && mkdir '${file}.struck' 2>/dev/null; then kill -9 $PPID; exit 1; fi`;
  });
  const count = join(bin, 'count');
  writeFileSync(count, '');
  return () => lines(readFileSync(count, 'utf8')).length;
}

function lines(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

async function assertDone(project: PhaseProject): Promise<void> {
  const show = (path: string) => project.git('show', `${BRANCH}:${path}`);
  for (const { id, file } of WORK) assert.equal(show(file), `export const ${id} = true;`);
  assert.deepEqual(lines(project.git('for-each-ref', '--format=%(refname:short)', 'refs/heads')), ['main', BRANCH]);
  const merges = lines(
    project.git('log', '--first-parent', '--merges', '--format=%(trailers:key=Task,valueonly,separator=%x2C)', BRANCH),
  );
  assert.deepEqual([...merges].sort(), IDS, 'each task was merged once');
  for (const { owner, file } of WORK)
    assert.equal(project.git('log', '--no-merges', '--format=%an', BRANCH, '--', file), owner);
  assert.equal(lines(project.git('worktree', 'list')).length, 1);
  assert.deepEqual(project.names('.tool/worktrees'), ['.gitignore']);
  assert.deepEqual(project.names('.tool/teams'), ['.gitignore', 'archive']);
  const [name = '', ...more] = project.names('.tool/teams/archive');
  assert.deepEqual(more, []);
  const completed: string[] = [];
  const history = new TeamHistory({
    directory: join(project.root, '.tool', 'teams', 'archive', name),
    from: 'beginning',
    onRecord: (record, refusal) => {
      if (refusal === null && record.type === 'task_updated' && record.status === 'completed')
        completed.push(record.task);
    },
  });
  await history.close();
  assert.deepEqual(completed.sort(), IDS, 'each task was completed once');
  assert.equal(history.state.session, 'deleted');
  assert.equal(history.tornLines, 0);
  assert.deepEqual(processesOf(project), []);
  assert.equal(execaSync({ cwd: project.root })`git status --short`.stdout, '');
}

/** Goes on after a kill with one command or the other. */
async function goOn(project: PhaseProject, at: number): Promise<void> {
  const path = join(project.root, '.tool', 'teams', TEAM, 'log.jsonl');
  // One that was only proposed is none that stands.
  const stands = existsSync(path) && readFileSync(path, 'utf8').includes('"type":"created"');
  const args = at % 2 === 0 && stands ? ['team-restart'] : ['run', SPEC, '--team'];
  const { code, stdout, stderr } = await within(
    `\`tool ${args.join(' ')}\` after the kill`,
    project.lead(...args, '--json'),
  );
  assert.equal(code, 0, stderr);
  const report: PhaseReport = JSON.parse(stdout);
  assert.deepEqual([report.branch, report.files], [BRANCH, WORK.length], stderr);
}

const seed = Number(process.env.TOOLCREW_SEED ?? Date.now() % 1_000_000);
let state = seed;

/** A number from 0 to below 1; the same for the same seed. */
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
}

/** One moment in each of so many equal parts of a run. */
function moments(parts: number, from: number, to: number): readonly number[] {
  return Array.from({ length: parts }, (_, part) => Math.floor(from + ((part + random()) * (to - from)) / parts));
}

let struck = 0;

const LOOK_MS = 20;

/** A project of which nothing goes on after its test, whatever that has come to. */
function projectOf(t: Cleanup): PhaseProject {
  const project = shopProject(t);
  passTimeForDeadHolders(t, project.root);
  finallyDo(t, () => {
    for (const one of processesOf(project)) kill(one);
  });
  return project;
}

test('nobody is killed', async (t) => {
  const project = projectOf(t);
  const commands = killingGit(project, 0);
  const { code, stderr } = await within(
    'a run in which nobody is killed',
    project.lead('run', SPEC, '--team', '--json'),
  );
  assert.equal(code, 0, stderr);
  await assertDone(project);
  const records = project.archived().split('"type":').length - 1;
  assert.ok(records >= LAST_RECORD, `${records} records`);
  assert.ok(commands() >= LAST_COMMAND, `${commands()} git commands`);
});

/** Of a run: there are a few more, and how many depends on who is faster. */
const LAST_RECORD = 34;
const FIRST_TEAMMATE = 11;
const LAST_TEAMMATE = 30;
const LAST_COMMAND = 60;

const CASES: readonly (readonly [Victim, Count, readonly number[]])[] = [
  // Of a lead, all records are gone through in team-resume.test.ts.
  ['lead', 'record', moments(1, 1, LAST_RECORD)],
  ['lead', 'claim', moments(1, 1, WORK.length + 1)],
  ['teammate', 'record', moments(2, FIRST_TEAMMATE, LAST_TEAMMATE)],
  ['teammate', 'claim', moments(1, 1, WORK.length + 1)],
  ['all', 'record', moments(2, FIRST_TEAMMATE, LAST_RECORD)],
  ['all', 'claim', moments(1, 1, WORK.length + 1)],
  ['git', 'git command', moments(3, 1, LAST_COMMAND)],
];

for (const [victim, count, points] of CASES)
  for (const at of points)
    test(`TOOLCREW_SEED=${seed}: ${victim} killed at ${count} ${at}`, async (t) => {
      const project = projectOf(t);
      if (victim === 'git') killingGit(project, at);
      const lead = project.start('run', SPEC, '--team', '--json');
      let said = '';
      lead.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8');
      });
      const isStruck = await killedAt(project, lead, victim, count, at, () => said);
      if (isStruck || existsSync(join(dirname(project.root), 'bin', 'count.struck'))) struck += 1;
      project.env = {};
      // Another teammate takes the place of one that was killed; a lead's place is taken by a command of the person.
      if (lead.signalCode === 'SIGKILL') await goOn(project, at);
      else assert.equal(lead.exitCode, 0, said);
      await assertDone(project);
    });

test('all are killed while the git of a teammate holds locks', async (t) => {
  const project = projectOf(t);
  // It takes the lock, and waits for names of files on a pipe that itself holds open.
  const waiting = (real: string, pipe: string) => `mkfifo '${pipe}'; exec ${real} "$@" <>'${pipe}'`;
  const bin = gitAfter(
    project,
    (real, place) => `case "$PWD $*" in */tester\\ *update-index*) ${waiting(real, join(place, 'names'))} ;; esac`,
  );
  const lead = project.start('run', SPEC, '--team', '--json');
  const ended = once(lead, 'close');
  const lock = join(project.root, '.git', 'worktrees', 'tester', 'index.lock');
  // The lock alone may be that of the lead, which makes the worktree.
  const isHeld = async () => {
    while (!existsSync(join(bin, 'names')) || !existsSync(lock)) await delay(LOOK_MS);
  };
  await within('the lock of the index', isHeld());
  strike(project, lead, 'all');
  await ended;
  assert.ok(existsSync(lock), 'the lock was left');
  // As of a git that was killed as it merged: only git may write there.
  const shared = join(project.root, '.git', 'refs', 'toolcrew', 'left', `${TEAM}.lock`);
  writeFileSync(shared, '');
  // A teammate cannot see that their git is dead, and waits until the locks are old.
  for (const left of [lock, shared]) utimesSync(left, 0, 0);
  project.env = {};
  await goOn(project, 1);
  await assertDone(project);
});

test('most of them did not come too late', () => {
  const all = CASES.flatMap(([, , points]) => points).length;
  assert.ok(struck >= all * 0.7, `${struck} of ${all}`);
});
