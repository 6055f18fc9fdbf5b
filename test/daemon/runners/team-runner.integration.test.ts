// The runner that has a team lead itself on an issue: the leading process is real, and so are the agent socket and git.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import type { RunHooks, Runner, RunRequest } from '../../../src/agents/ports.ts';
import { RuntimeDir } from '../../../src/base/processes/runtime-dir.ts';
import { SCRIPT_VARIABLE, type TeammateScript } from '../../../src/cli/agents/agent-teammate.ts';
import type { AgentRequest } from '../../../src/daemon/ports.ts';
import { createAgentSocket } from '../../../src/daemon/runners/agent-socket.ts';
import { TeamRunner } from '../../../src/daemon/runners/team-runner.ts';
import { FileTeams } from '../../../src/team/log/teams.ts';
import { LEAD_CODES } from '../../../src/team/rules/codes/lead-codes.ts';
import { wordsLike } from '../../support/codes.ts';
import { CLI } from '../../support/daemon.ts';
import { type GitCall, gitIn } from '../../support/git.ts';
import { writeTree } from '../../support/installed.ts';
import { Bench } from '../../support/runner.ts';
import { rec } from '../../support/team.ts';
import { commitAll } from '../../support/team-worktrees.ts';
import { type Cleanup, finallyDo } from '../../support/temp.ts';
import { workflowWith } from '../../support/world.ts';

const TEAM = 'tool-run-issue-7';

const NOBODY: Runner = {
  name: 'nobody',
  run: async () => assert.fail('a team was asked for'),
};

type Place = {
  readonly bench: Bench;
  readonly git: GitCall;
  readonly heard: readonly AgentRequest[];
  readonly run: (
    command: string,
    request?: Partial<RunRequest>,
    mode?: 'team' | 'auto',
    hooks?: Partial<RunHooks>,
  ) => ReturnType<Bench['run']>;
};

/** The clone of an issue, on its branch, with an agent socket of the daemon. */
async function issueClone(t: Cleanup): Promise<Place> {
  const bench = await Bench.create(t);
  const { cwd } = bench;
  execaSync`git init -q -b main ${cwd}`;
  writeTree(cwd, {
    'src/api/a.js': '1\n',
    '.gitignore': '.tool/*\n!.tool/config/\n',
    '.tool/config/workflow.yaml': `workflow:\n  team:\n    enabled: true\n`,
  });
  commitAll(cwd, 'Begin');
  const git = gitIn(cwd);
  git('switch', '-qc', 'tool/issue-7');
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  const heard: AgentRequest[] = [];
  const agentSocket = await createAgentSocket(runtime).open(async (request) => {
    heard.push(request);
    return {};
  });
  finallyDo(t, () => agentSocket.close());
  const run = (
    command: string,
    request: Partial<RunRequest> = {},
    mode: 'team' | 'auto' = 'team',
    hooks: Partial<RunHooks> = {},
  ) => {
    bench.workflow = workflowWith({
      tool: { mode, runtime: 'command', command, startTimeoutMs: 0, stallTimeoutMs: 0, env: [SCRIPT_VARIABLE] },
    });
    return bench.run(new TeamRunner({ ...bench.options, alone: NOBODY }), { env: agentSocket.env, ...request }, hooks);
  };
  return { bench, git, heard, run };
}

/** What an attempt leaves that led its team to the end and was killed then; gives where the team's log is. */
async function finished({ bench: { cwd }, git }: Place, { isPutAway = true } = {}): Promise<string> {
  git('branch', `tool/${TEAM}`);
  git('update-ref', `refs/toolcrew/base/${TEAM}`, 'main');
  git('switch', '-q', `tool/${TEAM}`);
  writeTree(cwd, { 'src/api/built.js': 'by the team\n' });
  commitAll(cwd, 'Build');
  git('switch', '-q', 'tool/issue-7');
  const teams = new FileTeams({ root: cwd, now: Date.now });
  const log = teams.begin(TEAM);
  for (const record of [rec('created', { team: TEAM, session: null }), rec('deleted')])
    assert.equal((await log.append(record)).refusal, null);
  await log.close();
  return isPutAway ? teams.archive(TEAM) : '';
}

