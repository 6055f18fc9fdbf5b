// Commands of the team in the checkouts that people have: one of several of the same repository, and in a bare one's.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { Isolation } from '../../src/agents/isolation.ts';
import type { PhaseReport } from '../../src/cli/phase-report.ts';
import { GUARD_CODES } from '../../src/guard/rules/guard-codes.ts';
import { GUARD_LINE_CODES } from '../../src/guard/rules/guard-line-codes.ts';
import { WORK_CODES } from '../../src/team/rules/codes/work-codes.ts';
import { lineLike, textLike } from '../support/codes.ts';
import type { PhaseProject } from '../support/phase-project.ts';
import { SPEC, shopProject, shopScript, TEAM, WORK } from '../support/shop-spec.ts';
import type { Cleanup } from '../support/temp.ts';

const LINKED = '../linked';
const { active, reason } = await Isolation.probe('auto', { readOnly: [], hidden: [], tables: '/nowhere' });

const UNBOUND = '---\ntool:\n  isolation: off\n---\nBuild it.\n';
const PERSON = ['-c', 'user.name=x', '-c', 'user.email=x@example.com'];

/** The SPEC and the settings are on the branch of the linked checkout alone; commands run there. */
function linkedProject(t: Cleanup): PhaseProject {
  const project = shopProject(t);
  project.git('worktree', 'add', '-q', '-b', 'topic', LINKED);
  project.git('rm', '-q', '-r', '.tool');
  project.git(...PERSON, 'commit', '-qm', 'No team here');
  project.cwd = LINKED;
  return project;
}

function reportOf({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }): PhaseReport {
  assert.equal(code, 0, stderr);
  const report: PhaseReport = JSON.parse(stdout);
  return report;
}

test('in a linked checkout a team is that of this checkout, from its settings to its report', async (t) => {
  const project = linkedProject(t);
  const { stdout } = await project.tool('spec', 'list', '--json');
  assert.deepEqual(
    JSON.parse(stdout).map(({ id, counts }: { id: string; counts: boolean }) => [id, counts]),
    [[SPEC, true]],
  );
  const base = project.git('rev-parse', 'topic');
  const report = reportOf(await project.lead('run', SPEC, '--team', '--json'));
  assert.equal(report.outcome, 'done');
  assert.match(report.report ?? '', /\/linked\/\.tool\/teams\/archive\//);
  const built = project.git('diff', '--name-only', `topic...tool/${TEAM}`).split('\n');
  assert.deepEqual(built, WORK.map(({ file }) => file).sort());
  assert.equal(project.git('rev-parse', 'topic'), base);
  assert.ok(!existsSync(join(project.root, '.tool')), 'nothing is written in the main checkout');
  assert.equal(project.git('status', '--porcelain'), '');
});

test('a team of the same name that stands in another checkout is not led from here', async (t) => {
  const project = shopProject(t);
  project.play(shopScript({ T1: 600_000 }));
  project.git('worktree', 'add', '-q', '-b', 'topic', LINKED);
  const lead = project.start('run', SPEC, '--team', '--json');
  await new Promise<void>((resolve) => {
    lead.stderr.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('task 2 is completed')) resolve();
    });
  });
  project.cwd = LINKED;
  const { code, stderr } = await project.lead('run', SPEC, '--team');
  lead.kill('SIGINT');
  assert.equal(code, 1, stderr);
  assert.match(stderr, lineLike(WORK_CODES.team_in_other_checkout, { team: TEAM, path: project.root }));
});

test('a flag that asks for a team is refused while the settings cannot be read, before anything runs', async (t) => {
  const project = shopProject(t);
  const path = join(project.root, '.tool/config/workflow.yaml');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace('hooks:', 'hoks:'));
  const line = text.split('\n').findIndex((one) => one.includes('hooks:')) + 1;
  const { code, stderr } = await project.lead('run', SPEC, '--team');
  assert.equal(code, 1, stderr);
  assert.ok(stderr.includes(path) && stderr.includes(`line ${line}: workflow.team.hoks: `), stderr);
  assert.match(stderr, /workflow\.team\.hooks.*\(settings_block_flag\)$/m);
  assert.deepEqual(
    project.names('.tool/teams').filter((name) => name.startsWith('tool-')),
    [],
  );
  assert.equal(project.git('branch', '--list', 'tool/*'), '');
  const other = await project.lead('run', SPEC);
  assert.match(other.stderr, /workflow\.team\.hoks: .*\(settings_defaults_hold\)/);
});

const isRoot = process.getuid?.() === 0;
const NEEDS_ROOT = isRoot ? false : 'only root can give files to another user';

test('a repository of another user: git is quoted, and safe.directory of the person counts', {
  skip: NEEDS_ROOT,
}, async (t) => {
  const project = shopProject(t);
  execaSync`chown -R 12345:12345 ${project.root}`;
  const refused = await project.lead('run', SPEC, '--team');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /git cannot tell whether .*: fatal: detected dubious ownership in repository at '/);
  assert.doesNotMatch(refused.stderr, /it is not committed/);
  writeFileSync(join(project.home, '.gitconfig'), `[safe]\n\tdirectory = ${project.root}\n`);
  if (active) {
    const kept = await project.lead('run', SPEC, '--team');
    assert.equal(kept.code, 2);
    assert.match(kept.stderr, /objects: user 12345 .*\(objects_owned_by_other\)$/m);
  }
  writeFileSync(join(project.root, 'WORKFLOW.md'), UNBOUND);
  assert.equal(reportOf(await project.lead('run', SPEC, '--team', '--json')).outcome, 'done');
});

