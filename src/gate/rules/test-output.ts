// The output of a test runner: how many tests ran or were skipped, and the names of those that failed.

import { oneLine } from '../../base/rules/text.ts';

export type TestOutput = {
  /** Tests that ran, skipped ones left out; null when no summary was recognised. */
  readonly ran: number | null;
  /** Of those, what the runner itself says of failures; null when no summary was recognised. */
  readonly failures: number | null;
  /** Tests that were skipped, or are still to be done; null when no summary was recognised. */
  readonly skipped: number | null;
  /** Names of failing tests, each once, in the order of the output. */
  readonly failed: readonly string[];
};

type Counts = { readonly ran: number; readonly failures: number; readonly skipped: number };

/** What colours a terminal. */
const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[ -/]*[@-~]`, 'g');
/** More failing tests are not named. */
export const MAX_NAMED = 50;

/** Jest, vitest, go and Node say so where they find no test. */
const NONE_FOUND = /^(?:Error: )?No tests? (?:files )?found|^no packages to test$|^Could not find '[^'\n]+'$/gm;

function all(text: string, pattern: RegExp): readonly (readonly string[])[] {
  return [...text.matchAll(pattern)].map((match) => match.map((group) => group ?? ''));
}

function numberBefore(line: string, word: string): number {
  return Number(new RegExp(`(\\d+) ${word}\\b`).exec(line)?.[1] ?? 0);
}

/** `1 failed, 2 passed, 1 skipped`, in the words of jest, vitest and pytest. */
function wordCounts(line: string): Counts {
  const failures = numberBefore(line, 'failed') + numberBefore(line, 'errors?');
  const others = ['passed', 'xfailed', 'xpassed'].reduce((sum, word) => sum + numberBefore(line, word), 0);
  const skipped = numberBefore(line, 'skipped') + numberBefore(line, 'todo');
  return { ran: failures + others, failures, skipped };
}

/** One reader per way of saying it; each gives the counts of every summary of its kind. */
const SUMMARIES: readonly ((text: string) => readonly Counts[])[] = [
  // node:test (spec and TAP)
  (text) =>
    all(
      text,
      /^(?:ℹ|#) pass (\d+)\n(?:ℹ|#) fail (\d+)\n(?:ℹ|#) cancelled (\d+)(?:\n(?:ℹ|#) skipped (\d+))?(?:\n(?:ℹ|#) todo (\d+))?$/gm,
    ).map(([, pass, fail, cancelled, skipped, todo]) => {
      const failures = Number(fail) + Number(cancelled);
      return { ran: Number(pass) + failures, failures, skipped: Number(skipped) + Number(todo) };
    }),
  // jest, vitest
  (text) =>
    all(text, /^ *Tests:? +(.*\d+ (?:failed|passed|skipped|todo|total).*)$/gm).map(([, line = '']) => wordCounts(line)),
  (text) => all(text, NONE_FOUND).map(() => ({ ran: 0, failures: 0, skipped: 0 })),
  // pytest
  (text) =>
    all(
      text,
      /^(?:=+ )?((?:\d+ (?:passed|failed|errors?|skipped|x\w+|deselected|warnings?)\b|no tests ran\b).*) in \d[\d.:]*m?s\b.*$/gm,
    ).map(([, line = '']) => wordCounts(line)),
  // unittest
  (text) =>
    all(text, /^Ran (\d+) tests? in .*\n\n(OK|FAILED|NO TESTS RAN)(.*)$/gm).map(([, ran, , line = '']) => {
      const named = (word: string) => Number(new RegExp(`${word}=(\\d+)`).exec(line)?.[1] ?? 0);
      const skipped = named('skipped');
      return { ran: Number(ran) - skipped, failures: named('failures') + named('errors'), skipped };
    }),
  // cargo test
  (text) =>
    all(text, /^test result: .*?(\d+) passed; (\d+) failed;(?: (\d+) ignored;)?/gm).map(([, pass, fail, ignored]) => ({
      ran: Number(pass) + Number(fail),
      failures: Number(fail),
      skipped: Number(ignored),
    })),
];

/** `go test` counts packages, not tests: known is only that none of them has any. */
function goCounts(text: string): readonly Counts[] {
  const empty = /^\?\s+\S+\s+\[no test files\]|^ok\s.*\[no tests to run\]/m.test(text);
  const some = /^(ok|FAIL)\s+\S+(?!.*\[no tests to run\])|^--- /m.test(text);
  return empty && !some ? [{ ran: 0, failures: 0, skipped: 0 }] : [];
}

/** One reader per way of naming a failing test. */
const NAMES: readonly ((text: string) => readonly string[])[] = [
  tapNames,
  // node:test (spec): each failing test again at the end, with its place
  (text) => {
    // Of several runs each has its own end.
    const end = text.indexOf('✖ failing tests:');
    const section = end === -1 ? '' : text.slice(end);
    return all(section, /^test at (.+)\n✖ (.+?)(?: \([\d.]+ms\))?$/gm).map(([, place = '', name = '']) =>
      withPlace(name, place),
    );
  },
  // vitest names file, suites and test; jest the suites and the test below the file
  (text) => all(text, /^ ?FAIL {2}(.+ > .+)$/gm).map(([, name = '']) => name),
  (text) => all(text, /^ ?FAIL {2}(?:\|.+\| )?(\S+\.\w+) \[ .+ \]$/gm).map(([, name = '']) => name),
  jestNames,
  (text) => all(text, /^(?:FAILED|ERROR) (\S+\.py(?:::.*?)?)(?: - .*)?$/gm).map(([, name = '']) => name),
  unittestNames,
  goNames,
  cargoNames,
];

/** A file that fails as a whole is its own place. */
function withPlace(name: string, place: string): string {
  return name.endsWith(place.replace(/:\d+:\d+$/, '')) ? name : `${name} (${place})`;
}

/** Failing points of TAP, but those that fail only for what is inside them, and those still to be done. */
function tapNames(text: string): readonly string[] {
  return all(text, /^ *not ok \d+(?: - | )(.+)\n?((?: *---\n)?(?:(?! *(?:not )?ok \d| *\.\.\.$).*\n)*)/gm)
    .filter(
      ([, name = '', more = '']) => !/ # (SKIP|TODO)\b/i.test(name) && !more.includes("failureType: 'subtestsFailed'"),
    )
    .map(([, name = '', more = '']) => {
      const place = /^ *location: '(.+)'$/m.exec(more)?.[1];
      return place === undefined ? name : withPlace(name, place);
    });
}

/** The tests of each file that fails, below the line that names it. */
function jestNames(text: string): readonly string[] {
  let file: string | undefined;
  return all(text, /^ ?FAIL (?! )(?:.*? )?(\S+\.\w+)(?: \([\d.]+ m?s\))?$|^ {2}● (?!Console\b)(.+)$/gm).flatMap(
    ([, path = '', name = '']) => {
      if (path !== '') file = path;
      if (name === '') return [];
      return [file === undefined ? name : withPlace(name, file)];
    },
  );
}

/** What a stack names first that is no part of Node, or of what is installed. */
function topOf(stack: string): string | undefined {
  return all(stack, /^\s+at (?:.*\()?([^\s()]+:\d+:\d+)\)?$/gm)
    .map(([, place = '']) => place)
    .find((place) => !/^node:|(?:^|\/)node_modules\//.test(place));
}

/** Each below a line of its own, with the place in its file in the trace that follows. */
function unittestNames(text: string): readonly string[] {
  return text.split(/^={20,}$/m).flatMap((part) => {
    const words = /^\n(?:FAIL|ERROR): (\S+ \(.+\))$/m.exec(part)?.[1];
    const [, path, line] = /^ {2}File "(.+)", line (\d+), in /m.exec(part) ?? [];
    const name = words?.replace(/^(\S+) \((.+)\.\1\)$/, '$2.$1');
    if (name === undefined) return [];
    return [path === undefined ? name : withPlace(name, `${path}:${line}`)];
  });
}

/**
 * Failing tests of Go, but those that fail only for a test inside them; packages that could not be built. Go names files without
 * their folders, and below them the package.
 */
function goNames(text: string): readonly string[] {
  const packages = text.split(/(?<=^(?:FAIL|ok)[ \t]+\S+.*\n)/m);
  const tests = packages.flatMap((part) => {
    const name = /^FAIL[ \t]+(\S+)[ \t]+[\d.]+s$/m.exec(part)?.[1];
    const found = all(part, /^ *--- FAIL: (\S+).*\n(?: +([\w.-]+_test\.go:\d+):)?/gm);
    return found
      .filter(([, test = '']) => !found.some(([, other = '']) => other.startsWith(`${test}/`)))
      .map(([, test = '', place = '']) => (place === '' ? test : withPlace(test, inPackage(place, name))));
  });
  const unbuilt = all(text, /^FAIL\s+(\S+) (\[(?:build|setup) failed\])$/gm).map(([, name = '', why = '']) => {
    const said = text.slice(text.search(new RegExp(`^# ${name.replace(/[.+]/g, '\\$&')}(?: |$)`, 'm')));
    const place = /^# .*\n(?:\.\/)?(\S+\.go:\d+:\d+):/.exec(said)?.[1];
    return place === undefined ? `${name} ${why}` : withPlace(`${name} ${why}`, place);
  });
  return [...tests, ...unbuilt];
}

