// What each command of the table really changes when it runs bears its verdict out.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { COMMANDS } from '../adapters/shell/commands.ts';
import { decide, isCovered, isOwned, readIn } from '../adapters/shell/decide.ts';
import type { Row } from '../adapters/shell/rows.ts';
import {
  changedPaths,
  copyTemplate,
  createTemplate,
  isGits,
  list,
  runCommand,
  type Scratch,
} from '../adapters/shell/scratch-project.ts';

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
  it('holds when they run', async () => {
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
});
