// Compiles files of tests, with what they bring in, and the programs that they start, for Node to read as they are.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Metafile, type Plugin } from 'esbuild';
import { COMPILING } from '../test/support/compiled.ts';
import { groupFiles, isSlow } from './test-files.ts';

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
 * @returns which file holds and imports which
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

const UNCOUNTED = "import { stopCoverage } from 'node:v8';\nstopCoverage();\ndelete process.env.NODE_V8_COVERAGE;\n";
// The first test lasts until all files are loaded: hooks that follow all tests would else run before the last file's.
const FIRST =
  "import test from 'node:test';\nlet loaded;\ntest('files are loaded', () => new Promise((resolve) => { loaded = resolve; }));\n";

/** Entry files that import several compiled files of tests each. Slow tests stop the counters, for what they start too. */
export function testEntries(files: readonly string[], directory: string): readonly string[] {
  return groupFiles(files).map((group, index) => {
    const urls = group.map((file) => pathToFileURL(compiledFile(directory, file)).href);
    const imports = urls.map((url) => `await import(${JSON.stringify(url)});\n`).join('');
    // Node runs them in the order of their names.
    const entry = join(dirname(directory), `${String(index + 1).padStart(3, '0')}.js`);
    writeFileSync(entry, `${group.some(isSlow) ? UNCOUNTED : ''}${FIRST}${imports}loaded();\n`);
    return entry;
  });
}

export type Ended = {
  /** Written by tests-reporter.js. */
  readonly list: string;
  readonly files: readonly string[];
  /** What `compileTests` made, and where. */
  readonly directory: string;
  readonly outputs: Metafile['outputs'];
};

/** Those of the files of which no test ended: none in its compiled file, in a chunk that this imports, or in a source of these. */
export function idleFiles(root: string, { list, files, directory, outputs }: Ended): readonly string[] {
  const ended = new Set(
    readFileSync(list, 'utf8')
      .split('\n')
      .map((file) => relative(root, file)),
  );
  return files.filter((file) => {
    const own = relative(root, compiledFile(directory, file));
    const parts = [own, ...(outputs[own]?.imports ?? []).map(({ path }) => path)];
    return !parts.some(
      (part) => ended.has(part) || Object.keys(outputs[part]?.inputs ?? {}).some((one) => ended.has(one)),
    );
  });
}
