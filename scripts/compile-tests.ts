// Compiles files of tests, with what they bring in, and the programs that they start, for Node to read as they are.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Metafile, type Plugin } from 'esbuild';
import { COMPILING } from '../test/support/compiled.ts';

const PROGRAMS = join('test', 'support', 'programs');

/** A test that asks where it stands is told where it stands, not what was made of it. */
export const ownPlace: Plugin = {
  name: 'own-place',
  setup({ onLoad }) {
    onLoad({ filter: /\/test\/.*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
      loader: 'ts',
    }));
  },
};

/**
 * @param files of tests, by their paths in the project
 * @param directory of the project, or below: what is made of `x/y.ts` is put there as `x/y.js`
 * @returns which file brings in which
 */
export async function compileTests(root: string, files: readonly string[], directory: string): Promise<Metafile> {
  const programs = readdirSync(join(root, PROGRAMS)).filter((name) => extname(name) === '.ts');
  return compile(root, [...files, ...programs.map((name) => join(PROGRAMS, name))], directory);
}

/** The same for one file, without the programs: it compiles those that it starts. */
export async function compileTest(root: string, file: string, directory: string): Promise<void> {
  await compile(root, [file], directory, 'silent');
}

async function compile(
  root: string,
  entryPoints: string[],
  directory: string,
  logLevel: 'warning' | 'silent' = 'warning',
): Promise<Metafile> {
  const { metafile } = await build({
    ...COMPILING,
    logLevel,
    metafile: true,
    absWorkingDir: root,
    entryPoints,
    outbase: root,
    outdir: directory,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    plugins: [ownPlace],
  });
  return metafile;
}

/** The compiled file of a file of tests. */
export function compiledFile(directory: string, file: string): string {
  return join(directory, `${file.slice(0, -extname(file).length)}.js`);
}

type Grouping = {
  /** Those of a lower rank come first by their names. */
  readonly rank: number;
  readonly perProcess: number;
  /** So many entries, as far as there are files. */
  readonly atLeast: number;
  /** Whether it counts what a file reaches; others stop the counters, for what they start too. */
  readonly isCounted: (file: string) => boolean;
};

const UNCOUNTED = "import { stopCoverage } from 'node:v8';\nstopCoverage();\ndelete process.env.NODE_V8_COVERAGE;\n";

/** Entry files that import several compiled files of tests each: most take less time than the start of a process. */
export function testEntries(
  files: readonly string[],
  directory: string,
  { rank, perProcess, atLeast, isCounted }: Grouping,
): readonly string[] {
  const count = Math.max(Math.ceil(files.length / perProcess), Math.min(files.length, atLeast));
  return Array.from({ length: count }, (_, group) => {
    const ours = files.filter((_, index) => index % count === group);
    const imports = ours
      .map((file) => `await import(${JSON.stringify(pathToFileURL(compiledFile(directory, file)).href)});\n`)
      .join('');
    // The first test lasts until all files are loaded: hooks that follow all tests would else run before the last file's.
    const first =
      "import test from 'node:test';\nlet loaded;\ntest('files are loaded', () => new Promise((resolve) => { loaded = resolve; }));\n";
    const entry = join(dirname(directory), `${rank}-${basename(directory)}-${String(group + 1).padStart(3, '0')}.js`);
    writeFileSync(entry, `${ours.every(isCounted) ? '' : UNCOUNTED}${first}${imports}loaded();\n`);
    return entry;
  });
}

/** The path in the project of the source at a place (from 1) of a compiled file; the file itself, where it has no map. */
function sourceAt(root: string, file: string, line: number, column: number): string {
  let map: string;
  try {
    map = readFileSync(`${file}.map`, 'utf8');
  } catch {
    return relative(root, file);
  }
  const found = new SourceMap(JSON.parse(map)).findEntry(line - 1, column - 1);
  return relative(root, 'originalSource' in found ? resolve(dirname(file), found.originalSource) : file);
}

/** Those of the files of which no test ended. @param list written by tests-reporter.js */
export function idleFiles(root: string, list: string, files: readonly string[]): readonly string[] {
  const lines = readFileSync(list, 'utf8').split('\n').filter(Boolean);
  const ended = lines.map((line) => JSON.parse(line)).map((one) => sourceAt(root, one.file, one.line, one.column));
  const sources = new Set(ended);
  // A test may stand in a module that several files import.
  const imports = (file: string, path: string) =>
    readFileSync(join(root, file), 'utf8').includes(`/${basename(path)}'`);
  return files.filter((file) => !sources.has(file) && ![...sources].some((path) => imports(file, path)));
}
