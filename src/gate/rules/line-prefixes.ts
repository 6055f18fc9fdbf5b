// Output of tools that run several scripts at once and say before each line whose it is: the lines of each together, as it wrote them.

import { plainText } from './test-output.ts';

/** What such a tool writes of a script itself, as the first of its lines or the last: what stands before all of them. */
const OWN_LINES: readonly RegExp[] = [
  // pnpm -r
  /^(\S+ \S+: )\$ ./gm,
  // concurrently
  /^(\[[^\]\n]+\] )\S.* exited with code (?:\d+|SIG[A-Z]+)$/gm,
  // npm-run-all: what npm prints of a script, behind its name; lerna: behind the name of its package
  /^(\[(\S+) *\] )> \S+@\S+ \2$/gm,
  /^((\S+): )> \2@\S+ \S/gm,
  // turbo
  /^([^\s:]+:\S+: )cache (?:hit|miss|bypass|disabled)\b/gm,
];

/** How the lines begin, with those. */
const STARTS: readonly RegExp[] = [/^\[[^\]\n]+\] /, /^\S+: /, /^\S+ \S+: /];

/** One of these tools may run another one. */
const DEEPEST = 3;

/** pnpm's first line of a script, `packages/a test$ node --test`, as its others are: `packages/a test: …`. */
function withFirstLines(stream: string): string {
  const starts = new Set(stream.match(/^\S+ \S+(?=: )/gm));
  return stream.replace(/^(\S+ \S+)\$ (?=.)/gm, (line, start: string) => (starts.has(start) ? `${start}: $ ` : line));
}

/** The lines of each script where its first one stood. */
function sorted(stream: string, prefixes: ReadonlySet<string>): string {
  const parts: string[][] = [];
  const own = new Map<string, string[]>();
  for (const line of stream.split('\n')) {
    const prefix = STARTS.map((start) => start.exec(line)?.[0] ?? '').find((start) => prefixes.has(start)) ?? '';
    const part = own.get(prefix) ?? [];
    if (part.length === 0) parts.push(part);
    part.push(line.slice(prefix.length));
    if (prefix !== '') own.set(prefix, part);
  }
  return parts.flat().join('\n');
}

/** The streams of one command; as they are where no such tool has written them. */
export function withoutPrefixes(streams: readonly string[]): readonly string[] {
  let told = streams;
  for (let depth = 0; depth < DEEPEST; depth++) {
    const plain = told.map((stream) => withFirstLines(plainText(stream)));
    const text = plain.join('\n');
    const prefixes = new Set(OWN_LINES.flatMap((line) => [...text.matchAll(line)].map(([, start = '']) => start)));
    if (prefixes.size === 0) break;
    told = plain.map((stream) => sorted(stream, prefixes));
  }
  return told;
}
