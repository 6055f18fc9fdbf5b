// Projects to install into, and a package to install from, whose compiled parts may be played.

import {
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { packProgram } from '../../src/guard/packed-program.ts';
import { GUARD_ARCHITECTURES, packedGuard } from '../../src/guard/rules/program-name.ts';
import { performAll } from '../../src/install/file-operations.ts';
import { GUARD_SCRIPT, HOOK_SCRIPTS } from '../../src/install/hook-table.ts';
import { hostSupport } from '../../src/install/host-support.ts';
import { type InstallPlan, planInstall } from '../../src/install/install.ts';
import { sha256 } from '../../src/install/outcome.ts';
import { readPayload } from '../../src/install/payload.ts';
import { PLAYED_GUARD } from './guarded-project.ts';
import { type Cleanup, tempDir } from './temp.ts';

export type Tree = Readonly<Record<string, string>>;

export function writeTree(root: string, files: Tree): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** Every file and directory with its mode, and of files the hash. */
export function treeOf(root: string, path = ''): Record<string, string> {
  const status = lstatSync(join(root, path));
  const mode = (status.mode & 0o777).toString(8);
  if (status.isSymbolicLink()) return { [path]: 'link' };
  if (!status.isDirectory()) return { [path]: `${mode} ${sha256(readFileSync(join(root, path)))}` };
  const inner = readdirSync(join(root, path)).map((name) => treeOf(root, path === '' ? name : `${path}/${name}`));
  return Object.assign({ [path]: mode }, ...inner);
}

/** A project of these files. */
export function projectOf(t: Cleanup, files: Tree = {}): string {
  const root = join(tempDir(t), 'project');
  mkdirSync(join(root, '.git'), { recursive: true });
  writeTree(root, files);
  return root;
}

/**
 * A package like the built one.
 * @param script the text of each hook's script, by its name, and of the server as `mcp`
 */
export function packageOf(t: Cleanup, script: (name: string) => string = (name) => `// ${name}\n`): string {
  const root = join(tempDir(t), 'package');
  for (const name of ['agents', 'commands', 'skills', 'schemas', 'package.json'])
    cpSync(name, join(root, name), { recursive: true });
  const hooks = HOOK_SCRIPTS.map((name): [string, string] => [`dist/hooks/${name}.js`, script(name)]);
  writeTree(root, {
    ...Object.fromEntries(hooks),
    'dist/hooks/team-server.js': script('mcp'),
    'dist/hooks/package.json': '{\n  "type": "module"\n}\n',
  });
  mkdirSync(join(root, 'dist', 'native'));
  for (const arch of GUARD_ARCHITECTURES)
    writeFileSync(join(root, 'dist', 'native', packedGuard('linux', arch)), packProgram(Buffer.from(PLAYED_GUARD)));
  cpSync(join('hooks', GUARD_SCRIPT), join(root, 'dist', 'hooks', GUARD_SCRIPT));
  return root;
}

/** Files that nobody writes in, half of the package: linked where both are on one disk, else copied. */
function shareTree(from: string, to: string): void {
  mkdirSync(to);
  for (const item of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, item.name), join(to, item.name)];
    if (item.isDirectory()) shareTree(source, target);
    else if (!item.name.endsWith('.map'))
      try {
        linkSync(source, target);
      } catch {
        cpSync(source, target);
      }
  }
}

/** The built command in a package of its own; what is not built yet is played. */
export function builtPackage(t: Cleanup, script?: (name: string) => string): string {
  const root = packageOf(t, script);
  const chunks = join('dist', 'chunks');
  cpSync('dist', join(root, 'dist'), {
    recursive: true,
    force: script === undefined,
    filter: (path) => !path.endsWith('.map') && path !== chunks,
  });
  // The command loads parts of the hooks.
  cpSync(join('dist', 'hooks', 'package.json'), join(root, 'dist', 'hooks', 'package.json'));
  shareTree(chunks, join(root, chunks));
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
  if (!existsSync(join(root, 'dist', 'cli.js'))) throw new Error('dist/cli.js is not built');
  return root;
}

type InstallOptions = {
  readonly host?: string | null;
  readonly force?: boolean;
  readonly from?: string;
  readonly version?: string;
};

/** What an installation into the project would do. */
export function planned(t: Cleanup, root: string, options: InstallOptions = {}): InstallPlan {
  const { host = '2.1.177', force = false, from = packageOf(t), version = '1.0.0' } = options;
  const { form } = hostSupport(host);
  const payload = readPayload({ from, version, form, configText: 'workflow: {}\n' });
  return planInstall({ root, payload, version, host, force, ownership: [] });
}

export function install(t: Cleanup, root: string, options: InstallOptions = {}): InstallPlan {
  const plan = planned(t, root, options);
  performAll(root, plan.operations);
  return plan;
}
