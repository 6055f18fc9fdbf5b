// `tool team board` and `tool team status`: what people see of a team.
// Over 400 lines: its cases share one team on the screen.

import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execa } from 'execa';
import kleur from 'kleur';
import { displayWidth } from '../../../src/base/display-width.ts';
import { BASE_CODES } from '../../../src/base/rules/base-codes.ts';
import { refusal, withCode } from '../../../src/base/rules/codes.ts';
import { CLI_CODES } from '../../../src/cli/rules/cli-codes.ts';
import { boardScreen, boardText } from '../../../src/cli/screen/team-board-lines.ts';
import { LOG_CODES } from '../../../src/team/rules/codes/log-codes.ts';
import type { TeamView } from '../../../src/team/rules/views/view.ts';
import { teamView } from '../../../src/team/rules/views/view.ts';
import { codeIn, END, joined, lineLike, START } from '../../support/codes.ts';
import { programFile } from '../../support/compiled.ts';
import { Pty } from '../../support/pty.ts';
import { LEAD, TEAM, teamOf } from '../../support/team.ts';
import { busyTeam, Scribe } from '../../support/team-files.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';

// A test run in a terminal asks for colours.
kleur.enabled = false;

const PROGRAM = programFile('team-view');

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Shows a team in a process whose output is no terminal. */
async function show(command: string, root: string, team = '', options = {}, more = {}): Promise<Ran> {
  const args = [PROGRAM, command, root, team, JSON.stringify(options)];
  const env = { PATH: process.env.PATH, ...more };
  const { exitCode, stdout, stderr } = await execa(process.execPath, args, {
    ...{ env, extendEnv: false, reject: false, stripFinalNewline: false },
  });
  return { code: exitCode ?? -1, stdout, stderr };
}

async function busy(t: Cleanup, root: string, team = TEAM): Promise<Scribe> {
  const scribe = await busyTeam(root, team);
  finallyDo(t, () => scribe.close());
  return scribe;
}

/** More of everything than fits anywhere, in words that take room. */
function crowded(): TeamView {
  const names = [
    'backend-dev',
    'frontend-dev',
    'テスター担当者の長い名前',
    `x${'y'.repeat(60)}`,
    'a\u001b[31mb',
    'designer',
  ];
  const story = teamOf(names, 0);
  for (let count = 1; count <= 40; count++)
    story.tell('task_created', {
      subject: `課題 ${count} 👨‍👩‍👧 ${'すべての画面を作り直す '.repeat(count % 7)}\u202e\u001b]0;x\u0007`,
      owner: names[count % names.length] ?? null,
      blocked_by: count % 5 === 0 ? ['1', '2', '3', '4'] : [],
    });
  for (const [index, by] of names.entries()) story.claim(String(index === 0 ? 6 : index === 5 ? 11 : index), by);
  for (let count = 1; count <= 30; count++) {
    story.tell('message_sent', { to: names[count % 6] ?? LEAD, content: `⚠️ ${'語'.repeat(count * 3)}\nand more` });
    story.tell('lease_taken', {
      path: `src/${'deep/'.repeat(count)}ファイル.ts`,
      by: 'backend-dev',
      until: story.at + 60_000,
    });
    story.tell('decision', {
      hook: 'ownership',
      member: names[count % 6] ?? null,
      about: 'src/\u0000',
      reason: 'r'.repeat(900),
    });
  }
  story.tell('gate_measured', {
    ok: false,
    checks: (['tests', 'coverage', 'lint', 'security', 'performance'] as const).map((check) => ({
      check,
      outcome: 'failed' as const,
      reason: '失敗'.repeat(80),
      details: [],
      command: null,
      figure: '42 of 43 tests',
    })),
  });
  const { gate } = story.state;
  story.tell('gate_measured', {
    ok: false,
    checks: gate?.checks ?? [],
    trust5: {
      dimensions: (['tested', 'readable', 'unified', 'secured', 'trackable'] as const).map((dimension) => ({
        dimension,
        state: 'failed' as const,
        score: 1.2,
        figures: ['失敗'.repeat(80)],
        source: '語'.repeat(90),
      })),
      score: 1.2,
      ok: false,
      securityIssues: 1,
    },
  });
  story.tell('fell_back', { trigger: 'spawn_failed', reason: 'ありません'.repeat(30) });
  return teamView(story.state, story.at + 5_000);
}