test('before it is decided who works on an issue nobody says that it is a team', async (t) => {
  const { bench } = await issueClone(t);
  const runner = new TeamRunner({ ...bench.options, alone: NOBODY });
  const names = (['team', 'auto'] as const).map((mode) => {
    bench.workflow = workflowWith({ tool: { mode } });
    return runner.name;
  });
  assert.deepEqual(names, ['a team of nobody', 'nobody, or a team of it']);
});

for (const isReported of [true, false])
  test(`what a finished team built is handed in by the next attempt, which leads nobody (report: ${isReported})`, async (t) => {
    const place = await issueClone(t);
    const { bench, git, heard } = place;
    const archive = await finished(place);
    if (isReported) writeFileSync(join(archive, 'report.txt'), '# The report\n\n3 of 3 tasks are done\n');
    // The daemon has taken main in since: a commit of git's own is needed, and nobody's name is known to it.
    writeTree(bench.cwd, { 'src/api/a.js': '2\n' });
    commitAll(bench.cwd, 'Of main');
    const led = join(bench.directory, 'led');
    const { end, output, left } = await place.run(`touch '${led}'; exit 1`);
    assert.deepEqual(
      end,
      { ok: true, words: isReported ? '3 of 3 tasks are done' : end.words, isUnheard: true },
      output,
    );
    assert.match(output, /team tool-run-issue-7 is done already: its work is handed in/);
    assert.equal(existsSync(led), false, 'no teammate was started');
    assert.deepEqual(left, []);
    assert.equal(git('symbolic-ref', 'HEAD').trim(), 'refs/heads/tool/issue-7');
    assert.equal(git('show', 'HEAD:src/api/built.js'), 'by the team\n');
    assert.equal(git('show', 'HEAD:src/api/a.js'), '2\n');
    assert.equal(
      git('show', '-s', '--format=%an <%ae> %cn', 'HEAD').trim(),
      `team-lead <team-lead@${TEAM}.toolcrew.invalid> team-lead`,
    );
    const [asked, ...more] = heard;
    assert.deepEqual(more, []);
    assert.equal(asked?.type === 'pull_request' ? asked.title : '', 'an issue');
    assert.match(
      asked?.type === 'pull_request' ? asked.body : '',
      isReported ? /^# The report/ : /1 files on `tool\/issue-7`/,
    );
    assert.deepEqual(readdirSync(join(bench.cwd, '.tool', 'teams')).sort(), ['.gitignore', 'archive']);
  });

test('what people write to a team at work reaches a member in its next turn', async (t) => {
  const { bench, run } = await issueClone(t);
  const { directory, cwd } = bench;
  const begun = join(directory, 'begun');
  const log = join(cwd, '.tool', 'teams', TEAM, 'log.jsonl');
  const told = join(directory, 'told');
  const until = (what: string) => `n=0; until ${what} || [ $n -ge 2400 ]; do n=$((n+1)); sleep 0.05; done`;
  // The turn that shows the text lasts until the daemon knows of it.
  const turns = [
    `cat >'${directory}/prompt.'$$; if [ ! -e '${begun}' ]; then touch '${begun}'`,
    until(`grep -qs 'Mind the tests' '${log}'`),
    `exit 0; fi; if grep -q 'Mind the tests' '${directory}/prompt.'$$; then ${until(`[ -e '${told}' ]`)}; fi; exit 1`,
  ];
  const heard: string[] = [];
  let isTaken = false;
  const takeWords = () => {
    if (isTaken || !existsSync(begun)) return null;
    isTaken = true;
    return { text: 'bob wrote to you: Mind the tests', keys: ['7:0'] };
  };
  const heardWords = (keys: readonly string[]) => {
    heard.push(...keys);
    writeFileSync(told, '');
  };
  const { output } = await run(turns.join('; '), {}, 'team', { takeWords, heardWords });
  const prompts = readdirSync(directory).filter((name) => name.startsWith('prompt.'));
  const shown = prompts.filter((name) => readFileSync(join(directory, name), 'utf8').includes('Mind the tests'));
  assert.ok(shown.length > 0 && shown.length < prompts.length, output);
  assert.deepEqual(heard, ['7:0']);
});

