// The rooms of src: their size, and how often each imports another. With --check: the rules for a room that need no imports.
// usage: tsx scripts/rooms.ts [--check] [root]

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import ts from 'typescript';

const MOST_README_LINES = 30;
/** Of all lines of src. */
const LARGEST_SHARE = 0.3;

type Room = {
  readonly name: string;
  readonly files: number;
  readonly lines: number;
  readonly imports: readonly number[];
};

const project = dirname(dirname(fileURLToPath(import.meta.url)));
const { values, positionals } = parseArgs({ options: { check: { type: 'boolean' } }, allowPositionals: true });
const root = resolve(positionals[0] ?? project);
/** In their order: a room imports those before it. */
const { ROOMS }: { ROOMS: readonly string[] } = createRequire(import.meta.url)(
  join(project, '.dependency-cruiser.cjs'),
);

const linesOf = (text: string) => text.split('\n').length - 1;

function readRoom(name: string): Room {
  const directory = join(root, 'src', name);
  const imports = ROOMS.map(() => 0);
  let [files, lines] = [0, 0];
  const all = existsSync(directory) ? readdirSync(directory, { recursive: true, encoding: 'utf8' }) : [];
  for (const path of all.filter((file) => file.endsWith('.ts'))) {
    const text = readFileSync(join(directory, path), 'utf8');
    files += 1;
    lines += linesOf(text);
    for (const { fileName } of ts.preProcessFile(text, true, true).importedFiles) {
      const [, room = ''] = /^src\/([^/]+)\//.exec(join('src', name, dirname(path), fileName)) ?? [];
      const at = ROOMS.indexOf(room);
      if (fileName.startsWith('.') && at >= 0) imports[at] = (imports[at] ?? 0) + 1;
    }
  }
  return { name, files, lines, imports };
}

/** A row for each room, a column for each room that it imports: what stands right of the diagonal would be a wrong direction. */
function drawing(rooms: readonly Room[], all: number): string {
  const width = Math.max(...ROOMS.map((name) => name.length));
  const cell = (text: string | number) => String(text).padStart(width + 1);
  const percent = (lines: number) => `${((100 * lines) / all).toFixed(1)} %`;
  const head = [
    'room'.padEnd(width),
    ...['files', 'lines', 'share'].map((word) => word.padStart(8)),
    ...ROOMS.map(cell),
  ];
  const rows = rooms.map(({ name, files, lines, imports }, row) => [
    name.padEnd(width),
    ...[files, lines, percent(lines)].map((text) => String(text).padStart(8)),
    ...imports.map((count, column) => cell(row === column ? '·' : count || '')),
  ]);
  return [head, ...rows].map((row) => row.join('').trimEnd()).join('\n');
}

function problemsOf({ name, files, lines }: Room, all: number): readonly string[] {
  const readme = join(root, 'src', name, 'README.md');
  const length = existsSync(readme) ? linesOf(readFileSync(readme, 'utf8')) : 0;
  return [
    ...(files === 0 ? [`src/${name}: expected a room with files, got none`] : []),
    ...(length === 0
      ? [`src/${name}/README.md: expected the room's purpose, terms and first files, got no such file`]
      : []),
    ...(length > MOST_README_LINES
      ? [`src/${name}/README.md: expected at most ${MOST_README_LINES} lines, got ${length}`]
      : []),
    ...(lines > LARGEST_SHARE * all
      ? [
          `src/${name}: expected at most ${100 * LARGEST_SHARE} % of the lines of src, got ${((100 * lines) / all).toFixed(1)} %`,
        ]
      : []),
  ];
}

const rooms = ROOMS.map(readRoom);
const all = rooms.reduce((sum, { lines }) => sum + lines, 0);
const problems = values.check ? rooms.flatMap((room) => problemsOf(room, all)) : [];
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
else process.stdout.write(values.check ? `rooms hold: ${rooms.length} looked at\n` : `${drawing(rooms, all)}\n`);