for (const layout of ['a bare repository', 'core.bare in a checkout'])
  test(`a checkout that is linked to ${layout}: a team builds there`, async (t) => {
    const project = shopProject(t);
    const common = layout === 'a bare repository' ? '../shop.git' : '.git';
    if (common === '../shop.git') project.git('clone', '-q', '--bare', '.', common);
    else project.git('config', 'core.bare', 'true');
    project.git(`--git-dir=${common}`, 'worktree', 'add', '-q', '-b', 'topic', LINKED);
    project.cwd = LINKED;
    const report = reportOf(await project.lead('run', SPEC, '--team', '--json'));
    assert.deepEqual([report.outcome, report.rejections], ['done', 0]);
    assert.equal(report.files, WORK.length);
  });

test('a repository without a commit is named before approval is asked for', async (t) => {
  const project = shopProject(t);
  rmSync(join(project.root, '.git'), { recursive: true });
  project.git('init', '-q', '-b', 'main', '.');
  for (const args of [
    ['run', SPEC],
    ['plan', 'Greet visitors'],
  ]) {
    const { code, stderr } = await project.lead(...args);
    assert.equal(code, 2);
    assert.match(stderr, /\(no_commit_yet\)$/m);
    assert.doesNotMatch(stderr, /approve/);
  }
});

test('a person who amends the commit that the team began from is told so, with a way that works', async (t) => {
  const project = shopProject(t);
  const base = project.git('rev-parse', 'HEAD');
  const lead = project.start('run', SPEC, '--team', '--json');
  let stderr = '';
  lead.stderr.on('data', (chunk: Buffer) => {
    const isSeen = stderr.includes('task 1 is completed');
    stderr += chunk.toString();
    if (isSeen || !stderr.includes('task 1 is completed')) return;
    project.git(...PERSON, 'commit', '-q', '--amend', '--allow-empty', '-m', 'Another beginning');
  });
  const [code] = (await once(lead, 'close')) as [number | null];
  assert.equal(code, 0, stderr);
  const told = stderr.split('\n').find((line) => line.includes('rewrote commit')) ?? '';
  assert.ok(told.includes(base.slice(0, 10)), stderr);
  const [, way = ''] = /: git (rebase [^.]+)\./.exec(told) ?? [];
  project.git(...PERSON, ...way.split(' '));
  assert.equal(project.git('merge-base', 'main', `tool/${TEAM}`), project.git('rev-parse', 'main'));
});

test('without namespaces, git in a worktree that its teammate took away does not find the checkout of the person', async (t) => {
  const project = shopProject(t);
  writeFileSync(join(project.root, 'WORKFLOW.md'), UNBOUND);
  project.env = UNGUARDED;
  writeFileSync(join(project.root, 'unsaved.txt'), 'x\n');
  const head = project.git('rev-parse', 'main');
  const plant = `git add -A :/; git ${PERSON.join(' ')} commit -qm planted`;
  project.before = `rm .git; ${plant}; (cd .. && ${plant}); (cd ../../../../src && ${plant}); `;
  const report = reportOf(await project.lead('run', SPEC, '--team', '--json'));
  assert.equal(report.outcome, 'done');
  assert.deepEqual([project.git('rev-parse', 'main'), project.read('unsaved.txt')], [head, 'x\n']);
  assert.match(project.git('status', '--porcelain'), /^\?\? unsaved\.txt$/m);
});

/** The guard home cannot have a path with a space, so the write guard is not there. */
const UNGUARDED = { XDG_STATE_HOME: '/tmp/no guard' };

test('under the write guard a teammate takes no worktree away', async (t) => {
  const project = shopProject(t);
  project.before = 'git worktree remove --force "$PWD"; rm .git; ';
  const { code, stderr } = await project.lead('run', SPEC, '--team', '--json');
  assert.equal(code, 0, stderr);
  assert.match(
    stderr,
    lineLike(GUARD_LINE_CODES.guard_git_refused, {
      call: 'worktree',
      advice: textLike(GUARD_CODES.git_changes_worktrees),
    }),
  );
  assert.match(
    stderr,
    lineLike(GUARD_LINE_CODES.guard_write_owned, { path: /\S.*\/backend-dev\/\.git/, owner: 'git' }),
  );
});

const MISHAPS = {
  'its link to the repository is gone': 'rm .git; ',
  'git removed it, and a file was written there then': 'git worktree remove --force "$PWD"; echo x >notes.txt; ',
} as const;

for (const [name, before] of Object.entries(MISHAPS))
  test(`in namespaces a teammate’s worktree is made whole where it is: ${name}`, {
    skip: active ? false : reason,
  }, async (t) => {
    const project = shopProject(t);
    project.env = UNGUARDED;
    project.before = before;
    const report = reportOf(await project.lead('run', SPEC, '--team', '--json'));
    assert.equal(report.outcome, 'done');
    const built = project.git('diff', '--name-only', `main...tool/${TEAM}`).split('\n');
    const notes = before.includes('notes.txt') ? ['notes.txt'] : [];
    assert.deepEqual(built, [...notes, ...WORK.map(({ file }) => file)].sort());
  });
