// The words of commands are those that bash itself makes of them, and texts that bash refuses are not taken as read.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { fileView } from '../../../src/adapters/shell/file-view.ts';
import { readShell } from '../../../src/adapters/shell/read-shell.ts';
import { COMMANDS, ONLY_READ } from './commands.ts';

/** The same programs each time; another number for others. */
const SEED = Number(process.env.SHELL_SEED ?? 1);

let root: string;

before(() => {
  root = mkdtempSync(join(tmpdir(), 'toolcrew-words-'));
  for (const path of ['ab', 'a b', 'abc', '.hidden', 'x*y', 'B', 'é']) writeFileSync(join(root, path), '');
  mkdirSync(join(root, 'dir', 'sub'), { recursive: true });
  writeFileSync(join(root, 'dir', 'sub', 'f.ts'), '');
});

after(() => rmSync(root, { recursive: true, force: true }));

const context = () => ({ cwd: root, home: '/home/me', env: { HOME: '/home/me', SHELL: '/bin/bash' }, ...fileView });

function bash(script: string): string {
  return execFileSync('bash', ['-c', script], {
    cwd: root,
    env: { HOME: '/home/me', PATH: process.env.PATH, LC_ALL: 'C.UTF-8' },
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
}

const PIECE = fc.constantFrom(
  ...[
    'a',
    'b',
    'ab',
    '-',
    '/',
    '.',
    '..',
    'dir',
    '*',
    '?',
    '[ab]',
    '[!a]',
    '\\',
    '\\\\',
    '\\ ',
    '\\"',
    "\\'",
    '\\$',
    '\\*',
    '\\{',
  ],
  ...["'", "''", "'a b'", "'$v'", "'*'", '"', '""', '"a b"', '"$v"', '"${v}x"', '"\\$v"', '"*"', '"a\\b"', '"\\\\"'],
  ...[
    '$v',
    '${v}',
    '${e}',
    '$w',
    '"$w"',
    '${v:-d}',
    '${e:-d}',
    '${u:-d e}',
    '${u-"d e"}',
    '${v:+s}',
    '${e:+s}',
    '${v#o}',
    '${p##*/}',
    '${p%.*}',
    '${p%%.*}',
  ],
  ...['${p/sub/x}', '${v^}', '${v^^}', '${p:0:3}', '${p:4}', '${#v}'],
  ...['{a,b}', '{1..3}', '{c..a}', '{a,{b,c}}', '{a,"b c"}', '{,x}', '{a}', '{', '}', ','],
  ...[
    "$'\\x41'",
    "$'\\n'",
    "$'a\\tb'",
    "$'\\u00e9'",
    "$'\\101'",
    "$'\\''",
    "$'\\e'",
    '$"a"',
    '~',
    '~/x',
    '**',
    '\\\n',
    '"\\\n"',
    '"$(echo hi)"',
    '[',
    ']',
    '$((1+2))',
    '$((x*2))',
    '"${l[@]}"',
    '${l[1]}',
    '"${l[*]}"',
    '$l',
    '=',
    ':',
    '#',
    '!',
    '%',
    '+',
    '@',
    '^',
  ],
);

const SETTING = 'v=one; e=; w="a  b*"; p=dir/sub/f.tar.ts; l=(x "y z"); x=4; unset u; ';

/** A word that bash reads as one word of a command, and nothing else. */
const WORD = fc.array(PIECE, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(''));

describe('words', () => {
  it('become what bash makes of them', () => {
    fc.assert(
      fc.property(fc.array(WORD, { minLength: 40, maxLength: 60 }), (words) => {
        const script = `${SETTING}\n${words.map((word) => `eval ${quote(`printf '%s\\0' start ${word}`)} 2>/dev/null || printf 'failed\\0'; printf 'end\\0'`).join('\n')}`;
        const said = bash(script).split('end\0');
        for (const [index, word] of words.entries()) {
          const expected = (said[index] ?? '').split('\0').slice(0, -1);
          if (expected[0] !== 'start' || expected.includes('failed')) continue;
          const effects = readShell(`${SETTING}\nprintf '%s\\0' start ${word}`, context());
          const got = effects.commands.find((command) => command[2] === 'start')?.slice(2) ?? [];
          if (effects.unresolved.length > 0 || got.includes(null)) continue;
          assert.deepEqual(got, expected, JSON.stringify(word));
        }
      }),
      { numRuns: 25, seed: SEED, endOnFailure: true },
    );
  });

  it('are known for most of what is written', () => {
    const words = ['a"b c"$v', '{a,b}/x', "$'\\x41'", '"${l[@]}"', '${p##*/}', 'a*', '~/x', '$((1+2))', '${v^^}'];
    for (const word of words) {
      const effects = readShell(`${SETTING}\nprintf '%s\\0' ${word}`, context());
      const got = effects.commands.find((command) => command[0] === 'printf') ?? [];
      const expected = bash(`${SETTING}\nprintf '%s\\0' ${word}`).split('\0').slice(0, -1);
      assert.deepEqual(got.slice(2), expected, word);
    }
  });

  it('are not taken as read where bash finds a mistake', () => {
    const cut = [...COMMANDS, ...ONLY_READ].flatMap(({ command }, index) => {
      const ways = [command.slice(0, -1), command.slice(1), `${command} )`, `if ${command}`];
      return ways.filter((_, way) => way === index % ways.length);
    });
    const taken = cut.filter((text) => readShell(text, context()).unresolved.length === 0);
    assert.ok(taken.length > 50);
    const wrong = taken.filter(isRefused);
    assert.deepEqual(wrong, []);
  });
});

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Whether bash finds a mistake in a text. */
function isRefused(text: string): boolean {
  try {
    execFileSync('bash', ['-n', '-c', text], { stdio: ['ignore', 'ignore', 'pipe'] });
    return false;
  } catch {
    return true;
  }
}
