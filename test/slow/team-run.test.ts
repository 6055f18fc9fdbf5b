// `tool run` as a person types it: the compiled command, real git, teammates that are processes.

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { SCRIPT_VARIABLE, type TeammateScript } from '../../src/cli/agents/agent-teammate.ts';
import { DEMO_FILES, DEMO_SCRIPT, DEMO_SPEC } from '../../src/cli/demo/demo-team-project.ts';
import type { RunReport } from '../../src/cli/run-report.ts';
import { TeamHistory } from '../../src/team/log/team-history.ts';
import type { TeamState } from '../../src/team/rules/log/state.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const CLI = join(process.cwd(), 'dist', 'cli.js');
const TEAM = 'tool-run-spec-guestbook-001';
const BRANCH = `tool/${TEAM}`;

/** The demo's script without the time that it takes to think. */
function swift(script: TeammateScript): TeammateScript {
  const parsed: TeammateScript = JSON.parse(JSON.stringify(script, (key, value) => (key === 'think_ms' ? 0 : value)));
  return parsed;
}

class Project {
  readonly root: string;
  readonly #top: string;
  readonly #home: string;
  readonly #script: string;
  /** What each teammate's shell does before it plays. */
  before = '';

  /** @param below where in its repository the project lies */
  constructor(t: Cleanup, script = DEMO_SCRIPT, below = '.') {
    const place = tempDir(t);
    this.#top = join(place, 'guest book');
    this.root = join(this.#top, below);
    this.#home = join(place, 'home');
    this.#script = join(place, 'script.json');
    mkdirSync(this.#home);
    writeFileSync(this.#script, JSON.stringify(swift(script)));
    for (const [path, text] of Object.entries(DEMO_FILES)) {
      mkdirSync(dirname(join(this.root, path)), { recursive: true });
      writeFileSync(join(this.root, path), text);
    }
    execFileSync('git', ['init', '-q', '-b', 'main', this.#top]);
    writeFileSync(join(this.#top, 'OTHERS.md'), 'Not of this project.\n');
    this.git('add', '-A', this.#top);
    this.git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qm', 'A guest book');
  }

  git(...args: readonly string[]): string {
    return execFileSync('git', args, { cwd: this.root, encoding: 'utf8' });
  }

  start(...args: readonly string[]): ChildProcess {
    const { PATH = '', NODE_V8_COVERAGE } = process.env;
    const env = {
      PATH,
      HOME: this.#home,
      TMPDIR: dirname(this.#top),
      TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: '1',
      ...(NODE_V8_COVERAGE === undefined ? {} : { NODE_V8_COVERAGE }),
    };
    const player = `${this.before}${SCRIPT_VARIABLE}='${this.#script}' exec '${process.execPath}' '${CLI}' agent teammate`;
    return spawn(process.execPath, [CLI, ...args, '--command', player], { cwd: this.root, env });
  }

  async run(...args: readonly string[]) {
    const child = this.start(...args);
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.on('data', (chunk: Buffer) => {
        said[name] += chunk.toString('utf8');
      });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...said };
  }

  async report(...args: readonly string[]): Promise<RunReport> {
    const { code, stdout, stderr } = await this.run(...args, '--json');
    assert.equal(code, 0, stderr);
    const report: RunReport = JSON.parse(stdout);
    return report;
  }

  /** What the person types before and after it. */
  tool(...args: readonly string[]): string {
    const env = { PATH: process.env.PATH ?? '', HOME: this.#home };
    return execFileSync(process.execPath, [CLI, ...args], { cwd: this.root, env, encoding: 'utf8' });
  }

  /** The log of the team that was put away, told from its beginning. */
  async told(onState: (state: TeamState) => void): Promise<void> {
    const archive = join(this.root, '.tool', 'teams', 'archive');
    const [name = ''] = readdirSync(archive);
    const history = new TeamHistory({
      directory: join(archive, name),
      from: 'beginning',
      onRecord: (_record, _refusal, state) => onState(state),
    });
    await history.close();
  }

  show(path: string, ref = BRANCH): string {
    return this.git('show', `${ref}:./${path}`);
  }
}

test('a team of four finishes, in one branch, and the checkout of the person is as it was', async (t) => {
  const project = new Project(t);
  const head = project.git('rev-parse', 'HEAD');
  const report = await project.report('run', DEMO_SPEC, '--team', '--pattern=quality_gate');
  assert.equal(report.outcome, 'done');
  assert.deepEqual([...new Set(report.tasks.map(({ outcome }) => outcome))], ['completed']);
  assert.deepEqual([...new Set(report.tasks.map(({ owner }) => owner))].sort(), [
    'backend-dev',
    'frontend-dev',
    'quality',
    'tester',
  ]);
  assert.equal(report.branch, BRANCH);
  assert.equal(report.files, 7);
  assert.equal(report.gate?.ok, true);
  assert.ok(report.rejections >= 1, 'the first version of the server was rejected');
  assert.match(project.show('src/api/entries.js'), /says: 'is missing'/, 'what was asked for by another is in it');
  assert.match(project.show('tests/screens.test.js'), /visitors are greeted/);
  assert.match(project.git('log', '--format=%an %s%n%b', BRANCH), /backend-dev .*\n(.*\n)*?Task: 1/);
  assert.equal(project.git('rev-parse', 'HEAD'), head);
  assert.equal(project.git('status', '--short'), '');
  assert.equal(project.git('worktree', 'list').trim().split('\n').length, 1);
  assert.equal(project.git('branch', '--list', `${BRANCH}--*`), '');
  const types = new Set<string>();
  await project.told(({ messages }) => {
    for (const { type } of messages) types.add(type);
  });
  for (const type of ['api_ready', 'component_ready', 'change_request', 'change_completed', 'quality_gate_passed'])
    assert.ok(types.has(type), type);
});

test('the SPEC of the demo has no problems, and is met by what the team built', async (t) => {
  const project = new Project(t);
  assert.equal(project.tool('spec', 'check', DEMO_SPEC), `${DEMO_SPEC} has no problems (approved)\n`);
  const { tasks } = await project.report('run', DEMO_SPEC, '--team');
  const subjects = tasks.map(({ subject }) => subject);
  assert.ok(subjects.includes('Tell the health'), `built by the tasks of its own plan: ${subjects.join(', ')}`);
  project.git('merge', '-q', '--ff-only', BRANCH);
  const said = project.tool('sync', DEMO_SPEC);
  assert.match(said, /R5 .*tests\/screens\.test\.js:/);
  assert.match(project.tool('spec', 'list'), /^SPEC-GUESTBOOK-001 {2}completed/);
});

test('a project that is a part of its repository is built there, and nothing beside it', async (t) => {
  const project = new Project(t, DEMO_SCRIPT, 'packages/guest book');
  const report = await project.report('run', DEMO_SPEC, '--team');
  assert.deepEqual([...new Set(report.tasks.map(({ outcome }) => outcome))], ['completed']);
  assert.match(project.show('src/components/banner.js'), /Welcome/);
  assert.match(readFileSync(report.report ?? '', 'utf8'), /^# SPEC-GUESTBOOK-001\n\n\d+ of \d+ tasks by 3 teammates/);
  const changed = project.git('diff', '--name-only', 'main', BRANCH).trim().split('\n');
  assert.ok(
    changed.every((path) => path.startsWith('packages/guest book/')),
    changed.join(', '),
  );
});

test('alone, the same is done one at a time', async (t) => {
  const project = new Project(t);
  const report = await project.report('run', DEMO_SPEC, '--solo');
  assert.deepEqual([...new Set(report.tasks.map(({ outcome }) => outcome))], ['completed']);
  let most = 0;
  await project.told(({ tasks }) => {
    const active = [...tasks.values()].filter(({ status }) => status === 'in_progress').length;
    most = Math.max(most, active);
  });
  assert.equal(most, 1);
  assert.match(project.show('src/components/banner.js'), /Welcome/);
});

test('a commit that changes a file of another is not taken, and its author is told whom to ask', async (t) => {
  const project = new Project(t);
  // git itself may write every file of the worktree.
  const file = 'src/api/banner.js';
  const add = `git update-index --add --cacheinfo 100644,$(git hash-object -w package.json),${file}`;
  project.before = `case $PWD in */frontend-dev) ${add} && git checkout -q -- ${file};; esac; `;
  const { code, stderr } = await project.run('run', DEMO_SPEC, '--team', '--pattern=quality_gate', '--json');
  assert.equal(code, 0, stderr);
  assert.match(
    stderr,
    /was rejected: commit \w+ "[^\n]*" of frontend-dev is not merged: src\/api\/banner\.js is backend-dev's [^\n]*SendMessage \{"recipient":"backend-dev","type":"change_request"/,
  );
  assert.throws(() => project.show('src/api/banner.js'), 'it never reached the branch');
  assert.match(project.show('src/components/banner.js'), /Welcome/, 'the rest of it did');
  assert.match(project.git('for-each-ref', 'refs/toolcrew'), /refused/, 'and nothing is lost');
});

test('what is changed on a request after its owner has completed all of its tasks is on the branch', async (t) => {
  const script = structuredClone(DEMO_SCRIPT);
  const { 'backend-dev': backend, tester } = script;
  const change = backend?.tasks.find(({ subject }) => subject === 'Change asked for');
  const written = change?.steps.flatMap(({ write }) => write ?? [])[0];
  assert.ok(backend !== undefined && change !== undefined && written !== undefined);
  const write = { ...written, text: `${written.text}// As it was asked for.\n` };
  backend.mail = { change_request: [{ think_ms: 1 }, { write }] };
  backend.tasks.push({ subject: 'beside', steps: [] });
  const content = { file: write.path, requestedChange: 'Say by whom it was asked for', reason: 'nobody knows' };
  tester?.tasks
    .find(({ subject }) => subject.includes('screens'))
    ?.steps.push({
      call: { tool: 'SendMessage', input: { recipient: 'backend-dev', type: 'change_request', content } },
    });
  const project = new Project(t, script);
  const report = await project.report('run', DEMO_SPEC, '--team', '--pattern=quality_gate');
  assert.match(project.show(write.path), /As it was asked for/);
  assert.deepEqual([...new Set(report.tasks.map(({ outcome }) => outcome))], ['completed']);
  assert.doesNotMatch(readFileSync(report.report ?? '', 'utf8'), /Not on the branch/);
});

test('a lead that is killed leaves what another goes on with; what was completed is not done again', async (t) => {
  const project = new Project(t);
  const child = project.start('run', DEMO_SPEC, '--team', '--pattern=quality_gate');
  await new Promise<void>((resolve) => {
    let text = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (/task 2 is completed|task 4 is completed/.test(text)) resolve();
    });
  });
  child.kill('SIGKILL');
  await once(child, 'close');
  const log = join(project.root, '.tool', 'teams', TEAM, 'log.jsonl');
  const completed = (text: string) => [...text.matchAll(/"task":"(\d+)","status":"completed"/g)].map(([, id]) => id);
  const before = completed(readFileSync(log, 'utf8'));
  assert.ok(before.length > 0);
  const report = await project.report('team-restart');
  assert.deepEqual([...new Set(report.tasks.map(({ outcome }) => outcome))], ['completed']);
  assert.equal(existsSync(log), false, 'it was put away');
  const archive = join(project.root, '.tool', 'teams', 'archive');
  const all = completed(readFileSync(join(archive, readdirSync(archive)[0] ?? '', 'log.jsonl'), 'utf8'));
  for (const id of before) assert.equal(all.filter((one) => one === id).length, 1, `task ${id}`);
});

test('a second lead of the same team is refused while the first one lives', async (t) => {
  const project = new Project(t);
  const first = project.start('run', DEMO_SPEC, '--team');
  let stderr = '';
  first.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  const ended = once(first, 'close');
  while (!stderr.includes('is there (run 1)')) await once(first.stderr ?? first, 'data');
  for (const command of [['run', DEMO_SPEC, '--team'], ['team-restart']]) {
    const second = await project.run(...command);
    assert.equal(second.code, 1, second.stderr);
    assert.match(
      second.stderr,
      new RegExp(`team ${TEAM} is being led by process ${first.pid}, since .*: stop that one`),
    );
  }
  const [code] = (await ended) as [number | null];
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(stderr, /run 2/, 'nobody was ended by it');
});

test('where a teammate cannot be started, the same tasks go on one at a time, and end with the reason', async (t) => {
  const project = new Project(t);
  const child = project.start('run', DEMO_SPEC, '--team');
  child.kill('SIGKILL');
  await once(child, 'close');
  const broken = spawn(process.execPath, [CLI, 'run', DEMO_SPEC, '--team', '--command', 'exit 3'], {
    cwd: project.root,
    env: { PATH: process.env.PATH ?? '', HOME: dirname(project.root), TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' },
  });
  let stderr = '';
  broken.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  const [code] = (await once(broken, 'close')) as [number | null];
  assert.equal(code, 1);
  assert.match(
    stderr,
    /warn: sub-agents in place of team tool-run-spec-guestbook-001: a teammate could not be started: (?:back|front)end-dev:? ended 3 times/,
  );
  assert.match(stderr, /ended 3 times without finishing: it ended with exit code 3 and printed nothing\n/);
  assert.match(stderr, /`tool team-restart tool-run-spec-guestbook-001` goes on from here/);
  const report = await project.report('run', DEMO_SPEC, '--team');
  assert.deepEqual([...new Set(report.tasks.map(({ outcome }) => outcome))], ['completed']);
});

test('how it failed is told where somebody has checked out its branch meanwhile', async (t) => {
  const project = new Project(t);
  const go = join(project.root, 'go');
  const command = `until [ -e '${go}' ]; do sleep 0.05; done; exit 3`;
  const run = spawn(process.execPath, [CLI, 'run', DEMO_SPEC, '--team', '--command', command], {
    cwd: project.root,
    env: { PATH: process.env.PATH ?? '', HOME: dirname(project.root), TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' },
  });
  let stderr = '';
  run.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  const ended = once(run, 'close');
  while (!stderr.includes('is there (run 1)')) await once(run.stderr, 'data');
  project.git('checkout', '-q', BRANCH);
  writeFileSync(go, '');
  const [code] = (await ended) as [number | null];
  assert.equal(code, 1);
  assert.match(stderr, /what was built is not told: .* is checked out in /);
  assert.match(stderr, /ended 3 times without finishing: it ended with exit code 3 and printed nothing\n/);
});

test('what is finished while somebody has its branch checked out waits, and goes in afterwards', async (t) => {
  const project = new Project(t);
  const run = project.start('run', DEMO_SPEC, '--team');
  const ended = once(run, 'close');
  let stderr = '';
  run.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    const before = stderr;
    stderr += chunk;
    const isNow = (words: RegExp) => words.test(stderr) && !words.test(before);
    if (isNow(/is there \(run 1\)/)) project.git('checkout', '-q', BRANCH);
    if (isNow(/ waits: .* is checked out in /)) project.git('checkout', '-q', 'main');
  });
  const [code] = (await ended) as [number | null];
  assert.equal(code, 0, stderr);
  assert.match(stderr, / waits: .* is checked out in /);
});

test('what cannot be run is refused in words, and nothing is begun', async (t) => {
  const project = new Project(t);
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [
      ['run', 'SPEC-NONE-001', '--team'],
      1,
      /spec_id: there is no \.tool\/specs\/SPEC-NONE-001\/spec\.md; there is SPEC-GUESTBOOK-001/,
    ],
    [['run', 'nonsense'], 2, /spec_id/],
    [['run', DEMO_SPEC, '--team', '--solo'], 2, /--team, --solo: expected one of them, got both/],
    [['run', DEMO_SPEC, '--pattern=nonsense'], 2, /pattern: expected one of/],
    [['team-restart'], 2, /no team is active: there is nothing to restart/],
  ];
  for (const [args, expected, words] of cases) {
    const { code, stderr } = await project.run(...args);
    assert.match(stderr, words, args.join(' '));
    assert.equal(code, expected, args.join(' '));
  }
  assert.equal(existsSync(join(project.root, '.tool', 'teams')), false);
});

test('where its branch cannot be, no team is left standing', async (t) => {
  const project = new Project(t);
  project.git('branch', 'tool');
  const beside = await project.run('run', DEMO_SPEC, '--team');
  assert.match(
    beside.stderr,
    /git makes no such branch beside one that is called tool; rename that: git branch -m tool /,
  );
  assert.equal(beside.code, 1);
  project.git('branch', '-D', 'tool');
  project.git('checkout', '-q', '-b', BRANCH);
  const taken = await project.run('run', DEMO_SPEC, '--team');
  assert.match(taken.stderr, /is checked out in .*: a team's work is merged into it; switch to another branch there/);
  assert.equal(taken.code, 1);
  assert.equal(existsSync(join(project.root, '.tool', 'teams', TEAM)), false);
});
