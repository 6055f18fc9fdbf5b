// `tool run` as a person types it: the compiled command, real git, teammates that are processes. Who is killed in it is in
// team-kill.test.ts, a whole team of four in demo-team.test.ts.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { SCRIPT_VARIABLE } from '../../src/cli/agents/agent-teammate.ts';
import { DEMO_FILES, DEMO_SCRIPT, DEMO_SPEC } from '../../src/cli/demo/demo-team-project.ts';
import type { PhaseReport } from '../../src/cli/phase-report.ts';
import { CLI_CODES } from '../../src/cli/rules/cli-codes.ts';
import { NOTICE_CODES } from '../../src/cli/rules/notice-codes.ts';
import { TeamHistory } from '../../src/team/log/team-history.ts';
import { LEAD_CODES } from '../../src/team/rules/codes/lead-codes.ts';
import { WORK_CODES } from '../../src/team/rules/codes/work-codes.ts';
import { FALLBACK_TRIGGERS } from '../../src/team/rules/fallback.ts';
import { joined, lineLike, textLike, wordsLike } from '../support/codes.ts';
import { gitIn } from '../support/git.ts';
import { writeTree } from '../support/installed.ts';
import { SPEC, shopProject, TEAM } from '../support/shop-spec.ts';
import { tempDir } from '../support/temp.ts';

const CLI = join(process.cwd(), 'dist', 'cli.js');
const BRANCH = `tool/${TEAM}`;