test('no line is wider than the terminal and none is too many, whatever the team holds', () => {
  const view = crowded();
  const empty = teamView(teamOf([], 0).state, 2_000_000);
  for (const columns of [60, 80, 120, 139, 140, 200, 333])
    for (const one of [view, empty]) {
      const plain = boardText(one, columns);
      for (const rows of [5, 12, 20, 24, 40, 90]) {
        const lines = boardScreen(one, { columns, rows }, 'q leaves');
        assert.equal(lines.length, rows);
        assert.equal(lines.at(-1), 'q leaves');
        assert.match(lines[0] ?? '', new RegExp(`^${TEAM}  (fallback|created) +[\\dmhs ]+$`));
        for (const line of [...lines, ...plain]) {
          assert.ok(displayWidth(line) <= columns, `${columns}: ${displayWidth(line)} ${line}`);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be printed
          assert.doesNotMatch(line, /[\u0000-\u001f\u007f-\u009f\u202e]/);
        }
      }
    }
});

test('a teammate that is given its next work has refused nothing', () => {
  const story = teamOf(['backend-dev'], 1);
  const idle = { hook: 'teammate_idle', member: 'backend-dev', about: 'backend-dev', reason: 'task 1 is yours now' };
  const board = () => boardText(teamView(story.state, story.at), 200).join('\n');
  story.tell('decision', { ...idle, decision: 'reject' });
  assert.doesNotMatch(board(), /LAST REFUSALS|yours now/);
  story.tell('decision', { ...idle, decision: 'escalated' });
  assert.match(board(), /LAST REFUSALS\n *escalated +backend-dev/);
});

test('the board says what keeps shell commands from files of others', () => {
  const story = teamOf(['backend-dev'], 0);
  const heading = () => boardText(teamView(story.state, story.at), 120).find((line) => line.startsWith('TEAMMATES'));
  assert.equal(heading(), 'TEAMMATES');
  story.tell('writes_held', { by: 'reader' });
  assert.equal(heading(), 'TEAMMATES  only their obvious writes are guarded; tool doctor says why');
  story.tell('writes_held', { by: 'kernel' });
  assert.equal(heading(), 'TEAMMATES  the kernel guards their writes');
});

test('what there is no room for is counted, and what matters most is kept', () => {
  const story = teamOf(['backend-dev'], 30);
  for (let task = 1; task <= 25; task++) story.claim(String(task), 'backend-dev').complete(String(task), 'backend-dev');
  story.claim('26', 'backend-dev');
  for (let count = 1; count <= 20; count++) story.tell('message_sent', { to: LEAD, content: `message ${count}` });
  const at = (rows: number) =>
    boardScreen(teamView(story.state, story.at), { columns: 80, rows }, 'q leaves').join('\n');
  const small = at(20);
  assert.match(small, /▸ {2}26 {2}Task 26 .* backend-dev/);
  assert.match(small, /TASKS {2}█{13}░{3} {2}25 of 30 {2}1 in progress {2}4 pending/);
  assert.match(small, /\n {2}… and 2\d more\nMESSAGES {2}20\n/);
  assert.match(small, /\n {2}… and 1\d earlier\n.*message 20 .*\n/s);
  assert.doesNotMatch(small, /message 1 /);
  const large = at(80);
  assert.match(large, /message 1 .*message 20 /s);
  assert.match(large, / {2}1 {2}Task 1 .* 30 {2}Task 30 /s);
  assert.doesNotMatch(large, /… and/);
});

