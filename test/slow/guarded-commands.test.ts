// Each command of the table runs with the write guard, and mostly without it, for a member who owns src/api and src/services: nothing of
// others changes, no refusal is silent, and what harms nobody does what it does without the guard.

import assert from 'node:assert/strict';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import test, { after } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { gitRows } from '../../src/guard/rules/git-calls.ts';
import { endingsOf, PROTECTED_PATHS, policyText } from '../../src/guard/rules/policy.ts';
import { DEFAULT_OWNERSHIP } from '../../src/team/rules/default-ownership.ts';
import { COMMANDS, isOwned } from '../support/commands/commands.ts';
import {
  changedPaths,
  copyAside,
  createTemplate,
  GONE,
  isGits,
  type Listing,
  list,
  runWords,
  type Scratch,
} from '../support/commands/scratch-project.ts';
import { writeGuard } from '../support/guard-program.ts';

const AT_ONCE = 4;
const guard = writeGuard();
const template = createTemplate();
after(() => template.remove());
const ORIGINAL = join(template.root, 'template', 'project');
const tracked = [...list(ORIGINAL).keys()].filter((path) => !isGits(path));

/** Where the guard is told its rules, and writes down what it decided. */
function guarded({ project, outside }: Scratch): readonly string[] {
  const place = join(dirname(outside), 'guard');
  mkdirSync(join(place, 'leases'), { recursive: true });
  const policy = policyText({
    root: project,
    member: 'backend-dev',
    ownership: DEFAULT_OWNERSHIP,
    leases: join(place, 'leases'),
    claims: false,
    allow: [],
    keep: PROTECTED_PATHS,
    elsewhere: [],
    gitDirectories: [join(project, '.git')],
    gitTrees: [],
    gitPrograms: ['/usr/lib/git-core'],
    endings: endingsOf(tracked),
    git: gitRows('shared', 'src/api'),
  });
  writeFileSync(join(place, 'policy'), policy);
  return [guard, join(place, 'policy'), join(place, 'log'), '--'];
}

type Run = {
  readonly changed: ReadonlyMap<string, string | undefined>;
  readonly stderr: string;
  /** What the guard wrote down. */
  readonly log: string;
};

/** Without what git keeps for itself, and without directories, which hold nothing of their own. */
function filesOf(listing: Listing, root: string): Listing {
  const files = [...listing].filter(([path, what]) => !isGits(path) && !what.startsWith('directory'));
  return new Map(files.map(([path, what]) => [relative(root, path), what]));
}

const isGit = (path: string) => path.endsWith('/.git');

/** What is in the project, and beside it. */
function seenIn(project: string, outside: string): Listing {
  return filesOf(new Map([...list(project, isGit), ...list(outside, isGit)]), project);
}

/** The same in each copy, until a command has run there. */
const BEFORE = seenIn(ORIGINAL, join(dirname(ORIGINAL), 'outside'));
let copies = 0;

async function run(command: string, isGuarded: boolean): Promise<Run> {
  copies += 1;
  const scratch = await copyAside(template.root, `copy-${copies}`);
  const { project, outside } = scratch;
  const words = ['bash', '-c', command.replaceAll('@P@', project).replaceAll('@O@', outside)];
  const said = join(dirname(project), 'said');
  const fd = openSync(said, 'a');
  await runWords(isGuarded ? [...guarded(scratch), ...words] : words, scratch, fd);
  closeSync(fd);
  const stderr = readFileSync(said, 'utf8');
  const result = (): Run => {
    const [now, log] = [seenIn(project, outside), join(dirname(outside), 'guard', 'log')];
    const changed = new Map(changedPaths(BEFORE, now).map((path) => [path, now.get(path)]));
    return { changed, stderr, log: existsSync(log) ? readFileSync(log, 'utf8') : '' };
  };
  let ran = result();
  // The guard outlives the command, and takes away last what was temporary.
  for (let looks = 0; isGuarded && looks < 50 && foreignIn(ran).length > 0; looks += 1) {
    await pause(100);
    ran = result();
  }
  await rm(dirname(project), GONE);
  return ran;
}

const foreignIn = ({ changed }: Run) => [...changed.keys()].filter((path) => !path.startsWith('..') && !isOwned(path));

test(`${COMMANDS.length} commands change nothing of others, and the harmless ones do what they do`, async (t) => {
  const rows = [...COMMANDS];
  const problems: string[] = [];
  let harmless = 0;
  let hindered = 0;
  let late = 0;
  const work = async () => {
    for (let row = rows.shift(); row !== undefined; row = rows.shift()) {
      const { command, verdict, cautious } = row;
      const held = await run(command, true);
      const isRefused = /^(?:refused|removed|git)\t/m.test(held.log);
      // What the table calls a write to files of others, and the guard has refused, need not be seen to be one.
      const isKnown = isRefused && verdict === 'deny' && cautious === undefined;
      const plain = isKnown ? null : await run(command, false);
      const say = (what: string) => problems.push(`${JSON.stringify(command)}: ${what}`);
      const foreign = foreignIn(held);
      if (foreign.length > 0) say(`changes ${foreign.join(', ')}`);
      const isHarmless = plain !== null && foreignIn(plain).length === 0;
      if (!isHarmless && !isRefused) say(`is refused without a word: ${held.log}`);
      // What goes on in the background is refused when nobody listens any more.
      if (!isHarmless && !held.stderr.includes('toolcrew: ')) late += 1;
      if (plain === null || !isHarmless) continue;
      harmless += 1;
      if ([...plain.changed.keys()].join('\n') === [...held.changed.keys()].join('\n')) continue;
      hindered += 1;
      t.diagnostic(`hindered: ${JSON.stringify(command)}: ${held.stderr.trim().split('\n').at(-1)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  t.diagnostic(
    `${COMMANDS.length} commands, ${harmless} of them harmless, ${hindered} of these hindered; ${late} refused after the end`,
  );
  assert.deepEqual(problems, []);
  assert.ok(late <= 3, `${late} refusals are only in the log`);
  assert.ok(hindered * 100 <= harmless, `${hindered} of ${harmless} harmless commands are hindered`);
});
