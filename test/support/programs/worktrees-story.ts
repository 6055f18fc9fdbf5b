// Two writers from the beginning to the end, in steps: a process that is started again goes on where the last one was.
// Arguments: the project, a file for how far it has come.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createTeamWorktrees } from '../../../src/team/worktrees/team-worktrees.ts';

const TEAM = 'tool-run-spec-a-001';
const [root = '', progress = ''] = process.argv.slice(2);
const teamWorktrees = createTeamWorktrees({ root, env: process.env });
const pathOf = (member: string) => join(root, '.tool', 'worktrees', TEAM, member);

type Progress = { readonly step: number; readonly bad: string };

function read(): Progress {
  return existsSync(progress) ? JSON.parse(readFileSync(progress, 'utf8')) : { step: 0, bad: '' };
}

function note(value: Progress): void {
  writeFileSync(`${progress}.new`, JSON.stringify(value));
  renameSync(`${progress}.new`, progress);
}

function write(member: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(pathOf(member), path)), { recursive: true });
    writeFileSync(join(pathOf(member), path), text);
  }
}

/** Each may be done in part already; what it gives is the refused commit, from the step that makes it. */
const STEPS: readonly ((bad: string) => Promise<unknown>)[] = [
  () => teamWorktrees.begin(TEAM),
  () => teamWorktrees.open(TEAM, 'one'),
  () => teamWorktrees.open(TEAM, 'two'),
  async () => write('one', { 'src/api/a.js': 'one\n', 'src/api/b.js': 'one\n' }),
  () => teamWorktrees.save(TEAM, 'one', 'One'),
  () => teamWorktrees.merge(TEAM, 'one', 'Merge one'),
  async () => write('two', { 'src/pages/p.js': 'two\n' }),
  () => teamWorktrees.update(TEAM, 'two'),
  () => teamWorktrees.save(TEAM, 'two', 'Two'),
  async () => write('two', { 'src/pages/q.js': 'two\n', 'src/api/a.js': 'foreign\n' }),
  async () =>
    (await teamWorktrees.save(TEAM, 'two', 'Bad')) ?? (await teamWorktrees.commits(TEAM, 'two')).commits.at(-1)?.sha,
  (bad) => teamWorktrees.refuse(TEAM, 'two', bad, ['src/api/a.js']),
  () => teamWorktrees.save(TEAM, 'two', 'Again'),
  () => teamWorktrees.merge(TEAM, 'two', 'Merge two'),
  () => teamWorktrees.openReadOnly(TEAM, 'reader'),
  async () => write('one', { 'src/api/late.js': 'late\n' }),
  () => teamWorktrees.close(TEAM, 'one'),
  () => teamWorktrees.end(TEAM, ['one', 'two']),
];

for (let { step, bad } = read(); step < STEPS.length; step++) {
  const gave = await STEPS[step]?.(bad);
  if (step === 10 && typeof gave === 'string') bad = gave;
  note({ step: step + 1, bad });
}