function inPackage(place: string, name: string | undefined): string {
  return name === undefined ? place : `${name}/${place}`;
}

/** With the place where each of them panicked. */
function cargoNames(text: string): readonly string[] {
  return all(text, /^test (.+?) \.\.\. FAILED$/gm).map(([, name = '']) => {
    const thread = `thread '${name}'`;
    const said = text.split('\n').find((line) => line.startsWith(thread)) ?? '';
    const place = / panicked at (?:'.*', )?(\S+\.rs:\d+:\d+):?$/.exec(said)?.[1];
    return place === undefined ? name : withPlace(name, place);
  });
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function unescaped(text: string): string {
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}

/** Failing tests of a JUnit report, where that is all there is to read. */
function junitNames(text: string): readonly string[] {
  return text.split(/^(?=[ \t]*<testcase\b)/m).flatMap((part) => {
    const own = /^\s*<testcase((?:\s+[\w:.-]+="[^"]*")*)\s*>\s*<(?:failure|error)\b/.exec(part)?.[1] ?? '';
    const name = /\sname="([^"]*)"/.exec(own)?.[1];
    const place = topOf(unescaped(part));
    if (name === undefined) return [];
    return [place === undefined ? unescaped(name) : withPlace(unescaped(name), place)];
  });
}

/** Output without its colours. */
export function plainText(output: string): string {
  return output.replace(ESCAPES, '').replaceAll('\r\n', '\n');
}

export function readTestOutput(output: string): TestOutput {
  const text = plainText(output);
  const counts = [...SUMMARIES.flatMap((read) => read(text)), ...goCounts(text)];
  const sum = (pick: (count: Counts) => number) =>
    counts.length === 0 ? null : counts.reduce((total, count) => total + pick(count), 0);
  const named = NAMES.flatMap((read) => read(text));
  const failed = (named.length + counts.length === 0 ? junitNames(text) : named).map((name) => oneLine(name));
  return {
    ran: sum((count) => count.ran),
    failures: sum((count) => count.failures),
    skipped: sum((count) => count.skipped),
    failed: [...new Set(failed)].slice(0, MAX_NAMED),
  };
}
