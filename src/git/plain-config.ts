// A repository's settings as teammates get them: no credential in them, and no address that can be pushed to.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { NO_PUSH } from './clone.ts';
import { tryGit } from './git.ts';

/** Settings that hold credentials, hand them out, or bring others in. */
const LEFT_OUT =
  /^(credential\.|include(if)?\.|http\..*(extraheader|cookiefile|proxy|sslkey|sslcert)$|core\.(sshcommand|askpass|gitproxy)$|url\..*@|remote\..*\.(pushurl|proxy)$)|(token|pass|password|passwd|secret|api-?key)$|:\/\/[^/]*@/i;

/** Who somebody is to ssh is no secret; before any other address a name may be a token. */
const SSH = /^(ssh|git\+ssh|ssh\+git):/i;

/** The text with what addresses in it say of whose they are left out. */
function withoutUsers(text: string): string {
  return text.replaceAll(/(\w[\w+.-]*:\/\/)([^/\s'"]*)@/g, (_all, scheme: string, user: string) =>
    SSH.test(scheme) ? `${scheme}${user.replace(/:.*$/s, '')}@` : scheme,
  );
}

export type Setting = {
  readonly section: string;
  readonly name: string | null;
  readonly key: string;
  readonly value: string;
};

/** `remote.origin.url\nvalue`: what stands between the first and the last dot is the section's own name. */
export function settingOf(row: string): Setting {
  const end = row.indexOf('\n');
  const full = end === -1 ? row : row.slice(0, end);
  const [first, last] = [full.indexOf('.'), full.lastIndexOf('.')];
  return {
    section: full.slice(0, first),
    name: first === last ? null : full.slice(first + 1, last),
    key: full.slice(last + 1),
    // One without a value is on.
    value: end === -1 ? 'true' : row.slice(end + 1),
  };
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;
}

/** The setting as lines of a settings file. */
export function settingLine({ section, name, key, value }: Setting): string {
  return `[${section}${name === null ? '' : ` ${quoted(name)}`}]\n\t${key} = ${quoted(value)}\n`;
}

/** The text of the settings file at `path`, as it is for teammates; null when git cannot read it. */
async function plainConfig(path: string): Promise<string | null> {
  const { exitCode, stdout } = await tryGit(['config', '--file', path, '--no-includes', '--list', '--null'], {
    cwd: '/',
  });
  if (exitCode !== 0) return null;
  const rows = stdout.split('\0').filter((row) => row !== '');
  const kept = rows.filter((row) => !LEFT_OUT.test(row.split('\n', 1)[0] ?? '')).map(settingOf);
  const remotes = new Set(kept.flatMap(({ section, name }) => (section === 'remote' && name !== null ? [name] : [])));
  return [
    ...kept.map((setting) => ({ ...setting, value: withoutUsers(setting.value) })),
    ...[...remotes].map((name) => ({ section: 'remote', name, key: 'pushurl', value: NO_PUSH })),
  ]
    .map(settingLine)
    .join('');
}

/** The Git directories of submodules, and of theirs. */
function modulesIn(directory: string): readonly string[] {
  const items = existsSync(directory) ? readdirSync(directory, { withFileTypes: true }) : [];
  return items
    .filter((item) => item.isDirectory())
    .map(({ name }) => join(directory, name))
    .flatMap((path) =>
      existsSync(join(path, 'HEAD')) ? [path, ...modulesIn(join(path, 'modules'))] : modulesIn(path),
    );
}

/**
 * All settings files below a Git directory, its worktrees' and its submodules' too, as they are for teammates; without those
 * that git cannot read.
 */
export async function plainConfigs(
  common: string,
): Promise<readonly { readonly path: string; readonly text: string }[]> {
  const linked = join(common, 'worktrees');
  const worktrees = existsSync(linked) ? readdirSync(linked).map((name) => join(linked, name)) : [];
  const paths = [
    ...[common, ...modulesIn(join(common, 'modules'))].flatMap((directory) => [
      join(directory, 'config'),
      join(directory, 'config.worktree'),
    ]),
    ...worktrees.map((directory) => join(directory, 'config.worktree')),
  ];
  const texts = await Promise.all(
    paths.filter((path) => existsSync(path)).map(async (path) => ({ path, text: await plainConfig(path) })),
  );
  return texts.flatMap(({ path, text }) => (text === null ? [] : [{ path, text }]));
}
