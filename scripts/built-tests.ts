// The second form of network tests: their own code as it is, and what they test of src as the build bundles it.

import { extname, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Metafile, type Plugin } from 'esbuild';
import { COMPILING } from '../test/support/compiled.ts';
import { COMMAND_SETTINGS, commonSettings } from './bundling.ts';
import { ownPlace } from './compile-tests.ts';

const SRC = 'src/';
const PACKAGES = 'node_modules/';
/** Modules that open sockets. `net` holds address arithmetic as well, so it alone shows no socket. */
const NETWORK = /^(?:node:)?(?:http|https|http2|net|tls)$/;
const ADDRESSES = /^(?:node:)?net$/;

/** Network tests that need no second form, and why: each takes long and its sockets are those of others. */
const SOURCE_ALONE: ReadonlyMap<string, string> = new Map([
  ['test/daemon/runners/team-runner.integration.test.ts', 'agent-socket.test.ts has the same sockets'],
  ['test/cli/demo/demo.integration.test.ts', 'it starts dist/ itself'],
  [
    'test/cli/doctor/doctor.integration.test.ts',
    'doctor-network.integration.test.ts and doctor-labels.test.ts have the same requests',
  ],
]);

/** Files that these bring in, themselves with them, and modules of the network that those import. */
function reachedFrom({ inputs }: Metafile, starts: readonly string[]) {
  const files = new Set(starts);
  const network = new Set<string>();
  for (const file of files)
    for (const { path, external } of inputs[file]?.imports ?? []) {
      if (external !== true) files.add(path);
      else if (NETWORK.test(path) && !file.startsWith(PACKAGES)) network.add(path);
    }
  return { files: [...files], network: [...network] };
}

function importedSources({ inputs }: Metafile, file: string): readonly string[] {
  return (inputs[file]?.imports ?? []).flatMap(({ path, external }) =>
    external !== true && path.startsWith(SRC) ? [path] : [],
  );
}

/**
 * The tests that exercise code of the network: sources that they import themselves reach its modules, and a socket is opened by
 * these, by the tests, or by a played service. Without those of `SOURCE_ALONE`.
 * @param metafile of the compilation of `files`
 */
export function networkTests(metafile: Metafile, files: readonly string[]): readonly string[] {
  return files.filter((file) => {
    if (SOURCE_ALONE.has(file)) return false;
    const isOpened = reachedFrom(metafile, [file]).network.some((name) => !ADDRESSES.test(name));
    return isOpened && reachedFrom(metafile, importedSources(metafile, file)).network.length > 0;
  });
}

function withoutEnding(file: string): string {
  return file.slice(0, -extname(file).length);
}

/** Tests and their support take sources from where the bundle of them stands. */
function fromBundle(root: string, bundle: string): Plugin {
  const sources = join(root, SRC);
  return {
    name: 'from-bundle',
    setup({ onResolve }) {
      onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, importer, resolveDir }) => {
        const source = resolve(resolveDir, path);
        if (importer === '' || !source.startsWith(sources)) return undefined;
        const bundled = join(bundle, `${withoutEnding(relative(root, source))}.js`);
        return { path: pathToFileURL(bundled).href, external: true };
      });
    },
  };
}

/**
 * Bundles the command by the settings of dist/, with an entry for each source that these tests and their support import, then
 * compiles the tests against these entries.
 * @param metafile of the compilation of `tests`
 * @param directory below the project: what is made of `x/y.ts` is put there as `x/y.js`
 */
export async function compileBuiltTests(
  root: string,
  tests: readonly string[],
  metafile: Metafile,
  directory: string,
): Promise<void> {
  const bundle = join(directory, 'bundle');
  const own = reachedFrom(metafile, tests).files.filter((file) => !file.startsWith(SRC) && !file.startsWith(PACKAGES));
  const sources = new Set(own.flatMap((file) => importedSources(metafile, file)));
  const entries = [...sources].map((source) => [withoutEnding(source.replaceAll('/', sep)), source]);
  await build({
    ...commonSettings(root),
    ...COMMAND_SETTINGS,
    entryPoints: { cli: 'src/cli.ts', ...Object.fromEntries(entries) },
    outdir: bundle,
  });
  await build({
    ...COMPILING,
    absWorkingDir: root,
    entryPoints: [...tests],
    outbase: root,
    outdir: directory,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    plugins: [fromBundle(root, bundle), ownPlace],
  });
}
