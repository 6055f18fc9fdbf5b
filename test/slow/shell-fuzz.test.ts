// Whatever it is given, the reading ends, never throws, and does not depend on how a command is spelt.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { COMMANDS, ONLY_READ } from '../adapters/shell/commands.ts';
import { decide, readIn } from '../adapters/shell/decide.ts';
import { copyTemplate, createTemplate, type Scratch } from '../adapters/shell/scratch-project.ts';

/** The same programs each time; another number for others. */
const SEED = Number(process.env.SHELL_SEED ?? 1);

let template: ReturnType<typeof createTemplate>;
let scratch: Scratch;

before(() => {
  template = createTemplate();
  scratch = copyTemplate(template.root, 'fuzz');
});

after(() => template.remove());

const ALL = [...COMMANDS, ...ONLY_READ];
const ANY_COMMAND = fc.constantFrom(...ALL.map(({ command }) => command));
const SIGN = fc.constantFrom(...'\'"`$(){}[]<>|&;\\!#*?~= \n\t0aé\0');

function verdictOf(command: string): string {
  const filled = command.replaceAll('@P@', scratch.project).replaceAll('@O@', scratch.outside);
  return decide(readIn(filled, scratch), scratch.project);
}

/** A text with some of its signs taken away, doubled or replaced. */
const MUTATED = fc
  .tuple(ANY_COMMAND, fc.array(fc.tuple(fc.nat(400), fc.nat(2), SIGN), { minLength: 1, maxLength: 6 }))
  .map(([command, changes]) =>
    changes.reduce((text, [at, kind, sign]) => {
      const index = at % (text.length + 1);
      const rest = text.slice(kind === 0 ? index : index + 1);
      return text.slice(0, index) + (kind === 1 ? '' : sign) + rest;
    }, command),
  );

describe('reading a shell command', () => {
  it('ends without an error for any text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.string({ unit: SIGN, maxLength: 300 }),
      MUTATED,
      fc.array(fc.oneof(ANY_COMMAND, MUTATED), { minLength: 2, maxLength: 5 }).map((parts) => parts.join('; ')),
      fc.array(ANY_COMMAND, { minLength: 2, maxLength: 4 }).map((parts) => parts.join(' | ')),
      ANY_COMMAND.map((command) => `bash -c '${command.replaceAll("'", "'\\''")}'`),
      ANY_COMMAND.map((command) => `for i in 1 2; do\n${command}\ndone`),
    );
    fc.assert(
      fc.property(text, (command) => {
        const effects = readIn(command, scratch);
        for (const { path } of effects.writes) assert.ok(path.startsWith('/') && !path.includes('/../'), path);
        for (const line of effects.unresolved) assert.ok(line.length > 0);
      }),
      { numRuns: 1_500, seed: SEED },
    );
  });

  it('gives up on what is too long, too deep or too much', () => {
    const heavy = [
      `echo ${'a'.repeat(100_001)}`,
      `${'('.repeat(300)}touch x${')'.repeat(300)}`,
      `${'$('.repeat(300)}touch x${')'.repeat(300)}`,
      `${'{a,b}'.repeat(20)}`,
      `touch ${'{a,b}'.repeat(20)}`,
      'touch {1..999999999}',
      'f() { f; f; }; f',
      `eval ${'eval '.repeat(200)} "touch x"`,
      'for a in {1..100}; do for b in {1..100}; do for c in {1..100}; do touch $a$b$c; done; done; done',
      'x=a; while true; do x=$x$x; done; touch $x',
      'while true; do x="$x/a"; cd ..; cd "$x"; y=$((y + 1)); touch b; done',
      `x=${'a'.repeat(50_000)}; y=$x$x$x; touch $y`,
      `touch ${'x'.repeat(99_000)}`,
      `sed -e 'a${'\\\\'.repeat(40_000)}' f`,
      `echo ${'*a'.repeat(40_000)}`,
      `cp ${'/'.repeat(90_000)}a b/c`,
      `perl -${'0'.repeat(90_000)}! x`,
      `echo ${'\\\\'.repeat(45_000)}*`,
      `awk '${'/a/ '.repeat(20_000)}'`,
      `${'touch a\n'.repeat(12_000)}`,
      `${'if a; then '.repeat(200)} touch x; ${'fi; '.repeat(200)}`,
    ];
    for (const command of heavy) {
      const { unresolved, writes } = readIn(command, scratch);
      assert.ok(unresolved.length > 0 || writes.length < 10, command.slice(0, 60));
    }
  });

  it('does not depend on blanks, quotes and groups that mean nothing', () => {
    const simple = ALL.filter(({ command }) => isPlain(command)).map(({ command }) => command);
    assert.ok(simple.length > 150);
    const spelt = fc.constantFrom(...simple).chain((command) => fc.tuple(fc.constant(command), spelling(command)));
    fc.assert(
      fc.property(spelt, ([command, other]) => {
        assert.equal(verdictOf(other), verdictOf(command), JSON.stringify({ command, other }));
      }),
      { numRuns: 600, seed: SEED },
    );
  });
});

/** Words without any sign that quotes would change, and none that leave a group which does mean something to them. */
function isPlain(command: string): boolean {
  return (
    /^[\w./@>&|; :=+-]+$/.test(command) &&
    !/(^|[\s;&|])(alias|set|time|if|for|while|case|do|until|coproc|!)\s/.test(command) &&
    !/(^|[\s;&|])(break|continue|return|exit)\b/.test(command) &&
    !/=/.test(command)
  );
}

/** The same command, spelt in another way. */
function spelling(command: string): fc.Arbitrary<string> {
  const whole = fc.constantFrom(
    (text: string) => text,
    (text: string) => `{ ${text}; }`,
    (text: string) => `if ${text}; then :; fi`,
    (text: string) => `  ${text}  # a comment`,
    (text: string) => `\n${text}\n`,
    (text: string) => `eval '${text}'`,
    (text: string) => `f() { ${text}; }; f`,
    (text: string) => `for i in 1; do ${text}; done`,
  );
  const letters = fc.array(fc.nat(5), { minLength: command.length, maxLength: command.length });
  return fc.tuple(whole, letters).map(([around, kinds]) => {
    const hasQuotes = around('').includes("'");
    const spelt = [...command].map((sign, index) => {
      const kind = kinds[index] ?? 0;
      if (sign === ' ') return ['  ', ' ', '\t', ' \\\n', '\t ', ' '][kind] ?? ' ';
      if (!/[a-z/]/.test(sign)) return sign;
      return [sign, sign, `\\${sign}`, `"${sign}"`, hasQuotes ? sign : `'${sign}'`, sign][kind] ?? sign;
    });
    return around(spelt.join(''));
  });
}
