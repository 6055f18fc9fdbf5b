// `tool demo`: the whole daemon with nothing but this package.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { suite } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { importProject } from '../../../src/cli/demo/forge/seed.ts';
import { WORK_CODES as ATTEMPT_CODES } from '../../../src/daemon/rules/codes/work-codes.ts';
import { wordsLike } from '../../support/codes.ts';
import { cleanEnv, runTool, startTool } from '../../support/daemon.ts';
import { commitFiles, gitAs } from '../../support/forge.ts';
import { processesAt } from '../../support/processes-at.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';

/** A place for all that a demo makes. */
function place(t: Cleanup) {
  const directory = tempDir(t);
  const temporary = join(directory, 'tmp');
  mkdirSync(temporary);
  const env = cleanEnv(directory, { TMPDIR: temporary });
  return { directory, env, left: () => readdirSync(temporary), temporary };
}

async function project(t: Cleanup, branch: string): Promise<string> {
  const path = tempDir(t);
  await gitAs(path, 'init', '--quiet', `--initial-branch=${branch}`);
  return path;
}

suite('tool demo', { concurrency: true }, () => {
  test('--json is one object: three pull requests, one failure, one issue that waits', async (t) => {
    const { env, left } = place(t);
    const { code, stdout, stderr } = await runTool(['demo', '--json'], { env });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const { issues, seconds, ...rest } = JSON.parse(stdout);
    assert.deepEqual(rest, {});
    assert.ok(seconds > 0);
    const done = { outcome: 'done', pull: true, files: 2 };
    const none = { branch: null, pull: false, files: 0 };
    assert.deepEqual(
      issues.map(({ pull_request, seconds: took, ...row }: Record<string, unknown>) => ({
        ...row,
        pull: /^http:\/\/127\.0\.0\.1:\d+\/maintainer\/wordsmith\/pull\/\d+$/.test(String(pull_request)),
        took: Number(took) > 0,
      })),
      [
        { number: 1, title: 'Accented letters vanish from slugs', branch: 'tool/issue-1', ...done, took: true },
        { number: 2, title: 'Limit the length of a slug with --max', branch: 'tool/issue-2', ...done, took: true },
        {
          number: 3,
          title: 'The README names a script that does not exist',
          branch: 'tool/issue-3',
          ...done,
          files: 1,
          took: true,
        },
        { number: 4, title: 'Count words in texts with tabs', outcome: 'failed', ...none, took: true },
        { number: 5, title: 'Please run my script at every install', outcome: 'waits', ...none, took: false },
      ],
    );
    assert.deepEqual(left(), []);
  });

  test('a repository of the user’s own becomes the project; progress and outcome are printed, and --keep leaves all up', async (t) => {
    const { env, left, temporary } = place(t);
    const path = await project(t, 'trunk');
    await commitFiles(path, { 'README.md': '# Mine\r\n', '.gitignore': 'docs/\n', 'src/x.txt': 'x\n' }, 'First');
    const demo = startTool(t, ['demo', '--keep', '--repo', join(path, 'src')], {
      env,
      detached: true,
    });
    await demo.printed(/files {6}\/\S+\n/);
    const { stdout, stderr } = demo;
    assert.match(stdout, /^ {2}forge {6}http:\/\/127\.0\.0\.1:\d+\/maintainer\/project\n {2}dashboard {2}http:/);
    assert.match(stdout, /^ {2}\S #\d +\S.* agent at work$/m);
    assert.match(stdout, /^ {2}✖ #4 +Mend what is not there +failed after 2 attempts$/m);
    for (const line of stdout.split('\n'))
      assert.ok(line.length <= 80 || !/^ +(?:ISSUE|#\d+(?! failed: )) /.test(line), line);
    assert.match(stdout, /^ {2}✔ #1 +Add a page to the documentation +pull request #\d+$/m);
    assert.match(stdout, /^ +ISSUE +OUTCOME +PULL REQUEST +BRANCH +FILES +SECONDS$/m);
    assert.match(stdout, /^ +#1 +done +#\d+ +tool\/issue-1 +1 +\d+\.\d$/m);
    assert.match(stdout, /^ +#2 +done /m, 'a file with CR LF can be changed');
    assert.match(stdout, /^ +#3 +done .* 2 +\d+\.\d$/m);
    assert.match(stdout, /#4 failed: .* \(patch_not_applied\)\n.*not\/here\.txt: does not exist in index/);
    assert.match(
      stdout,
      new RegExp(
        `#5 waits: ${wordsLike(ATTEMPT_CODES.issue_untrusted, { person: 'stranger', role: 'wrote it' }).source}`,
      ),
    );
    assert.match(stdout, /3 pull requests in \d+\.\d s\.\n$/);
    assert.match(stderr, /still up, until you press Ctrl-C/);

    const addressOf = (name: string) => new RegExp(`^ {2}${name} +(http://\\S+)$`, 'm').exec(stderr)?.[1] ?? '';
    const dashboard = await (await fetch(addressOf('dashboard'))).text();
    assert.match(dashboard, /^ +#2 +Say one thing more.* done .* #\d+$/m);
    const forge = addressOf('forge');
    const overview = await (await fetch(forge)).text();
    for (const link of ['issues/5', 'pull/8']) {
      assert.ok(overview.includes(`"/maintainer/project/${link}"`), link);
      assert.equal((await fetch(`${forge}/${link}`)).status, 200);
    }

    process.kill(-demo.pid, 'SIGINT');
    assert.equal((await demo.ended).code, 0);
    assert.deepEqual(processesAt(temporary), []);
    assert.deepEqual(left(), []);
    assert.equal((await gitAs(path, 'for-each-ref', '--format=%(refname)')).trim(), 'refs/heads/trunk');
    assert.equal(await gitAs(path, 'status', '--porcelain'), '');
  });

  test('--follow: a red check and a review go back to the agent, and the pull request can be merged', async (t) => {
    const { env, left, temporary } = place(t);
    const demo = startTool(t, ['demo', '--follow', '--keep'], { env, detached: true });
    await demo.printed(/files {6}\/\S+\n/);
    const said = demo.stdout.split('\n').map((line) => line.replace(/^ +\d+\.\d s {2}/, ''));
    const told = [
      /^maintainer {2}issue #1 has the label tool-todo: /,
      /^daemon {6}an agent works on the issue$/,
      /^daemon {6}commit [0-9a-f]{7} is on pull request #2$/,
      /^build {7}fails in "node tools\/listed\.js": README\.md does not name titleCase /,
      /^daemon {6}round 1: the agent’s session goes on/,
      /^build {7}passes on [0-9a-f]{7}$/,
      /^maintainer {2}asks for changes in src\/title\.js: /,
      /^daemon {6}round 2: /,
      /^agent {7}answers: Right\. /,
      /^maintainer {2}approves$/,
      /^daemon {6}waits: a person merges it$/,
      /^ {2}\S.* #2 is green, approved and without a conflict, after 2 rounds in \d+\.\d s\.$/,
    ];
    let at = 0;
    for (const words of told) {
      at = said.findIndex((line, index) => index >= at && words.test(line));
      assert.notEqual(at, -1, `${words}\n${demo.stdout}`);
    }
    const [, forge = ''] = /^ {2}forge +(http:\S+)$/m.exec(demo.stderr) ?? [];
    const { origin } = new URL(forge);
    const answers = await (await fetch(`${origin}/repos/maintainer/wordsmith/pulls/2/comments`)).text();
    assert.match(answers, /The parts of such a word begin with a capital now/);
    process.kill(-demo.pid, 'SIGINT');
    assert.equal((await demo.ended).code, 0);
    assert.deepEqual([processesAt(temporary), left()], [[], []]);
  });

  test('Ctrl-C in the middle ends with 130 and leaves neither a process nor a directory', async (t) => {
    const { env, left, temporary } = place(t);
    const demo = startTool(t, ['demo', '--issues', '7'], { env, detached: true });
    await demo.printed('agent at work');
    assert.match(demo.stdout, /^ {2}\S #7 +Add note 2 to the documentation /m);
    assert.notDeepEqual(processesAt(temporary), []);
    process.kill(-demo.pid, 'SIGINT');
    const { code, stderr } = await demo.ended;
    assert.deepEqual({ code, stderr }, { code: 130, stderr: '' });
    assert.deepEqual(processesAt(temporary), []);
    assert.deepEqual(left(), []);
  });

  test('a demo that is killed takes its daemon and agents with it', async (t) => {
    const { env, temporary } = place(t);
    const demo = startTool(t, ['demo', '--issues', '7'], { env, detached: true });
    await demo.printed('agent at work');
    process.kill(demo.pid, 'SIGKILL');
    await demo.ended;
    while (processesAt(temporary).length > 0) await delay(50);
  });
});

test('a detached head, and a linked work tree of a shallow clone, can be imported', async (t) => {
  const path = await project(t, 'main');
  const first = await commitFiles(path, { 'README.md': 'one\n' }, 'one');
  const second = await commitFiles(path, { 'README.md': 'two\n' }, 'two');
  await gitAs(path, 'clone', '--quiet', '--depth', '1', `file://${path}`, join(path, 'shallow'));
  await gitAs(join(path, 'shallow'), 'worktree', 'add', '--quiet', '--detach', join(path, 'linked'));
  await gitAs(path, 'checkout', '--quiet', '--detach', first);
  for (const [source, commit, readme] of [
    [path, first, 'one'],
    [join(path, 'linked'), second, 'two'],
  ] as const) {
    const repository = join(path, `${readme}.git`);
    const issues = await importProject(source, repository, 5);
    assert.equal((await gitAs(repository, 'rev-parse', 'main')).trim(), commit);
    assert.match(issues[1]?.body ?? '', new RegExp(`^ ${readme}\n\\+\n\\+This line was added by the demo\\.`, 'm'));
  }
});

test('what cannot be imported, and numbers that make no demo, are said: exit 2', async (t) => {
  const { directory, env, left } = place(t);
  const empty = await project(t, 'main');
  writeFileSync(join(directory, 'file'), '');
  const cases: readonly [string[], RegExp][] = [
    [
      ['--repo', join(directory, 'nowhere')],
      /--repo: expected a Git repository with a commit, got .*nowhere, which does not exist\. \(option_invalid\)$/m,
    ],
    [['--repo', join(directory, 'file')], /got .*file, which is no directory\. \(option_invalid\)$/m],
    [['--repo', directory], /which git does not take for one: fatal: not a git repository/],
    [['--repo', empty], /, which has none\. \(option_invalid\)$/m],
    [['--issues', '2'], /--issues: expected at least 5, got 2\. \(option_invalid\)$/m],
    [
      ['--team', '--issues', '7'],
      /--issues: expected none with --team, which works on one issue, got 7\. \(option_invalid\)$/m,
    ],
    [['--team', '--repo', '.'], /--repo: expected none with --team, whose teammates play one project, got \. On a/],
    [['--follow', '--issues', '7'], /--issues: expected none with --follow, .*, got 7\. \(option_invalid\)$/m],
    [
      ['--follow', '--repo', '.'],
      /--repo: expected none with --follow, .*, got \. On a repository of your own, use fo/,
    ],
    [['--follow', '--team'], /'--follow' cannot be used with option '--team'.* \(command_line_invalid\)$/m],
    [['--issues', 'x'], /--issues <n>.* Expected a whole number of at least 1, got x\. .* \(command_line_invalid\)$/m],
  ];
  await Promise.all(
    cases.map(async ([args, words]) => {
      const { code, stdout, stderr } = await runTool(['demo', ...args], { env });
      assert.deepEqual({ args, code, stdout }, { args, code: 2, stdout: '' });
      assert.match(stderr, words);
    }),
  );
  assert.deepEqual(left(), []);
});
