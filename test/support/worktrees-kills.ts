// A lead that is killed at any of its git commands: who comes after it brings the same work to the same end.

import assert from 'node:assert/strict';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { execaSync } from 'execa';
import { programFile } from './compiled.ts';
import { gitIn } from './git.ts';
import { projectOf, TEAM } from './team-worktrees.ts';
import { type Cleanup, tempDir } from './temp.ts';

/** `before`: the command is not run · `during`: it outlives the one that asked for it. */
type Moment = 'before' | 'during';

/** A `git` that counts its runs and, at one of them, kills the process that started it. */
function killingGit(directory: string, at: number, moment: Moment): string {
  const real = execaSync`sh -c ${'command -v git'}`.stdout;
  const count = join(directory, 'count');
  writeFileSync(count, '0');
  const run = `exec ${real} "$@"`;
  const act = moment === 'before' ? 'exit 1' : run;
  const bin = join(directory, 'git');
  // Some run at the same moment: each is counted alone.
  const lock = `${count}.lock`;
  const counted = `until mkdir ${lock} 2>/dev/null; do :; done\nread n <${count}; n=$((n+1)); echo $n >${count}\nrmdir ${lock}`;
  const script = `${counted}\nif [ $n = ${at} ]; then kill -9 $PPID; ${act}; fi\n${run}\n`;
  writeFileSync(bin, `#!/bin/sh\n${script}`);
  chmodSync(bin, 0o755);
  return directory;
}

const STORY = programFile('worktrees-story');

async function setUp(t: Cleanup) {
  const { root: template } = projectOf(t);
  return (at: number, moment: Moment) => {
    const scratch = tempDir(t);
    const root = join(scratch, 'project');
    cpSync(template, root, { recursive: true });
    const progress = join(scratch, 'progress');
    const play = (PATH: string) =>
      execaSync({
        ...{ env: { PATH }, extendEnv: false, timeout: 120_000, reject: false },
      })`${process.execPath} ${STORY} ${root} ${progress}`;
    const PATH = process.env.PATH ?? '';
    const first = play(`${killingGit(scratch, at, moment)}:${PATH}`);
    const runs = Number(readFileSync(join(scratch, 'count'), 'utf8'));
    const last = first.signal === 'SIGKILL' ? play(PATH) : first;
    return { root, runs, first, last };
  };
}

function assertFinished(root: string): void {
  const git = gitIn(root);
  const branch = `tool/${TEAM}`;
  const lines = (...args: readonly string[]) =>
    git(...args)
      .split('\n')
      .filter((line) => line !== '');
  assert.deepEqual(lines('log', '--first-parent', '--format=%s', branch), ['Merge two', 'Merge one', 'Begin']);
  assert.deepEqual(lines('log', '--no-merges', '--format=%s', branch).sort(), ['Again', 'Begin', 'One', 'Two']);
  for (const [subject, file] of [
    ['One', 'src/api/a.js src/api/b.js'],
    ['Two', 'src/pages/p.js'],
    ['Again', 'src/pages/q.js'],
  ]) {
    const shown = lines('log', '--no-merges', '--format=', '--name-only', `--grep=^${subject}$`, branch);
    assert.equal(shown.join(' '), file, `${subject} is its writer's work alone`);
  }
  const held = ['src/api/a.js', 'src/api/b.js', 'src/pages/p.js', 'src/pages/q.js'].map((path) =>
    git('show', `${branch}:${path}`),
  );
  assert.deepEqual(held, ['one\n', 'one\n', 'two\n', 'two\n']);
  const [refused = '', ...more] = lines('for-each-ref', '--format=%(refname)', 'refs/toolcrew/refused');
  assert.deepEqual(more, []);
  assert.equal(git('show', `${refused}:src/api/a.js`), 'foreign\n');
  const [saved = '', ...others] = lines('for-each-ref', '--format=%(refname)', 'refs/toolcrew/saved');
  assert.deepEqual(others, []);
  assert.equal(git('show', `${saved}:src/api/late.js`), 'late\n');
  assert.deepEqual(lines('for-each-ref', '--format=%(refname)', 'refs/heads'), [
    'refs/heads/main',
    `refs/heads/${branch}`,
  ]);
  assert.equal(lines('worktree', 'list').length, 1);
  assert.deepEqual(readdirSync(join(root, '.tool', 'worktrees')), ['.gitignore']);
  const admins = join(root, '.git', 'worktrees');
  assert.deepEqual(existsSync(admins) ? readdirSync(admins) : [], []);
  const left = readdirSync(join(root, '.git'), { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    left.filter((path) => /\.lock(\.|$)/.test(path)),
    [],
  );
  assert.equal(git('status', '--porcelain'), '');
  assert.equal(git('fsck', '--no-dangling', '--no-progress'), '');
}

/** `during` leaves what `before` the next one leaves, but for what the lead itself does between the two: each pair is one moment. */
const PAIR = 2;

/** Defines the tests of every `parts`-th pair of commands, from the `part`-th on: all of them in one process would take very long. */
export async function testKills(part: number, parts: number): Promise<void> {
  const play = await setUp({ after });
  const whole = play(0, 'before');

  test('the whole story, with no kill', () => {
    assert.equal(whole.first.exitCode, 0, whole.first.stderr);
    assertFinished(whole.root);
    assert.ok(whole.runs > 50, `${whole.runs} runs of git`);
  });

  type Kill = readonly [Moment, number];
  for (let pair = part; PAIR * pair <= whole.runs; pair += parts) {
    const [during, before]: [Kill, Kill] = [
      ['during', PAIR * pair - 1],
      ['before', PAIR * pair],
    ];
    // Pairs take the one and the other in turn.
    const one = Math.ceil(pair / parts) % 2 === 0 ? before : during;
    for (const [moment, at] of process.env.TOOLCREW_ALL === undefined ? [one] : [during, before]) {
      test(`killed ${moment} git command ${at}`, () => {
        const { root, first, last } = play(at, moment);
        assert.equal(first.signal, 'SIGKILL', first.stderr);
        assert.equal(last.exitCode, 0, last.stderr);
        assertFinished(root);
      });
    }
  }
}
