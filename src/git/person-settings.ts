// The person's git settings: the few that the daemon's own git keeps, and those that it ignores.

import { writeFileSync } from 'node:fs';
import type { Environment } from '../base/rules/environment.ts';
import { networkEnvironment, tryGit } from './git.ts';
import { type Setting, settingLine, settingOf } from './plain-config.ts';

/** What git needs on this machine and network, whatever repository it works on. */
const KEPT = /^(safe\.directory|http\.(.*\.)?(proxy|sslcainfo|proxysslcainfo))$/;
/** What would change a clone, a fetch, a push, a commit or a checkout. */
const MATTERS =
  /^(url\..*\.(insteadof|pushinsteadof)|credential\..*|(core\.(hookspath|attributesfile|excludesfile|fsmonitor|sshcommand|autocrlf|eol|gitproxy))|(commit|tag|push)\.gpgsign|gpg\..*|user\.signingkey|init\..*|push\..*|fetch\..*|transfer\..*|receive\..*|protocol\..*|remote\..*|filter\..*|http\..*)$/;

/** Reads what git itself would read for the person outside of every repository, includes followed. */
async function readSettings(env: Environment): Promise<readonly Setting[]> {
  const read = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM'];
  const picked = read.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  const { exitCode, stdout } = await tryGit(['config', '--includes', '--null', '--show-scope', '--list'], {
    cwd: '/',
    env: { ...Object.fromEntries(picked), LC_ALL: 'C', GIT_DIR: '/dev/null' },
  });
  if (exitCode !== 0) return [];
  const words = stdout.split('\0');
  return words.flatMap((scope, index) => {
    const row = words[index + 1];
    return index % 2 === 0 && row !== undefined && /^(system|global)$/.test(scope) ? [settingOf(row)] : [];
  });
}

function fullName({ section, name, key }: Setting): string {
  return [section, ...(name === null ? [] : [name]), key].join('.');
}

/** Git starts elsewhere with another home, where `~` would be another place. */
function atHome(value: string, env: Environment): string {
  return env.HOME === undefined ? value : value.replace(/^~(?=\/)/, () => env.HOME ?? '~');
}

/** Writes the kept ones to the file at `path`, for the daemon's own git to read in place of the person's. */
export async function writePersonSettings(path: string, env: Environment): Promise<void> {
  const kept = (await readSettings(env)).filter((setting) => KEPT.test(fullName(setting)));
  const lines = kept.map((setting) => settingLine({ ...setting, value: atHome(setting.value, env) }));
  writeFileSync(path, lines.join(''), { mode: 0o600 });
}

/**
 * What the daemon's git takes a setting of `http` for at an address; undefined when there is none.
 * @param env names the file of the kept settings
 */
export async function keptSetting(
  name: 'proxy' | 'sslCAInfo' | 'proxySSLCAInfo',
  url: string,
  env: Environment,
): Promise<string | undefined> {
  const kind = name === 'proxy' ? [] : ['--type=path'];
  const { exitCode, stdout } = await tryGit(['config', ...kind, '--get-urlmatch', `http.${name}`, url], {
    cwd: '/',
    env: networkEnvironment(env, url),
  });
  return exitCode === 0 ? stdout.replace(/\n$/, '') : undefined;
}

/** Their names, each once. The middle part of a name is an address, maybe with a password: it is left out. */
export async function namePersonSettings(
  env: Environment,
): Promise<{ readonly kept: readonly string[]; readonly ignored: readonly string[] }> {
  const settings = await readSettings(env);
  const names = (isMeant: (full: string) => boolean) => [
    ...new Set(
      settings
        .filter((setting) => isMeant(fullName(setting)))
        .map(({ section, name, key }) => (name === null ? `${section}.${key}` : `${section}.*.${key}`)),
    ),
  ];
  return { kept: names((full) => KEPT.test(full)), ignored: names((full) => !KEPT.test(full) && MATTERS.test(full)) };
}
