// Where the tools of a person's projects live, as variables: for programs whose home is another one. What is there is
// read, what is fetched anew goes to a place of their own.

import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ownDirectory } from './own-directory.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Tools found by a place in the person's home, where no variable says otherwise. */
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

/** Parts of Cargo's home, with how deep their entries lie: each is linked, and new ones come beside it. */
const CARGO: readonly (readonly [part: string, depth: number])[] = [
  ['config.toml', 0],
  ['config', 0],
  ['registry/index', 2],
  ['registry/cache', 2],
  ['registry/src', 2],
  ['git/db', 1],
  ['git/checkouts', 2],
];

/** Makes entries of a directory readable in another one, where they are missing. Its own parts are no links: it is written to. */
function link(from: string, to: string, depth: number): void {
  const status = statSync(from, { throwIfNoEntry: false });
  if (status === undefined) return;
  if (depth === 0 || !status.isDirectory()) {
    try {
      symlinkSync(from, to);
    } catch (error) {
      // It is there already, or was fetched anew.
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    return;
  }
  ownDirectory(to);
  for (const name of readdirSync(from)) link(join(from, name), join(to, name), depth - 1);
}

/** A Cargo home of its own, in which what the person has fetched is found. */
function cargoVariables(env: Environment, home: string, own: string): Record<string, string> {
  const theirs = env.CARGO_HOME ?? join(home, '.cargo');
  if (!existsSync(theirs)) return {};
  const place = ownDirectory(join(own, 'cargo'));
  for (const [part, depth] of CARGO) {
    if (part.includes('/')) ownDirectory(join(place, dirname(part)));
    link(join(theirs, part), join(place, part), depth);
  }
  return { CARGO_HOME: place };
}

/** What `go env -w` has written down for the person. */
function goSetting(path: string, name: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const rows = readFileSync(path, 'utf8').split('\n');
  return rows.find((row) => row.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** Modules that the person has fetched are had from there, like from any proxy; all others as the person has them. */
function goVariables(env: Environment, home: string, own: string): Record<string, string> {
  const file = env.GOENV ?? join(env.XDG_CONFIG_HOME ?? join(home, '.config'), 'go', 'env');
  const setting = (name: string) => env[name] ?? goSetting(file, name);
  const path = (setting('GOPATH') ?? join(home, 'go')).split(':')[0] ?? '';
  const fetched = join(setting('GOMODCACHE') ?? join(path, 'pkg', 'mod'), 'cache', 'download');
  const proxy = setting('GOPROXY') ?? GO_PROXY;
  return {
    GOMODCACHE: join(own, 'go-mod'),
    GOCACHE: join(own, 'go-build'),
    // Else nobody could remove it.
    GOFLAGS: [setting('GOFLAGS'), '-modcacherw'].filter((flags) => flags !== undefined).join(' '),
    ...(existsSync(file) ? { GOENV: file } : {}),
    ...(existsSync(fetched) ? { GOPROXY: `${pathToFileURL(fetched).href},${proxy}` } : {}),
  };
}

/**
 * Variables by which tool chains are found from another home.
 * @param env of the person
 * @param own a directory for what is fetched and built anew
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
