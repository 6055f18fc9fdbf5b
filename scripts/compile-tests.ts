// Compiles files of tests, with what they bring in, and the programs that they start, for Node to read as they are.

import { readdirSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, extname, join, relative, resolve } from 'node:path';
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
  const { metafile } = await build({
    ...COMPILING,
    metafile: true,
    absWorkingDir: root,
    entryPoints: [...files, ...programs.map((name) => join(PROGRAMS, name))],
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

/** The path in the project of the source at a place (from 1) of a compiled file; the file itself, where it has no map. */
export function sourceAt(root: string, file: string, line: number, column: number): string {
  let map: string;
  try {
    map = readFileSync(`${file}.map`, 'utf8');
  } catch {
    return relative(root, file);
  }
  const found = new SourceMap(JSON.parse(map)).findEntry(line - 1, column - 1);
  return relative(root, 'originalSource' in found ? resolve(dirname(file), found.originalSource) : file);
}
