// Builds dist/: one bundled command whose commands are chunks of their own, the team server, and a file for each hook.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { buildGuard } from './build-guard.ts';
import { COMMAND_SETTINGS, commonSettings, noForms } from './bundling.ts';
import { billOf, readBill } from './sbom.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(root, 'dist');

rmSync(out, { recursive: true, force: true });

const common = {
  ...commonSettings(root),
  outdir: 'dist',
  minify: !process.argv.includes('--readable'),
} as const satisfies BuildOptions;

const hookFiles = readdirSync(join(root, 'hooks')).filter((name) => name.endsWith('.ts'));
/**
 * Hooks start for every call of a tool: as CommonJS, which starts faster, and without what is only imported when it is
 * needed, which becomes files of their own in `parts/`.
 */
async function buildHooks() {
  const parts = new Map<string, string>();
  const leaveOut = (from: string): Plugin => ({
    name: 'parts',
    setup(build) {
      build.onResolve({ filter: /^\./ }, ({ path, kind, resolveDir }) => {
        // Parts of a package stay within it.
        if (kind !== 'dynamic-import' || resolveDir.includes('/node_modules/')) return undefined;
        const source = resolve(resolveDir, path);
        // Without the ending, which the installed copies are without.
        parts.set(source, basename(source, '.ts'));
        return { path: `./${from}${parts.get(source)}`, external: true };
      });
    },
  });
  const commonJs = {
    ...common,
    format: 'cjs',
    keepNames: false,
    define: { ...common.define, 'import.meta.url': '""' },
    // As `require`: the loader of ES modules alone would take longer than a hook.
    supported: { 'dynamic-import': false },
  } as const;
  const hooks = hookFiles.map((name) => [`hooks/${name.slice(0, -3)}`, `hooks/${name}`]);
  const entries = { ...Object.fromEntries(hooks), 'hooks/team-server': 'src/mcp.ts' };
  const results = [await build({ ...commonJs, entryPoints: entries, plugins: [noForms, leaveOut('parts/')] })];
  const done = new Set<string>();
  for (let open = [...parts.keys()]; open.length > 0; open = [...parts.keys()].filter((source) => !done.has(source))) {
    const more = Object.fromEntries(open.map((source) => [`hooks/parts/${basename(source, '.ts')}`, source]));
    results.push(await build({ ...commonJs, entryPoints: more, plugins: [noForms, leaveOut('')] }));
    for (const source of open) done.add(source);
  }
  if (new Set(parts.values()).size !== parts.size) throw new Error('two parts of the hooks have one name');
  writeFileSync(join(out, 'hooks', 'package.json'), '{\n  "type": "commonjs"\n}\n');
  return results;
}

const wholeBill = readBill(root);
const built = await Promise.all([
  build({
    ...common,
    ...COMMAND_SETTINGS,
    entryPoints: { cli: 'src/cli.ts' },
  }),
  ...(await buildHooks()),
]);
cpSync(join(root, 'hooks', 'guard.sh'), join(out, 'hooks', 'guard.sh'));

/** Directories of the packages that stand in a bundle, below `node_modules`. */
function bundledPackages(): string[] {
  const directories = built
    .flatMap(({ metafile }) => Object.keys(metafile.inputs))
    .flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []);
  return [...new Set(directories)].sort();
}

const packages = bundledPackages().map((path) => {
  const directory = join(root, path);
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const files = readdirSync(directory).filter((file) => /^(licen[cs]e|notice|third_party_notices)/i.test(file));
  const texts = files.map((file) => readFileSync(join(directory, file), 'utf8').trim());
  const notice = `${name} ${version} (${license ?? 'see below'})\n\n${texts.join('\n\n') || 'The package brings no licence file; its manifest names the licence above.'}\n`;
  return { ref: `${name}@${version}`, notice };
});
const notices = packages.map(({ notice }) => notice);
const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).name;
const refs = [...new Set(packages.map(({ ref }) => ref))].sort();
const bill = billOf(own, refs, await wholeBill);
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 1)}\n`);
writeFileSync(join(out, 'THIRD_PARTY_LICENSES.txt'), notices.join(`\n${'-'.repeat(80)}\n\n`));
for (const name of ['cli.js', 'hooks/team-server.js', ...hookFiles.map((file) => `hooks/${file.slice(0, -3)}.js`)])
  if (!existsSync(join(out, name))) throw new Error(`the build made no dist/${name}`);

for (const line of buildGuard(root, join(out, 'native'), process.argv.includes('--package')))
  process.stderr.write(`${line}\n`);
