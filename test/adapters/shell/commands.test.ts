// Each command of the table gets its verdict, and what it really changes when it runs bears the verdict out.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileView } from '../../../src/adapters/shell/file-view.ts';
import { COMMANDS, ONLY_READ, type Row } from './commands.ts';
import { decide, isCovered, isOwned, readIn } from './decide.ts';
import {
  changedPaths,
  copyTemplate,
  createTemplate,
  isGits,
  list,
  runCommand,
  type Scratch,
} from './scratch-project.ts';

const AT_ONCE = 4;

let template: ReturnType<typeof createTemplate>;

before(() => {
  template = createTemplate();
});

after(() => template.remove());

const unused: Scratch[] = [];
let copies = 0;

/** A copy that nothing was changed in. */
function takeCopy(): Scratch {
  copies += 1;
  return unused.pop() ?? copyTemplate(template.root, `copy-${copies}`);
}

async function check(row: Row): Promise<string | null> {
  const scratch = takeCopy();
  const command = row.command.replaceAll('@P@', scratch.project).replaceAll('@O@', scratch.outside);
  const effects = readIn(command, scratch);
  const verdict = decide(effects, scratch.project);
  const seen = [...list(scratch.project), ...list(scratch.outside)];
  await runCommand(command, scratch);
  const all = changedPaths(new Map(seen), new Map([...list(scratch.project), ...list(scratch.outside)]));
  if (all.length === 0) unused.push(scratch);
  else rmSync(dirname(scratch.project), { recursive: true, force: true });
  const changed = all.filter((path) => !isGits(path));
  const say = (what: string) =>
    `${JSON.stringify(row.command)}: ${what}\n  ${JSON.stringify({ ...effects, commands: undefined, changed })}`;
  if (verdict !== row.verdict) return say(`expected ${row.verdict}, got ${verdict}`);
  const foreign = changed
    .map((path) => relative(scratch.project, path))
    .filter((path) => !path.startsWith('..') && !isOwned(path));
  if (verdict === 'allow' && foreign.length > 0) return say(`it is allowed and changes ${foreign.join(', ')}`);
  if (verdict === 'deny' && foreign.length === 0 && row.cautious === undefined)
    return say('it is denied and changes nothing of others');
  if (row.cautious !== undefined && foreign.length > 0) return say('it is no longer too cautious');
  const missed = effects.unresolved.length > 0 ? [] : changed.filter((path) => !isCovered(path, effects));
  return missed.length === 0 ? null : say(`it changes ${missed.join(', ')}, which is not said`);
}

describe('the table of commands', () => {
  it('is told apart before they run, and holds when they run', async () => {
    const rows = [...COMMANDS];
    const problems: string[] = [];
    const work = async () => {
      for (let next = rows.shift(); next !== undefined; next = rows.shift()) {
        const problem = await check(next);
        if (problem !== null) problems.push(problem);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    assert.deepEqual(problems, []);
  });

  it('has enough rows, few of them too cautious, and none twice', () => {
    const commands = [...COMMANDS, ...ONLY_READ].map(({ command }) => command);
    assert.ok(COMMANDS.length >= 140);
    assert.ok(COMMANDS.filter(({ cautious }) => cautious !== undefined).length <= 6);
    assert.deepEqual(
      commands.filter((command, index) => commands.indexOf(command) !== index),
      [],
    );
  });

  it('tells those apart that are not run', () => {
    const scratch = copyTemplate(template.root, 'only-read');
    const problems = ONLY_READ.flatMap(({ command, verdict }) => {
      const effects = readIn(command.replaceAll('@P@', scratch.project), scratch);
      const got = decide(effects, scratch.project);
      return got === verdict
        ? []
        : [`${command}: expected ${verdict}, got ${got} ${JSON.stringify({ ...effects, commands: undefined })}`];
    });
    assert.deepEqual(problems, []);
    assert.equal(fileView.kindOf(scratch.project), 'directory');
  });
});
