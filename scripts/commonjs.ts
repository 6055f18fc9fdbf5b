// Bundles as CommonJS with shared chunks: esbuild splits ES modules alone, and Node starts CommonJS sooner.

import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

/** Stands for `import.meta.url` between the two steps. */
const MODULE_URL = 'urlOfThisModule';

/** One file of a split bundle, with the path that it is imported by. */
export type Chunk = { readonly path: string; readonly text: string; readonly output: Metafile['outputs'][string] };

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

/** The chunks that those at `paths` load, at their start or later; themselves with them. */
export function chunksBehind(chunks: readonly Chunk[], paths: readonly string[]): ReadonlySet<Chunk> {
  const found = new Set(chunks.filter(({ path }) => paths.includes(path)));
  for (const { output } of found)
    for (const chunk of chunks) if (output.imports.some(({ path }) => path === chunk.path)) found.add(chunk);
  return found;
}

/** Where the imports of a chunk lead, once each chunk is in its place: to one beside it, or to one named by its path. */
function chunkImports({ path: own, text }: Chunk, places: ReadonlyMap<string, string>): Plugin {
  return {
    name: 'chunk-imports',
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ path, kind }) => {
        if (kind === 'entry-point') return { path, namespace: 'chunk' };
        const chunk = path.startsWith('.') ? join(dirname(own), path) : path;
        const place = places.get(chunk);
        if (place === undefined && path.startsWith('.')) return { errors: [{ text: `${own}: no chunk is ${chunk}` }] };
        if (place === undefined) return { path, external: true };
        // Without the ending, which installed copies are without.
        const to = relative(dirname(places.get(own) ?? own), place).replace(/\.js$/, '');
        return { path: to.startsWith('.') ? to : `./${to}`, external: true };
      });
      build.onLoad({ filter: /.*/, namespace: 'chunk' }, () => ({ contents: text }));
    },
  };
}

/** @param placeOf the file that a chunk is written to */
export async function writeCommonJs(
  chunks: readonly Chunk[],
  placeOf: (chunk: Chunk) => string,
  options: BuildOptions,
): Promise<void> {
  const places = new Map(chunks.map((chunk) => [chunk.path, placeOf(chunk)]));
  const banner = `const ${MODULE_URL} = require('node:url').pathToFileURL(__filename).href;`;
  const builds = chunks.map((chunk) => {
    const hasOptional = chunk.output.imports.some(
      ({ kind, external, path }) =>
        kind === 'dynamic-import' && external === true && !places.has(path) && !isBuiltin(path),
    );
    return build({
      ...options,
      entryPoints: { [placeOf(chunk).replace(/\.js$/, '')]: chunk.path },
      outdir: '.',
      format: 'cjs',
      // Not named in the file: Node would read it in each process that counts coverage.
      sourcemap: 'external',
      plugins: [chunkImports(chunk, places)],
      // Of gray-matter, for front matter in JavaScript, which is refused.
      logOverride: { 'direct-eval': 'silent' },
      // As `require`: the loader of ES modules takes longer than a hook. An optional package may be one.
      supported: { 'dynamic-import': hasOptional },
      banner: chunk.text.includes(MODULE_URL) ? { js: banner } : {},
    });
  });
  await Promise.all(builds);
}