test('a used-up quota of a teammate ends the attempt with its time, without sub-agents; the team goes on later', async (t) => {
  const { bench, run } = await issueClone(t);
  const begun = join(bench.directory, 'begun');
  const spent = `echo "$TOOL_TEAMMATE" >> '${begun}'; echo 'Retry-After: 3600' >&2; exit 75`;
  const before = Date.now();
  const { end, output, left } = await run(spent);
  assert.ok(!end.ok && end.fault === 'runtime', end.words);
  const wait = (end.quotaAt ?? 0) - before;
  assert.ok(wait >= 3_600_000 && wait < 3_900_000, String(end.quotaAt));
  assert.match(end.words, wordsLike(LEAD_CODES.member_quota_spent, { member: /[\w-]+/, until: /20\S+/ }));
  const started = readFileSync(begun, 'utf8').trim().split('\n');
  assert.equal(new Set(started).size, started.length, 'nobody was started twice');
  assert.doesNotMatch(output, /\((?:fell_back|subagents_instead)\)/);
  assert.doesNotMatch(output, wordsLike(LEAD_CODES.fell_back));
  assert.doesNotMatch(output, wordsLike(LEAD_CODES.subagents_instead));
  assert.deepEqual(left, []);
  const log = readFileSync(join(bench.cwd, '.tool', 'teams', TEAM, 'log.jsonl'), 'utf8');
  assert.doesNotMatch(log, /"fell_back"/);
  const again = await run(spent);
  assert.match(again.output, /team tool-run-issue-7 stands: its work goes on/);
});

/** Teammates that follow a script, in a clone in which a team has handed its work in and nothing is measured. */
async function nextRound(t: Cleanup, script: TeammateScript) {
  const place = await issueClone(t);
  const { bench, git } = place;
  const settings = {
    workflow: { team: { enabled: true, hooks: { task_completed: { require_quality_check: false } } } },
  };
  writeTree(bench.cwd, { '.tool/config/workflow.yaml': JSON.stringify(settings) });
  commitAll(bench.cwd, 'Measure nothing');
  writeFileSync(join(await finished(place), 'report.txt'), '# First report\n');
  git('merge', '-q', `tool/${TEAM}`);
  const path = join(bench.directory, 'script.json');
  writeFileSync(path, JSON.stringify(script));
  bench.env[SCRIPT_VARIABLE] = path;
  const command = `exec '${process.execPath}' '${CLI}' agent teammate`;
  return {
    ...place,
    run: (request: Partial<RunRequest>, mode?: 'team' | 'auto') => place.run(command, request, mode),
    runBy: place.run,
  };
}

/** @param steps what the one who builds does */
function mender(steps: NonNullable<TeammateScript[string]>['tasks'][number]['steps'], result: string): TeammateScript {
  const tasks = [{ subject: 'Round 2: an issue', steps, result }];
  return { 'backend-dev': { tasks }, tester: { tasks: [{ subject: 'Round 2', steps: [], result: 'still good' }] } };
}

const SECOND = { number: 2, words: 'The check "lint" failed: no mended.js', isMerge: false };

for (const mode of ['team', 'auto'] as const)
  test(`${mode}: what comes after the work was handed in is the task of a new round on the same branch`, async (t) => {
    const write = { path: 'src/api/mended.js', text: 'mended\n' };
    const script = mender([{ write }], 'Wrote mended.js.\nReply to thread 12: It is there now.');
    const { bench, git, heard, run } = await nextRound(t, script);
    const { end, output, events } = await run({ round: SECOND, prompt: 'the prompt\n\nno mended.js' }, mode);
    assert.equal(end.ok, true, `${end.words}\n${output}`);
    assert.match(end.words, /^2 of 2 tasks [\s\S]*backend-dev: Wrote mended\.js\.[\s\S]*tester: still good/);
    assert.equal(end.ok && end.isUnheard, undefined);
    assert.equal(git('show', 'HEAD:src/api/mended.js'), 'mended\n');
    const [team] = events.flatMap((event) => (event.type === 'team' ? [event.team] : []));
    assert.equal(team?.team, `${TEAM}-round-2`);
    assert.equal(team?.subject, 'issue #7, round 2: an issue');
    const [asked, ...replies] = heard;
    assert.match(
      asked?.type === 'pull_request' ? asked.body : '',
      /^# First report\n[\s\S]*# issue \\#7, round 2: an issue/,
    );
    assert.deepEqual(replies, [{ type: 'reply', thread: 12, body: 'It is there now.' }]);
    const [log] = readdirSync(join(bench.cwd, '.tool/teams/archive')).filter((name) => name.includes('round-2'));
    assert.match(readFileSync(join(bench.cwd, '.tool/teams/archive', log ?? '', 'log.jsonl'), 'utf8'), /no mended\.js/);

    const again = await run({ round: SECOND }, mode);
    assert.deepEqual([again.end.ok, again.end.ok && again.end.isUnheard], [true, undefined], again.output);
    assert.match(again.output, /round-2 is done already/);
    const more = await run({ round: { ...SECOND, words: `${SECOND.words}, and no other.js` } }, mode);
    assert.deepEqual([more.end.ok, more.end.ok && more.end.isUnheard], [true, true], 'members were told less');
  });

