// The guard's reading of paths, globs and calls of git, on made-up ones, with the compiler's checks of memory and arithmetic.

import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gitRows } from '../../src/guard/rules/git-calls.ts';
import { ask, askingGuard } from '../support/guard-program.ts';
import { numbers } from '../support/numbers.ts';
import { tempDir } from '../support/temp.ts';

const asking = askingGuard();

test('a path leads where the kernel says it leads', (t) => {
  const root = realpathSync(tempDir(t));
  const next = numbers(7);
  const names = ['a', 'b', 'c'];
  const places = [root];
  for (const one of names)
    for (const two of names) {
      mkdirSync(join(root, one, two), { recursive: true });
      places.push(join(root, one, two));
      writeFileSync(join(root, one, two, 'f'), '');
    }
  const pick = (list: readonly string[]) => list[next(list.length)] ?? '';
  // Links to anywhere, to each other and to nothing.
  for (let link = 0; link < 40; link += 1) {
    const steps = Array.from({ length: 1 + next(3) }, () => pick([...names, '..', 'f', `l${next(40)}`]));
    const target = next(2) === 0 ? steps.join('/') : join(pick(places), ...steps);
    symlinkSync(target, join(pick(places), `l${link}`));
  }
  const parts = [...names, '..', '.', '', 'f', 'none', ...Array.from({ length: 40 }, (_, link) => `l${link}`)];
  const paths = Array.from(
    { length: 20_000 },
    () => `${root}/${Array.from({ length: 1 + next(5) }, () => pick(parts)).join('/')}`,
  );
  const policy = join(tempDir(t), 'policy');
  writeFileSync(policy, `root\t${root}\n`);
  const told = ask(
    asking,
    policy,
    paths.map((path) => `path\t${path}`),
  );
  let there = 0;
  for (const [at, path] of paths.entries()) {
    let real: string;
    try {
      real = realpathSync.native(path);
    } catch {
      continue;
    }
    there += 1;
    assert.equal(told[at], real, path);
  }
  assert.ok(there > 500, `${there} of them lead somewhere`);
});

test('no glob, path or call of git makes it touch memory that is not its own', (t) => {
  const next = numbers(11);
  const chars = [...'*?[]!^\\-/.abé{}()|+@'];
  const text = (most: number) => Array.from({ length: next(most) }, () => chars[next(chars.length)] ?? '').join('');
  const globs = Array.from({ length: 200 }, () => `own\tx\t${text(12)}\n`);
  const rows = gitRows('shared', 'src').map(({ call, refusal }) => `git\t${call}\t${refusal}\n`);
  const policy = join(tempDir(t), 'policy');
  writeFileSync(policy, `root\t${tempDir(t)}\n${globs.join('')}${rows.join('')}`);
  const long = 'x'.repeat(5000);
  const questions = [
    ...Array.from({ length: 1000 }, () => `owner\t${text(20)}`),
    ...Array.from({ length: 1000 }, () => `git\tcommit\t-${text(9)}\t${text(9)}`),
    `owner\t${long}`,
    `owner\t${'a/'.repeat(2000)}`,
    `path\t/${long}`,
    `path\t/${'a/../'.repeat(900)}`,
    `git\tcommit\t${Array.from({ length: 200 }, () => long.slice(0, 300)).join('\t')}`,
  ];
  assert.equal(ask(asking, policy, questions).length, questions.length);
});