test('the SPEC of the demo, in a project that is a part of its repository, is met by what the team built there, and nothing beside it', async (t) => {
  const place = tempDir(t);
  const top = join(place, 'guest book');
  const root = join(top, 'packages/guest book');
  const script = join(place, 'script.json');
  // Without the time that it takes to think.
  writeFileSync(
    script,
    JSON.stringify(DEMO_SCRIPT, (key, value) => (key === 'think_ms' ? 0 : value)),
  );
  writeTree(place, { 'home/.keep': '' });
  writeTree(root, DEMO_FILES);
  writeTree(top, { 'OTHERS.md': 'Not of this project.\n' });
  const git = gitIn(root);
  execaSync`git init -q -b main ${top}`;
  git('add', '-A', top);
  git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qm', 'A guest book');
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: join(place, 'home'), TMPDIR: place, TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' };
  const tool = (...args: readonly string[]) =>
    execaSync(process.execPath, [CLI, ...args], { cwd: root, env, extendEnv: false }).stdout;

  assert.equal(tool('spec', 'check', DEMO_SPEC), `${DEMO_SPEC} has no problems (approved)`);
  const player = `${SCRIPT_VARIABLE}='${script}' exec '${process.execPath}' '${CLI}' agent teammate`;
  const report: PhaseReport = JSON.parse(tool('run', DEMO_SPEC, '--team', '--json', '--command', player));
  assert.deepEqual([...new Set(report.tasks.map(({ outcome }) => outcome))], ['completed']);
  const subjects = report.tasks.map(({ subject }) => subject);
  assert.ok(subjects.includes('Tell the health'), `built by the tasks of its own plan: ${subjects.join(', ')}`);
  assert.match(readFileSync(report.report ?? '', 'utf8'), /^# SPEC-GUESTBOOK-001\n\n\d+ of \d+ tasks by 3 teammates/);
  const branch = report.branch ?? '';
  assert.match(git('show', `${branch}:./src/components/banner.js`), /Welcome/);
  assert.equal(git('status', '--short'), '');
  const changed = git('diff', '--name-only', 'main', branch).trim().split('\n');
  assert.ok(
    changed.every((path) => path.startsWith('packages/guest book/')),
    changed.join(', '),
  );
  git('merge', '-q', '--ff-only', branch);
  assert.match(tool('sync', DEMO_SPEC), /R5 .*tests\/screens\.test\.js:/);
  assert.match(tool('spec', 'list'), /^SPEC-GUESTBOOK-001 {2}completed/);
});

test('alone, the same is done one at a time', async (t) => {
  const project = shopProject(t);
  const { code, stdout, stderr } = await project.lead('run', SPEC, '--solo', '--json');
  assert.equal(code, 0, stderr);
  const report: PhaseReport = JSON.parse(stdout);
  assert.deepEqual([...new Set(report.tasks.map(({ outcome }) => outcome))], ['completed']);
  const [name = ''] = project.names('.tool/teams/archive');
  let most = 0;
  const history = new TeamHistory({
    directory: join(project.root, '.tool', 'teams', 'archive', name),
    from: 'beginning',
    onRecord: (_record, _refusal, { tasks }) => {
      most = Math.max(most, [...tasks.values()].filter(({ status }) => status === 'in_progress').length);
    },
  });
  await history.close();
  assert.equal(most, 1);
});

test('a second lead of the same team is refused while the first one lives', async (t) => {
  const project = shopProject(t);
  const go = join(project.home, 'go');
  project.before = `until [ -e '${go}' ]; do sleep 0.05; done; `;
  const first = project.start('run', SPEC, '--team');
  let stderr = '';
  first.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  const ended = once(first, 'close');
  while (!stderr.includes('is there (run 1)')) await once(first.stderr, 'data');
  for (const command of [['run', SPEC, '--team'], ['team-restart']]) {
    const second = await project.lead(...command);
    assert.equal(second.code, 1, second.stderr);
    assert.match(second.stderr, new RegExp(`${TEAM} .*process ${first.pid}.*\\(team_led_elsewhere\\)`));
  }
  writeFileSync(go, '');
  const [code] = (await ended) as [number | null];
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(stderr, /run 2/, 'nobody was ended by it');
});

test('who cannot be started is named; how it failed is told where somebody has checked out its branch meanwhile', async (t) => {
  const project = shopProject(t);
  const go = join(project.home, 'go');
  project.before = `until [ -e '${go}' ]; do sleep 0.05; done; exit 3; `;
  const run = project.start('run', SPEC, '--team');
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
  assert.match(
    stderr,
    joined(
      'warn: ',
      lineLike(LEAD_CODES.fell_back, {
        team: TEAM,
        why: joined(
          `${FALLBACK_TRIGGERS.spawn_failed}: `,
          wordsLike(LEAD_CODES.member_start_failed, {
            member: /(?:back|front)end-dev:?/,
            count: 3,
            said: 'it ended with exit code 3 and printed nothing',
          }),
        ),
      }),
    ),
  );
  const elsewhere = wordsLike(WORK_CODES.team_branch_checked_out, { branch: BRANCH });
  assert.match(stderr, lineLike(NOTICE_CODES.work_not_reported, { said: joined(elsewhere, /.*/) }));
  assert.match(stderr, lineLike(CLI_CODES.team_ended_badly, { why: /[\s\S]*/, restart: TEAM }));
});

test('what cannot be run is refused in words, and nothing is begun', async (t) => {
  const project = shopProject(t);
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [
      ['run', 'SPEC-NONE-001', '--team'],
      1,
      wordsLike(LEAD_CODES.spec_file_not_found, {
        path: '.tool/specs/SPEC-NONE-001/spec.md',
        known: /there is SPEC-SHOP-001.*/,
      }),
    ],
    [['run', 'nonsense'], 2, /spec_id/],
    [['run', SPEC, '--team', '--solo'], 2, /--team, --solo: expected one of them, got both/],
    [['run', SPEC, '--pattern=nonsense'], 2, /--pattern: expected one of .*got "nonsense"\./],
    [['team-restart'], 2, /\(no_team_active\)$/m],
  ];
  for (const [args, expected, words] of cases) {
    const { code, stderr } = await project.lead(...args);
    assert.match(stderr, words, args.join(' '));
    assert.equal(code, expected, args.join(' '));
  }
  assert.equal(existsSync(join(project.root, '.tool', 'teams')), false);
});

test('where its branch cannot be, no team is left standing', async (t) => {
  const project = shopProject(t);
  project.git('branch', 'tool');
  const beside = await project.lead('run', SPEC, '--team');
  assert.match(
    beside.stderr,
    /git makes no such branch beside one that is called tool\. Rename that: git branch -m tool /,
  );
  assert.equal(beside.code, 1);
  project.git('branch', '-D', 'tool');
  project.git('checkout', '-q', '-b', BRANCH);
  const taken = await project.lead('run', SPEC, '--team');
  assert.match(taken.stderr, textLike(WORK_CODES.team_branch_checked_out, { branch: BRANCH, path: project.root }));
  assert.equal(taken.code, 1);
  assert.equal(existsSync(join(project.root, '.tool', 'teams', TEAM)), false);
});