test('TRUST 5 stands on the board with scores, raw figures and their source; what was not measured says so', () => {
  const story = teamOf(['backend-dev'], 1);
  story.tell('gate_measured', {
    ok: false,
    trust5: {
      dimensions: [
        {
          dimension: 'tested',
          state: 'failed',
          score: 4.4,
          figures: ['tests: 7 passed', 'coverage: 61 % of 80 %'],
          source: 'npm test; npm run coverage',
        },
        {
          dimension: 'unified',
          state: 'not_measured',
          score: null,
          figures: ['formatter: none found'],
          source: 'nothing',
        },
        {
          dimension: 'trackable',
          state: 'passed',
          score: 5,
          figures: ['commits: 3 of 3 name a task'],
          source: 'git log a..b',
        },
      ],
      score: 4.7,
      ok: false,
      securityIssues: 0,
    },
  });
  const lines = boardText(teamView(story.state, story.at), 140).map((line) => line.trim().replace(/ {2,}/g, ' | '));
  const from = lines.findIndex((line) => line.startsWith('TRUST 5'));
  assert.deepEqual(lines.slice(from, from + 4), [
    'TRUST 5 | 4.7 not passed',
    '✖ | tested | 4.4 | tests: 7 passed; coverage: 61 % of 80 % | npm test; npm run coverage',
    '– | unified | – | not measured | formatter: none found | nothing',
    '✔ | trackable | 5.0 | commits: 3 of 3 name a task | git log a..b',
  ]);
  const screen = boardScreen(teamView(story.state, story.at), { columns: 80, rows: 17 }, 'q leaves').join('\n');
  assert.match(screen, /TRUST 5 {2}4\.7 not passed.*\n.*tested {3}/, 'what stands in the way stays longest');
});

test('from 140 columns on, what happened stands beside who does what', async (t) => {
  const root = tempDir(t);
  await busy(t, root);
  const view: TeamView = JSON.parse((await show('board', root, TEAM, { json: true })).stdout);
  const screen = (columns: number) => boardScreen(view, { columns, rows: 30 }, 'q leaves').join('\n');
  assert.match(screen(160), /\nTEAMMATES .* MESSAGES {2}2\n/);
  assert.match(screen(120), /\nTEAMMATES [^\n]*\n[^M]*\n\nMESSAGES {2}2\n/);
});

