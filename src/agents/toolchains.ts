// Environment variables that give programs with another home access to the person's toolchains.
// Existing files are only read; downloads go to a separate directory.

import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureRealDirectory } from '../base/files/safe-directory.ts';
import type { Environment } from '../base/rules/environment.ts';

/** Variables of tools with their default locations in the person's home. */
const INSTALLED: readonly (readonly [variable: string, place: string])[] = [
  ['RUSTUP_HOME', '.rustup'],
  ['PYENV_ROOT', '.pyenv'],
  ['PYTHONUSERBASE', '.local'],
  ['UV_PYTHON_INSTALL_DIR', '.local/share/uv/python'],
  ['NVM_DIR', '.nvm'],
  ['VOLTA_HOME', '.volta'],
  ['COREPACK_HOME', '.cache/node/corepack'],
  ['YARN_GLOBAL_FOLDER', '.yarn/berry'],
  ['PLAYWRIGHT_BROWSERS_PATH', '.cache/ms-playwright'],
  ['PUPPETEER_CACHE_DIR', '.cache/puppeteer'],
  ['CYPRESS_CACHE_FOLDER', '.cache/Cypress'],
];

const GO_PROXY = 'https://proxy.golang.org,direct';

/** Parts of Cargo's home with the depth of their entries. Each entry is linked; new ones are added beside it. */
const CARGO: readonly (readonly [part: string, depth: number])[] = [
  ['config.toml', 0],
  ['config', 0],
  ['registry/index', 2],
  ['registry/cache', 2],
  ['registry/src', 2],
  ['git/db', 1],
  ['git/checkouts', 2],
];

/** Links missing entries of `from` into `to`. Directories down to `depth` are real ones, so that new entries fit in. */
function link(from: string, to: string, depth: number): void {
  const status = statSync(from, { throwIfNoEntry: false });
  if (status === undefined) return;
  if (depth === 0 || !status.isDirectory()) {
    try {
      symlinkSync(from, to);
    } catch (error) {
      // Already linked, or downloaded.
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    return;
  }
  ensureRealDirectory(to);
  for (const name of readdirSync(from)) link(join(from, name), join(to, name), depth - 1);
}

/** A separate Cargo home, with links to the person's downloads. */
function cargoVariables(env: Environment, home: string, own: string): Record<string, string> {
  const theirs = env.CARGO_HOME ?? join(home, '.cargo');
  if (!existsSync(theirs)) return {};
  const place = ensureRealDirectory(join(own, 'cargo'));
  for (const [part, depth] of CARGO) {
    if (part.includes('/')) ensureRealDirectory(join(place, dirname(part)));
    link(join(theirs, part), join(place, part), depth);
  }
  return { CARGO_HOME: place };
}

/** A setting that the person saved with `go env -w`. */
function goSetting(path: string, name: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const rows = readFileSync(path, 'utf8').split('\n');
  return rows.find((row) => row.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** The person's module cache serves as the first proxy; other modules come from the person's own proxies. */
function goVariables(env: Environment, home: string, own: string): Record<string, string> {
  const file = env.GOENV ?? join(env.XDG_CONFIG_HOME ?? join(home, '.config'), 'go', 'env');
  const setting = (name: string) => env[name] ?? goSetting(file, name);
  const path = (setting('GOPATH') ?? join(home, 'go')).split(':')[0] ?? '';
  const fetched = join(setting('GOMODCACHE') ?? join(path, 'pkg', 'mod'), 'cache', 'download');
  const proxy = setting('GOPROXY') ?? GO_PROXY;
  return {
    GOMODCACHE: join(own, 'go-mod'),
    GOCACHE: join(own, 'go-build'),
    // Go's module cache is read-only by default and could not be removed.
    GOFLAGS: [setting('GOFLAGS'), '-modcacherw'].filter((flags) => flags !== undefined).join(' '),
    ...(existsSync(file) ? { GOENV: file } : {}),
    ...(existsSync(fetched) ? { GOPROXY: `${pathToFileURL(fetched).href},${proxy}` } : {}),
  };
}

/**
 * Variables that lead toolchains from another home to the person's files.
 * @param env of the person
 * @param own directory for new downloads and builds
 */
export function toolchainVariables(env: Environment, own: string): Readonly<Record<string, string>> {
  const home = env.HOME ?? homedir();
  const installed = INSTALLED.flatMap(([variable, place]) => {
    const value = env[variable] ?? join(home, place);
    return existsSync(value) ? [[variable, value] as const] : [];
  });
  return {
    ...Object.fromEntries(installed),
    ...cargoVariables(env, home, own),
    ...goVariables(env, home, own),
    npm_config_cache: join(own, 'npm'),
    npm_config_update_notifier: 'false',
  };
}
