// Bundles as CommonJS with shared chunks: esbuild splits ES modules alone, and Node starts CommonJS sooner.

import { isBuiltin } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

/** Stands for `import.meta.url` between the two steps. */
const MODULE_URL = 'urlOfThisModule';

/** One file of a split bundle. */
export type Chunk = { readonly path: string; readonly text: string; readonly output: Metafile['outputs'][string] };

/** A file to write, with one chunk, or with several that run when they are first asked for. */
export type OutputFile = { readonly path: string; readonly chunks: readonly Chunk[] };

/** @returns chunks as ES modules; paths are below the working directory of the build */
export async function splitBundle(options: BuildOptions) {
  const { outputFiles, metafile } = await build({
    ...options,
    format: 'esm',
    splitting: true,
    write: false,
    metafile: true,
    sourcemap: 'inline',
    define: { ...options.define, 'import.meta.url': MODULE_URL },
  });
  const chunks = outputFiles.map((file): Chunk => {
    const path = relative(options.absWorkingDir ?? '.', file.path);
    const output = metafile.outputs[path];
    if (output === undefined) throw new Error(`${path}: the build does not describe it`);
    return { path, text: file.text, output };
  });
  return { chunks, metafile };
}

/** The chunks that `path` loads at its start, or with `later` ever; itself with them. */
export function chunksBehind(chunks: readonly Chunk[], path: string, later = false): ReadonlySet<Chunk> {
  const found = new Set(chunks.filter((chunk) => chunk.path === path));
  for (const { output } of found)
    for (const { path, kind } of output.imports)
      if (later || kind === 'import-statement') for (const chunk of chunks) if (chunk.path === path) found.add(chunk);
  return found;
}

/** As `require` asks for it, without the ending, which installed copies are without. */
function reference(from: string, to: string): string {
  const path = relative(dirname(from), to).replace(/\.js$/, '');
  return path.startsWith('.') ? path : `./${path}`;
}

function exported(path: string): string {
  return JSON.stringify(basename(path, '.js'));
}

/** Where the imports of a chunk lead, once each chunk is in its file: one beside it, or one named by its path. */
function chunkImports(file: OutputFile, fileOf: ReadonlyMap<string, OutputFile>): Plugin {
  return {
    name: 'chunk-imports',
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ path, importer, kind, namespace }) => {
        if (kind === 'entry-point') return { path, namespace: 'chunk' };
        if (namespace !== 'chunk') return { path, external: true };
        const own = path.startsWith('.') ? join(dirname(importer), path) : path;
        const home = fileOf.get(own);
        if (home === undefined && path.startsWith('.'))
          return { errors: [{ text: `${importer}: no chunk is ${own}` }] };
        if (home === undefined) return { path, external: true };
        if (home === file) return { path: own, namespace: 'chunk' };
        if (home.chunks.length > 1) return { path: own, namespace: 'chunk-of-several' };
        return { path: reference(file.path, home.path), external: true };
      });
      build.onLoad({ filter: /.*/, namespace: 'chunk' }, ({ path }) => {
        const text = file.chunks.find((chunk) => chunk.path === path)?.text;
        const members = file.chunks.map((chunk) => {
          const name = `${reference(file.path, chunk.path)}.js`;
          return `exports[${exported(chunk.path)}] = () => require(${JSON.stringify(name)});`;
        });
        return { contents: text ?? members.join('\n') };
      });
      build.onLoad({ filter: /.*/, namespace: 'chunk-of-several' }, ({ path }) => {
        const from = reference(file.path, fileOf.get(path)?.path ?? '');
        return { contents: `module.exports = require(${JSON.stringify(from)})[${exported(path)}]();` };
      });
    },
  };
}

export async function writeCommonJs(files: readonly OutputFile[], options: BuildOptions): Promise<void> {
  const fileOf = new Map(files.flatMap((file) => file.chunks.map((chunk) => [chunk.path, file])));
  const builds = files.map((file) => {
    const [first] = file.chunks;
    const imports = file.chunks.flatMap(({ output }) => output.imports);
    const hasOptional = imports.some(
      ({ kind, external, path }) =>
        kind === 'dynamic-import' && external === true && !fileOf.has(path) && !isBuiltin(path),
    );
    const banner = `const ${MODULE_URL} = require('node:url').pathToFileURL(__filename).href;`;
    return build({
      ...options,
      entryPoints: { [file.path.replace(/\.js$/, '')]: file.chunks.length === 1 && first ? first.path : file.path },
      outdir: '.',
      format: 'cjs',
      plugins: [chunkImports(file, fileOf)],
      // Of gray-matter, for front matter in JavaScript, which is refused.
      logOverride: { 'direct-eval': 'silent' },
      // As `require`: the loader of ES modules takes longer than a hook. An optional package may be one.
      supported: { 'dynamic-import': hasOptional },
      banner: file.chunks.some(({ text }) => text.includes(MODULE_URL)) ? { js: banner } : {},
    });
  });
  await Promise.all(builds);
}