test('a team that goes on with later texts has heard them, and its round is not done again', async (t) => {
  const { run, runBy } = await nextRound(t, mender([], 'The check is wrong: leave it.'));
  const first = await runBy(`echo 'Retry-After: 3600' >&2; exit 75`, { round: SECOND });
  assert.equal(first.end.ok, false, first.output);
  const round = { ...SECOND, words: `${SECOND.words}, and no other.js` };
  const next = await run({ round });
  assert.match(next.output, /round-2 stands: its work goes on/);
  assert.deepEqual([next.end.ok, next.end.ok && next.end.isUnheard], [true, undefined], next.output);
  // Its process was killed before the daemon heard of the end.
  const again = await run({ round });
  assert.match(again.output, /round-2 is done already/);
  assert.deepEqual([again.end.ok, again.end.ok && again.end.isUnheard], [true, undefined], again.output);
});

test('a team that had nothing left to do when later texts came hands its work in, and leaves them to a next round', async (t) => {
  const place = await issueClone(t);
  await finished(place, { isPutAway: false });
  const round = { number: 1, words: 'bob wrote to you: Mind the tests', isMerge: false };
  const { end, output } = await place.run('exit 1', { round });
  assert.deepEqual([end.ok, end.ok && end.isUnheard], [true, true], output);
  assert.match(output, /team tool-run-issue-7 stands: its work goes on/);
});

test('a later round that has nothing to change ends well, and says why', async (t) => {
  const { git, heard, run } = await nextRound(t, mender([], 'The check is wrong: leave it.'));
  const before = git('rev-parse', 'HEAD');
  const { end, output } = await run({ round: SECOND });
  assert.equal(end.ok, true, `${end.words}\n${output}`);
  assert.match(end.words, /^team tool-run-issue-7-round-2 changed nothing\n[\s\S]*The check is wrong: leave it\./);
  assert.equal(git('rev-parse', 'HEAD'), before);
  assert.deepEqual(
    heard.map((one) => (one.type === 'pull_request' ? one.body : one)),
    ['# First report\n'],
  );
});

test('without anything new, the last team’s work is handed in again, whoever did a round after it', async (t) => {
  const { run } = await nextRound(t, {});
  const { end, output } = await run({ round: { number: 3, words: null, isMerge: false } });
  assert.equal(end.ok, true, output);
  assert.match(output, /team tool-run-issue-7 is done already: its work is handed in/);
});

test('one agent merges the base, and does every later round of an issue that it did first', async (t) => {
  const { bench } = await issueClone(t);
  bench.workflow = workflowWith({ tool: { mode: 'auto', runtime: 'command', command: 'exit 1' } });
  const alone: Runner = { name: 'alone', run: async () => ({ ok: true, words: 'by one agent' }) };
  for (const round of [SECOND, { ...SECOND, isMerge: true }]) {
    const { end } = await bench.run(new TeamRunner({ ...bench.options, alone }), { round });
    assert.deepEqual(end, { ok: true, words: 'by one agent' });
  }
});

/** Writes down, whole, with what it was started and with what whoever started it was. */
function telling(path: string): string {
  return `{ env; tr '\\0' '\\n' </proc/$PPID/environ || true; } >'${path}.new' 2>&1; mv '${path}.new' '${path}'`;
}

