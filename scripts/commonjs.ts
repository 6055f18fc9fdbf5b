// Bundles as CommonJS with shared chunks: esbuild splits ES modules alone, and Node starts CommonJS sooner.

import { createRequire, isBuiltin } from 'node:module';
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

/** Imports of a chunk lead to those beside it, without the ending, which installed copies are without. */
function chunkImports({ path: own, text }: Chunk, paths: ReadonlySet<string>): Plugin {
  return {
    name: 'chunk-imports',
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ path, kind }) => {
        if (kind === 'entry-point') return { path, namespace: 'chunk' };
        const chunk = path.startsWith('.') ? join(dirname(own), path) : path;
        if (!paths.has(chunk))
          return path.startsWith('.')
            ? { errors: [{ text: `${own}: no chunk is ${chunk}` }] }
            : { path, external: true };
        const to = relative(dirname(own), chunk).replace(/\.js$/, '');
        return { path: to.startsWith('.') ? to : `./${to}`, external: true };
      });
      build.onLoad({ filter: /.*/, namespace: 'chunk' }, () => ({ contents: text }));
    },
  };
}

function isLoadable(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** @throws where a chunk needs at its start what `require` cannot load. @param optional packages that may not be there */
export async function writeCommonJs(
  chunks: readonly Chunk[],
  optional: readonly string[],
  options: BuildOptions,
): Promise<void> {
  const paths = new Set(chunks.map(({ path }) => path));
  const banner = `const ${MODULE_URL} = require('node:url').pathToFileURL(__filename).href;`;
  const builds = chunks.map((chunk) => {
    const outside = chunk.output.imports.filter(
      ({ path, external }) => external === true && !paths.has(path) && !isBuiltin(path),
    );
    const others = outside.filter(({ path }) => optional.includes(path) || !isLoadable(path));
    const needed = others.find(({ kind }) => kind !== 'dynamic-import');
    if (needed !== undefined) throw new Error(`${chunk.path}: import ${needed.path} late: require cannot load it`);
    return build({
      ...options,
      entryPoints: { [chunk.path.replace(/\.js$/, '')]: chunk.path },
      outdir: '.',
      format: 'cjs',
      // Not named in the file: Node would read it in each process that counts coverage.
      sourcemap: 'external',
      plugins: [chunkImports(chunk, paths)],
      // As `require`, which also loads most ES modules: their own loader takes longer than a hook.
      supported: { 'dynamic-import': others.length > 0 },
      banner: chunk.text.includes(MODULE_URL) ? { js: banner } : {},
    });
  });
  await Promise.all(builds);
}