test('without a terminal the board is printed once, as `status` with a name does', async (t) => {
  const root = tempDir(t);
  const scribe = await busy(t, root);
  const [board, named, wide] = await Promise.all([
    show('board', root),
    show('status', root, TEAM),
    show('board', root, TEAM, { once: true }, { COLUMNS: '200', FORCE_COLOR: '1' }),
  ]);
  const steady = (text: string) => text.replace(/\d+(m \d+)?s/g, '_').replace(/ +/g, ' ');
  assert.equal(steady(board.stdout), steady(named.stdout));
  assert.equal(
    steady(board.stdout),
    [
      `${TEAM} working _`,
      'SPEC-AUTH-001 · run · implementation',
      '',
      'TEAMMATES 1 unread for the lead',
      ' ● backend-dev working 2 POST /api/users with its validation _ ago',
      ' ● frontend-dev working no task claimed _ ago',
      ' · tester registered not started yet _ ago',
      '',
      'TASKS ███░░░░░░░░░░░░░ 1 of 5 1 in progress 3 pending',
      ' ✔ 1 Tables for users and sessions backend-dev _',
      ' ▸ 2 POST /api/users with its validation backend-dev _',
      // Its API was announced as ready: it can be begun.
      ' · 3 The sign-up form ログイン画面 🔐 after 2 frontend-dev',
      ' · 4 Tests of the sign-up tester',
      ' · 5 Words for an address that is taken –',
      '',
      'MESSAGES 2',
      ' backend-dev → frontend-dev api_ready POST /api/users read _ ago',
      ' frontend-dev → team-lead progress 画面を作っています — half of the form is done queued _ ago',
      '',
      'LEASES',
      ' package.json backend-dev a dependency _ left',
      '',
      'GATE failed for task 1 ✔ tests 42 tests ✖ coverage 61 % – security _ ago',
      ' ✖ coverage 61 % of 80 %: src/api/users.ts 12 %',
      '',
      'LAST REFUSALS',
      ' reject backend-dev TaskCompleted task 1 The gate rejects the coverage. coverage: 61 % of 8… _ ago',
      " reject frontend-dev ownership src/api/users.ts src/api/users.ts is backend-dev's (src/api/**): se… _ ago",
      '',
      'Next: wait for your teammates and answer their questions. TaskList shows their progress.',
      '',
    ].join('\n'),
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
  assert.match(wide.stdout, /\u001b\[36m.*send a change_request/s);
  assert.deepEqual([board.code, board.stderr, named.code, wide.code], [0, '', 0, 0]);
  appendFileSync(join(scribe.directory, 'log.jsonl'), '\n{"v":2,"id":"x","at":1,"type":"new"}\n');
  const newer = await show('board', root, TEAM);
  assert.deepEqual([newer.code, newer.stdout], [2, '']);
  assert.match(newer.stderr, lineLike(BASE_CODES.record_version_newer, { version: 2, supported: 1 }));
});

test('a team is found without its name when it alone stands; archives have names of their own', async (t) => {
  const root = tempDir(t);
  assert.deepEqual(await show('status', root), { code: 0, stdout: 'no team is active\n', stderr: '' });
  const none = await show('board', root);
  assert.deepEqual([none.code, none.stdout], [2, '']);
  assert.match(
    none.stderr,
    joined(START, 'tool: ', lineLike(CLI_CODES.no_team_active, { directory: /\S*\.tool\/teams/ }), '\n', END),
  );

  const plan = 'tool-plan-login';
  const scribe = new Scribe(root, plan, Date.now() - 90_000);
  await scribe.tell('created', { team: plan, phase: 'plan', subject: 'login\u001b[2J' });
  await scribe.put({ type: 'fell_back', trigger: 'disabled', reason: 'off' });
  await scribe.later(30_000).tell('deleted');
  const gone = await show('board', root);
  assert.equal(codeIn(gone.stderr), 'no_team_active', 'one that is deleted does not stand');
  const archive = scribe.archive().split('/').at(-1) ?? '';
  await scribe.close();
  await busy(t, root);
  assert.match((await show('board', root)).stdout, new RegExp(`^${TEAM} `));
  const archived = await show('board', root, archive);
  assert.match(archived.stdout, /^tool-plan-login {2}deleted +30s\nlogin\\x1b\[2J · plan/);
  const deleted = await show('board', root, plan);
  assert.deepEqual(
    [deleted.code, deleted.stderr],
    [2, `tool: ${withCode(refusal(CLI_CODES.team_archived, { team: plan, archives: [archive] }))}\n`],
  );

  await busy(t, root, 'tool-debug-slow');
  const which = await show('board', root);
  const two = ['tool-debug-slow', TEAM];
  assert.deepEqual(
    [which.code, which.stderr],
    [2, `tool: ${withCode(refusal(CLI_CODES.team_unnamed, { count: 2, teams: two, archived: [archive] }))}\n`],
  );
  const wrong = await show('board', root, 'tool-debug-slwo');
  assert.equal(
    wrong.stderr,
    `tool: ${withCode(refusal(CLI_CODES.team_unknown, { team: 'tool-debug-slwo', known: [...two, archive], near: 'tool-debug-slow' }))}\n`,
  );
  assert.equal((await show('board', root, '../teams/tool-debug-slow')).code, 2);

  mkdirSync(join(root, '.tool', 'teams', 'tool-run-spec-bad-001'));
  writeFileSync(join(root, '.tool', 'teams', 'tool-run-spec-bad-001', 'log.jsonl'), '{"v":1}\n');
  const all = await show('status', root, '', {}, { COLUMNS: '100' });
  assert.equal(all.code, 0);
  assert.match(
    all.stdout,
    new RegExp(
      `^tool-debug-slow +working +1 of 5 tasks +2 teammates +SPEC-AUTH-001 +1\\dm \\d\\ds\n${TEAM} +working .*\ntool-run-spec-bad-001 +unreadable .*\n\narchived\n {2}${archive}\n$`,
    ),
  );
  const { teams, archived: kept } = JSON.parse((await show('status', root, '', { json: true })).stdout);
  assert.deepEqual(kept, [archive]);
  assert.deepEqual(
    teams.map((one: TeamView) => [one.team, one.state ?? 'unreadable']),
    [
      ['tool-debug-slow', 'working'],
      [TEAM, 'working'],
      ['tool-run-spec-bad-001', 'unreadable'],
    ],
  );
});

test('without a name the team is chosen among those that can be read, and the others are named', async (t) => {
  const root = tempDir(t);
  const lost = 'tool-run-spec-bad-001';
  const said = lineLike(LOG_CODES.team_log_headless, { path: new RegExp(`\\S*/${lost}/log\\.jsonl`) });
  const whole = joined(START, /tool: .*/, said, '\n', END);
  mkdirSync(join(root, '.tool', 'teams', lost), { recursive: true });
  writeFileSync(join(root, '.tool', 'teams', lost, 'log.jsonl'), '');
  const alone = await show('board', root);
  assert.deepEqual([alone.code, alone.stdout], [2, '']);
  assert.match(alone.stderr, whole);

  await busy(t, root);
  for (const command of ['board', 'events']) {
    const one = await show(command, root);
    assert.deepEqual([one.code, one.stdout.includes('backend-dev')], [0, true]);
    assert.match(one.stderr, whole);
    assert.equal((await show(command, root, lost)).code, 2);
    assert.equal((await show(command, root, TEAM)).stderr, '');
  }
  await busy(t, root, 'tool-debug-slow');
  const which = await show('board', root);
  assert.equal(which.code, 2);
  const unnamed = lineLike(CLI_CODES.team_unnamed, { count: 2 });
  assert.match(which.stderr, joined(START, /tool: .*/, said, '\ntool: ', unnamed, '\n', END));
});

const ENTERED = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const LEFT = '\u001b[?7h\u001b[?25h\u001b[?1049l';

test('in a terminal the board is drawn, drawn again with the log and the size, and gone with q', async (t) => {
  const root = tempDir(t);
  const scribe = await busy(t, root);
  const pty = Pty.start(t, [PROGRAM, 'board', root], { columns: 60, rows: 20 });
  await pty.until((screen) => screen.at(-1) === 'q leaves');
  assert.ok(pty.output.startsWith(ENTERED));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
  assert.match(pty.output, /\u001b\[36mworking\u001b\[39m/);
  const fits = (columns: number, rows: number) => {
    assert.equal(pty.screen.length, rows);
    for (const line of pty.screen) assert.ok(displayWidth(line) <= columns, line);
  };
  fits(60, 20);
  assert.match(pty.screen.join('\n'), /TASKS .* 1 of 5/);

  await scribe.tell('task_updated', { task: '2', status: 'completed' });
  await pty.until((screen) => screen.some((line) => /^TASKS .* 2 of 5/.test(line)));
  fits(60, 20);

  pty.resize(150, 30);
  await pty.until((screen) => screen.length === 30 && screen.at(-1) === 'q leaves');
  assert.match(pty.screen.join('\n'), /\nTEAMMATES .* MESSAGES {2}2\n/);
  fits(150, 30);

  await scribe.put({ type: 'fell_back', trigger: 'disabled', reason: 'switched off' });
  await pty.until((screen) => screen.some((line) => line.startsWith('! fell back (disabled): switched off')));
  assert.ok(!pty.output.includes(LEFT));
  pty.type('q');
  assert.equal(await pty.ended, 0);
  assert.ok(pty.output.endsWith(LEFT));
  assert.equal(pty.output.split(ENTERED).length, 2);
});

test('Ctrl-C and signals give the screen back; a log that cannot be read as well, with its reason', async (t) => {
  const root = tempDir(t);
  const scribe = await busy(t, root);
  const start = async (env = {}) => {
    const pty = Pty.start(t, [PROGRAM, 'board', root], { columns: 80, rows: 24 }, env);
    await pty.until((screen) => screen.at(-1) === 'q leaves');
    return pty;
  };
  const [interrupted, terminated, failed] = await Promise.all([start({ NO_COLOR: '1' }), start(), start()]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
  assert.doesNotMatch(interrupted.output, /\u001b\[\d+m/);
  interrupted.type('\u0003');
  process.kill(terminated.pid, 'SIGTERM');
  assert.deepEqual([await interrupted.ended, await terminated.ended], [130, 143]);
  appendFileSync(join(scribe.directory, 'log.jsonl'), '\n{"v":2,"id":"x","at":1,"type":"new"}\n');
  assert.equal(await failed.ended, 2);
  for (const { output } of [interrupted, terminated]) assert.ok(output.endsWith(LEFT));
  assert.match(
    failed.output.slice(failed.output.lastIndexOf(LEFT) + LEFT.length),
    /^tool: .*a record of version 2;.*\r\n$/,
  );
});

test('a task under which nothing was changed says so, with the words of its owner', () => {
  const story = teamOf(['backend-dev'], 1).claim('1', 'backend-dev');
  story.tell('task_updated', { status: 'completed', result: 'It was there already', changed_nothing: true });
  assert.match(
    boardText(teamView(story.state, story.at), 100).join('\n'),
    /✔ +1 +.*; changed nothing: It was there already +backend-dev/,
  );
});
