// Builds dist/: a command whose commands are chunks of their own, and as bundles with their packages the team server and each hook.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import { buildGuard } from './build-guard.ts';
import { commandSettings, commonSettings, noExeca, noForms, PARTS_SETTINGS } from './bundling.ts';
import { splitBundle, writeCommonJs } from './commonjs.ts';
import { billOf, readBill } from './sbom.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(root, 'dist');

rmSync(out, { recursive: true, force: true });

const hookFiles = readdirSync(join(root, 'hooks')).filter((name) => name.endsWith('.ts'));

/** What hooks load when they have something to answer, by the name that it gets. */
const parts = new Map<string, string>();
const leaveOutParts: Plugin = {
  name: 'parts',
  setup(build) {
    build.onResolve({ filter: /^\./ }, ({ path, kind, resolveDir }) => {
      // Parts of a package stay within it.
      if (kind !== 'dynamic-import' || resolveDir.includes('/node_modules/')) return undefined;
      const source = resolve(resolveDir, path);
      const name = basename(source, '.ts');
      if ((parts.get(name) ?? source) !== source) throw new Error(`${name}: two parts of the hooks have this name`);
      parts.set(name, source);
      return { path: `dist/hooks/parts/${name}.js`, external: true };
    });
  },
};

const settings = { ...commonSettings(root), minify: !process.argv.includes('--readable') };

/** Hooks start for every call of a tool: each is one small file beside what all of them have in common. */
const hooks = await splitBundle({
  ...settings,
  entryPoints: Object.fromEntries(hookFiles.map((name) => [`hooks/${name.slice(0, -3)}`, `hooks/${name}`])),
  outdir: 'dist',
  chunkNames: 'hooks/common-[hash]',
  plugins: [noExeca, leaveOutParts],
});
const wholeBill = readBill(root);
/** The server starts with each session: one file, which Node reads sooner than a hundred. */
const server = await splitBundle({
  ...settings,
  entryPoints: { 'hooks/team-server': 'src/mcp.ts' },
  outdir: 'dist',
  plugins: [noForms, noExeca, leaveOutParts],
});
const ofHooks = Object.fromEntries([...parts].map(([name, source]) => [`hooks/parts/${name}`, source]));
const late = await splitBundle({ ...settings, ...PARTS_SETTINGS, entryPoints: ofHooks, outdir: 'dist' });
const command = await splitBundle({
  ...settings,
  ...commandSettings(root),
  entryPoints: { cli: 'src/cli.ts' },
  outdir: 'dist',
});
const { name, dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const chunks = [...hooks.chunks, ...server.chunks, ...late.chunks, ...command.chunks];
await writeCommonJs(chunks, Object.keys(peerDependencies), settings);
for (const directory of ['.', 'hooks'])
  writeFileSync(join(out, directory, 'package.json'), '{\n  "type": "commonjs"\n}\n');
const built = [hooks, server, late, command];
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
  const text = texts.join('\n\n') || 'The package brings no licence file; its manifest names the licence above.';
  return { ref: `${name}@${version}`, title: `${name} ${version} (${license ?? 'see below'})`, text };
});
/** Packages whose licences differ in nothing but who holds the copyright have the text once, below each one's notice. */
const shared = new Map<string, { readonly names: Set<string>; readonly terms: string }>();
for (const { title, text } of packages) {
  const lines = text.split('\n');
  const isNotice = (line: string) => /^\s*copyright\b/i.test(line);
  const terms = lines
    .filter((line) => !isNotice(line))
    .join('\n')
    .trim();
  const key = terms.replace(/\W+/g, ' ').toLowerCase();
  const known = shared.get(key) ?? { names: new Set(), terms };
  known.names.add([title, ...lines.filter(isNotice).map((line) => line.trim())].join('\n  '));
  shared.set(key, known);
}
const notices = [...shared.values()].map(({ names, terms }) => `${[...names].join('\n')}\n\n${terms}\n`);
const roots = Object.entries(dependencies).map(([one, version]) => `${one}@${version}`);
const bundled = packages.map(({ ref }) => ref);
const bill = billOf({ name, dependencies: roots, bundled }, await wholeBill);
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'sbom.cdx.json'), `${JSON.stringify(bill)}\n`);
writeFileSync(join(out, 'THIRD_PARTY_LICENSES.txt'), notices.join(`\n${'-'.repeat(80)}\n\n`));
for (const name of ['cli.js', 'hooks/team-server.js', ...hookFiles.map((file) => `hooks/${file.slice(0, -3)}.js`)])
  if (!existsSync(join(out, name))) throw new Error(`the build made no dist/${name}`);

for (const line of buildGuard(root, join(out, 'native'), process.argv.includes('--package')))
  process.stderr.write(`${line}\n`);
