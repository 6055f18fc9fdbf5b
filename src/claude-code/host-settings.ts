// The host's settings files, as far as team mode hangs on them: which there are, and what they say of its variable.

import { readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../base/rules/environment.ts';
import { isObject } from '../base/rules/values.ts';
import { hostConfigDirectory, hostSettingsFile } from '../guard/host-settings-file.ts';
import { TEAMS_VARIABLE } from '../team/rules/fallback.ts';
import type { TeamVariable } from '../team/rules/select/activation.ts';

type Fields = Readonly<Record<string, unknown>>;
/** One user's settings of a project. */
export const LOCAL_SETTINGS = '.claude/settings.local.json';

export type SettingsFile = { readonly name: string; readonly settings: Fields };

export function fieldsAt(settings: Fields, key: string): Fields {
  const value = settings[key];
  return isObject(value) ? value : {};
}

/** What the host goes by beside the project, under each of its names: the user's settings, and what it knows of projects. */
export function hostPlaces(env: Environment): readonly string[] {
  const places = [hostConfigDirectory(env), join(env.HOME ?? homedir(), '.claude.json')];
  const real = places.flatMap((path) => {
    try {
      return realpathSync(path);
    } catch {
      return [];
    }
  });
  return [...new Set([...places, ...real])];
}

/** The host's settings files that can be read, the one that counts most first. */
export function settingsFiles(root: string, env: Environment): readonly SettingsFile[] {
  const places = [
    [LOCAL_SETTINGS, join(root, LOCAL_SETTINGS)],
    ['.claude/settings.json', join(root, '.claude', 'settings.json')],
    [hostSettingsFile(env), hostSettingsFile(env)],
  ] as const;
  return places.flatMap(([name, path]) => {
    try {
      const settings: unknown = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
      return isObject(settings) ? [{ name, settings }] : [];
    } catch {
      // No such file, or one that the host itself cannot read.
      return [];
    }
  });
}

/** The names in a list of the settings; none where it is no list. */
export function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** The settings files that keep a server of `.mcp.json` from being started. */
export function filesDisabling(files: readonly SettingsFile[], server: string): readonly string[] {
  return files.flatMap(({ name, settings }) =>
    stringsIn(settings.disabledMcpjsonServers).includes(server) ? [name] : [],
  );
}

/** Values of a variable in the settings files, the one that counts most first. */
export function settingsValues(
  root: string,
  env: Environment,
  variable: string,
): readonly { readonly file: string; readonly value: string }[] {
  return settingsFiles(root, env).flatMap(({ name, settings }) => {
    const value = fieldsAt(settings, 'env')[variable];
    return value === undefined ? [] : [{ file: name, value: String(value) }];
  });
}

/**
 * The variable that switches team mode on, and where it comes from. What the settings say of it the host puts over what its
 * shell says; a hook is told the outcome, which is an older one where a file was changed since the host was started.
 */
export function findVariable(root: string, env: Environment): TeamVariable {
  const given = env[TEAMS_VARIABLE];
  const [found] = settingsValues(root, env, TEAMS_VARIABLE);
  if (found === undefined) return { value: given, source: given === undefined ? null : 'shell' };
  const isHook = env.CLAUDE_PROJECT_DIR !== undefined;
  return isHook && given !== undefined && given !== found.value
    ? { value: given, source: 'host' }
    : { value: found.value, source: { file: found.file } };
}
