// `tool team` at a shell.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { BASE_CODES } from '../../src/base/rules/base-codes.ts';
import { LOG_CODES } from '../../src/team/rules/codes/log-codes.ts';
import { OPERATIONS_CODES } from '../../src/team/rules/codes/operations-codes.ts';
import { lineLike, wordsLike } from '../support/codes.ts';
import { HookedProject, TEAM } from '../support/hooked.ts';
import { SPEC_ID, SPEC_TEXT } from '../support/spec.ts';

const CLI = join(process.cwd(), 'dist', 'cli.js');

function run(
  { root, env }: HookedProject,
  args: readonly string[],
  more: Record<string, string> = {},
  /** What its standard output is led into. */
  place?: string,
) {
  const shell = place === undefined ? [] : ['/bin/sh', '-c', `exec "$0" "$@" >${place}`];
  const [file = '', ...words] = [...shell, process.execPath, CLI, ...args];
  const options = { cwd: root, env: { ...env, ...more }, extendEnv: false, reject: false, stripFinalNewline: false };
  const { exitCode: code, stdout: out, stderr: err } = execaSync(file, words, options);
  return { code, out, err };
}

const isFull = existsSync('/dev/full') ? {} : { skip: 'no /dev/full here' };

test('mail that could not be shown stays unread', isFull, (t) => {
  const project = new HookedProject(t);
  const steps = [
    ['create', TEAM],
    ['spawn', TEAM, 'team-tester', '--prompt', 'p'],
    ['send', 'tester', 'progress', 'go on'],
  ];
  for (const step of steps) assert.equal(run(project, ['team', ...step]).code, 0);
  const tester = { TOOL_TEAM: TEAM, TOOL_TEAMMATE: 'tester' };
  const lost = run(project, ['team', 'inbox'], tester, '/dev/full');
  assert.equal(lost.code, 1);
  assert.match(lost.err, /ENOSPC.* The messages stay unread\. \(stdout_closed\)$/m);
  assert.match(run(project, ['team', 'inbox'], tester).out, /content: go on/);
  assert.match(run(project, ['team', 'inbox'], tester).out, /messages:\n {2}none/);
});

test('what is refused at a shell is mended by what is typed there', (t) => {
  const project = new HookedProject(t);
  const refused = (...args: readonly string[]) => {
    const { code, err } = run(project, ['team', ...args]);
    assert.equal(code, 1);
    return err;
  };
  assert.match(refused('task', 'list'), /`tool team create <team>` creates one\. \(team_not_active\)$/m);
  for (const step of [['create', TEAM], ['spawn', TEAM, 'team-tester', '--prompt', 'p'], ['inbox']])
    assert.equal(
      run(project, ['team', ...step], step[0] === 'inbox' ? { TOOL_TEAM: TEAM, TOOL_TEAMMATE: 'tester' } : {}).code,
      0,
    );
  assert.match(
    refused('delete', TEAM),
    /: tester \(not asked\)\. .*`tool team shutdown`\.? \(team_has_live_members\)$/m,
  );
  run(project, ['team', 'create', 'tool-debug-other']);
  assert.match(refused('task', 'list'), /\(tool-debug-other, .*\).* --team <name>\. \(team_ambiguous\)$/m);
});

test('who cannot be told at a shell is not asked for a key, which no flag takes', async (t) => {
  const project = new HookedProject(t);
  await project.team();
  const { code, err } = run(project, ['team', 'task', 'list'], { CLAUDECODE: '1' });
  assert.equal(code, 1);
  assert.match(err, lineLike(OPERATIONS_CODES.caller_unknown, { why: /this shell belongs to an agent of the host.*/ }));
  assert.doesNotMatch(err, /key/);
});

test('tool doctor names a log whose beginning is lost, and what to do', async (t) => {
  const project = new HookedProject(t);
  await project.team();
  const path = join(project.root, '.tool', 'teams', TEAM, 'log.jsonl');
  for (const text of ['', project.read(`.tool/teams/${TEAM}/log.jsonl`).slice(0, 200)]) {
    writeFileSync(path, text);
    const { checks } = JSON.parse(run(project, ['doctor', '--json']).out) as { checks: Record<string, string>[] };
    const row = checks.find(({ name }) => name === 'team log');
    assert.equal(row?.status, 'fail');
    assert.match(row?.says ?? '', wordsLike(LOG_CODES.team_log_headless, { path: /\S*log\.jsonl/ }));
    assert.equal(row?.mend, `move .tool/teams/${TEAM} away`);
    assert.match(
      run(project, ['team', 'task', 'list']).err,
      lineLike(LOG_CODES.team_log_headless, { path: /\S*log\.jsonl/ }),
    );
    assert.match(run(project, ['team', 'status']).out, /unreadable/);
  }
});

test('tool doctor has a log of a newer version read by that version, and moves no team away for it', async (t) => {
  const project = new HookedProject(t);
  await project.team();
  const log = `.tool/teams/${TEAM}/log.jsonl`;
  project.write(log, `${project.read(log)}{"v":9,"type":"later"}\n`);
  const { checks } = JSON.parse(run(project, ['doctor', '--json']).out) as { checks: Record<string, string>[] };
  const row = checks.find(({ name }) => name === 'team log');
  assert.equal(row?.code, 'record_version_newer');
  assert.match(row?.says ?? '', wordsLike(BASE_CODES.record_version_newer, { path: /\S*log\.jsonl/, version: 9 }));
  assert.equal(
    row?.mend,
    'install the newest toolcrew, in its clone: git pull && npm ci && npm pack && npm install -g ./toolcrew-*.tgz',
  );
});

test('a log that cannot be read is named, and keeps nobody from another team or a SPEC', async (t) => {
  const project = new HookedProject(t);
  const lost = 'tool-plan-lost';
  const words = new RegExp(`^tool(?:crew)?: .*/${lost}/log\\.jsonl does not begin as the log of a team does`, 'm');
  project.write(`.tool/teams/${lost}/log.jsonl`, '');
  project.write(`.tool/specs/${SPEC_ID}/spec.md`, SPEC_TEXT);

  const restart = (...names: string[]) => run(project, ['team-restart', ...names, '--command', 'true']);
  const alone = restart();
  assert.equal(alone.code, 2);
  assert.match(alone.err, words);
  assert.doesNotMatch(alone.err, /nothing to restart/i);
  const approved = run(project, ['spec', 'approve', SPEC_ID]);
  assert.equal(approved.code, 0);
  assert.match(approved.out, new RegExp(`^${SPEC_ID} is approved$`, 'm'));
  assert.match(approved.err, words);

  await project.team();
  const chosen = restart();
  assert.match(chosen.err, words);
  assert.match(chosen.err, new RegExp(`^tool: .*${TEAM}.* \\(team_led_by_host\\)$`, 'm'));
  const wrong = restart(lost);
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, words);
  assert.doesNotMatch(wrong.err, /team_led_by_host/);
});

test('tool doctor names settings of the project that are no JSON, and what to do', (t) => {
  const project = new HookedProject(t);
  assert.equal(run(project, ['init']).code, 0);
  project.write('.claude/settings.json', `${project.read('.claude/settings.json')}, // mine`);
  const { out, code } = run(project, ['doctor', '--json']);
  const { checks } = JSON.parse(out) as { checks: Record<string, string>[] };
  const row = checks.find(({ name }) => name === 'team mode');
  assert.deepEqual([code, row?.status, row?.mend], [1, 'fail', 'mend what is named here, then tool init']);
  assert.match(row?.says ?? '', /: \.claude\/settings\.json: expected valid JSON/);
});