test('what leads to the daemon is the lead’s alone: neither teammates nor checks are started with it, nor see it in who starts them', async (t) => {
  const place = await issueClone(t);
  const { bench, git, heard } = place;
  const { directory, cwd } = bench;
  const [checks, teammates] = [join(directory, 'checks'), join(directory, 'teammates')];
  const settings = { workflow: { team: { enabled: true } }, quality: { commands: { tests: telling(checks) } } };
  writeTree(cwd, { '.tool/config/workflow.yaml': JSON.stringify(settings) });
  commitAll(cwd, 'Tests that tell');
  const before = git('rev-parse', 'HEAD');
  // What was begun to be measured ends with the team: it is not to end before, unless nothing comes of that in five minutes.
  const { end, output } = await place.run(
    `${telling(teammates)}; n=0; until [ -e '${checks}' ] || [ $n -ge 6000 ]; do n=$((n+1)); sleep 0.05; done; exit 1`,
  );
  assert.ok(existsSync(checks), output);
  assert.equal(end.ok, false, output);
  for (const path of [checks, teammates]) {
    const told = readFileSync(path, 'utf8');
    assert.match(told, /^TOOL_RUN=/m, 'it was told');
    assert.doesNotMatch(told, /^TOOL_(KEY|SOCKET)=/m, path);
  }
  assert.equal(git('rev-parse', 'HEAD'), before);
  assert.deepEqual(heard, []);
});

/** Documents of two SPECs: of the one somebody has approved what it says, of the other nobody. */
const SPECS = {
  '.gitignore': '.tool/*\n!.tool/config/\n!.tool/specs/\n',
  '.tool/specs/SPEC-YES-001/spec.md':
    '---\nid: SPEC-YES-001\nstatus: approved\n---\n# A\n\n- R1: The API shall answer.\n',
  '.tool/specs/SPEC-NO-001/spec.md': '---\nid: SPEC-NO-001\nstatus: draft\n---\n# B\n\n- R1: The API shall pay.\n',
};

for (const mode of ['team', 'auto'] as const)
  test(`${mode}: an issue that names a SPEC which nobody has approved is not built, and its attempt says why`, async (t) => {
    const { bench, run } = await issueClone(t);
    writeTree(bench.cwd, SPECS);
    commitAll(bench.cwd, 'SPECs');
    const begun = join(bench.directory, 'begun');
    const issueText = 'Pay\n\nPlease build SPEC-NO-001, not SPEC-GONE-001.';
    const { end, pids, output } = await run(`touch '${begun}'; exit 1`, { issueText }, mode);
    assert.equal(end.ok, false, output);
    assert.match(
      end.words,
      /^SPEC-NO-001.* \(status: draft\).*`tool spec approve SPEC-NO-001`.* \(issue_spec_not_approved\)$/,
    );
    assert.deepEqual([end.ok ? null : end.fault, pids], ['agent', []], 'it counts as an attempt');
    assert.equal(existsSync(begun), false);
    assert.equal(existsSync(join(bench.cwd, '.tool/teams')), false);
  });

test('without require_plan_approval it is built, and beside one that is approved it is named', async (t) => {
  for (const [approval, issueText, reasons] of [
    [false, 'Pay\n\nSPEC-NO-001', /the issue names SPEC-NO-001\n/],
    [
      true,
      'Pay\n\nSPEC-NO-001, SPEC-YES-001',
      /the issue names SPEC-YES-001\n.*not built: SPEC-NO-001.* \(issue_spec_not_approved\)\n/s,
    ],
  ] as const) {
    const { bench, run } = await issueClone(t);
    const settings = { workflow: { team: { enabled: true, require_plan_approval: approval } } };
    writeTree(bench.cwd, { ...SPECS, '.tool/config/workflow.yaml': JSON.stringify(settings) });
    commitAll(bench.cwd, 'SPECs');
    const { output, pids } = await run('exit 1', { issueText });
    assert.match(output, reasons);
    assert.equal(pids.length, 1);
  }
});

test('that a team falls back to sub-agents is for the daemon’s own log, at the level of the settings', async (t) => {
  for (const [level, heard] of [
    ['error', ['error']],
    ['debug', []],
  ] as const) {
    const { bench, run } = await issueClone(t);
    const settings = { workflow: { team: { enabled: false, fallback: { log_level: level } } } };
    writeTree(bench.cwd, { '.tool/config/workflow.yaml': JSON.stringify(settings) });
    commitAll(bench.cwd, 'No team');
    const { events, output } = await run('exit 1');
    const logged = events.flatMap((event) => (event.type === 'log' ? [event] : []));
    assert.deepEqual(
      logged.map((event) => event.level),
      heard,
      output,
    );
    for (const { text } of logged)
      assert.match(text, wordsLike(LEAD_CODES.subagents_instead, { why: /workflow\.team\.enabled is/ }));
  }
});
