// What `tool doctor` finds in the host's settings files, and in what was installed: whether hooks and team server are heard.

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { teamFileText } from '../adapters/config/team-file-text.ts';
import { packageRoot } from '../adapters/package-root.ts';
import { messageOf } from '../domain/errors.ts';
import type { Environment as Variable } from '../domain/team/activation.ts';
import { TEAMS_VARIABLE } from '../domain/team/fallback.ts';
import { TEAM_SERVER } from '../install/hook-table.ts';
import { hostForm } from '../install/host-form.ts';
import { planInstall } from '../install/install.ts';
import type { Manifest } from '../install/manifest.ts';
import type { Outcome } from '../install/outcome.ts';
import { readPayload } from '../install/payload.ts';
import { type Check, fail, warn } from './check.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Fields = Readonly<Record<string, unknown>>;
type SettingsFile = { readonly name: string; readonly settings: Fields };

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldsAt(settings: Fields, key: string): Fields {
  const value = settings[key];
  return isFields(value) ? value : {};
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** The host's settings files that can be read, the one that counts most first. */
function settingsFiles(root: string, env: Environment): readonly SettingsFile[] {
  const own = env.CLAUDE_CONFIG_DIR ?? join(env.HOME ?? homedir(), '.claude');
  const places = [
    ['.claude/settings.local.json', join(root, '.claude', 'settings.local.json')],
    ['.claude/settings.json', join(root, '.claude', 'settings.json')],
    [join(own, 'settings.json'), join(own, 'settings.json')],
  ] as const;
  return places.flatMap(([name, path]) => {
    try {
      const settings: unknown = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
      return isFields(settings) ? [{ name, settings }] : [];
    } catch {
      // No such file, or one that the host itself cannot read.
      return [];
    }
  });
}

/** Where the variable comes from: the shell, else the env map of the host's settings. */
export function findVariable(root: string, env: Environment): Variable {
  const shell = env[TEAMS_VARIABLE];
  if (shell !== undefined) return { value: shell, source: 'shell' };
  const found = settingsFiles(root, env)
    .map(({ settings }) => fieldsAt(settings, 'env')[TEAMS_VARIABLE])
    .find((value) => value !== undefined);
  return found === undefined ? { value: undefined, source: null } : { value: String(found), source: 'settings' };
}

/** What in the settings keeps the host from asking hooks, or from offering the team's tools. */
export function checkSettings(root: string, env: Environment): readonly Check[] {
  const files = settingsFiles(root, env);
  const rows: Check[] = [];
  const switched = files.find(({ settings }) => settings.disableAllHooks !== undefined);
  if (switched?.settings.disableAllHooks === true)
    rows.push(
      fail(
        'team hooks',
        `disableAllHooks is true in ${switched.name}: no hook runs, so nobody's files are guarded and no work is checked`,
        `take disableAllHooks out of ${switched.name}`,
      ),
    );
  for (const { name, settings } of files) {
    if (textsOf(settings.disabledMcpjsonServers).includes(TEAM_SERVER))
      rows.push(
        fail(
          'team server',
          `disabledMcpjsonServers in ${name} holds ${TEAM_SERVER}: the team's tools are not offered`,
          `take "${TEAM_SERVER}" out of it`,
        ),
      );
    const denied = textsOf(fieldsAt(settings, 'permissions').deny).filter((rule) =>
      new RegExp(`^mcp__${TEAM_SERVER}(?:__|$)`).test(rule),
    );
    if (denied.length > 0)
      rows.push(
        fail(
          'team server',
          `permissions.deny in ${name} refuses ${denied.join(', ')}`,
          `take ${denied.length === 1 ? 'it' : 'them'} out`,
        ),
      );
  }
  return rows;
}

/** What the rules hang on; of the rest a team can do without. */
function isVital({ path, did }: Outcome): boolean {
  return (
    path === '.claude/settings.json' || path === '.mcp.json' || (path.startsWith('.tool/hooks/') && did === 'created')
  );
}

function named(outcomes: readonly Outcome[]): string {
  const [first = '', ...others] = outcomes.map(({ path }) => path);
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

/** Whether all of an installation of this version is still there. */
export function checkComplete(root: string, { version, hostVersion }: Manifest): readonly Check[] {
  const name = 'team mode';
  try {
    const { form } = hostForm(hostVersion);
    const payload = readPayload({ from: packageRoot(), version, form, configText: teamFileText() });
    const { outcomes } = planInstall({ root, payload, version, host: hostVersion, force: false });
    const gone = outcomes.filter(({ did }) => did === 'created' || did === 'changed');
    const vital = gone.filter(isVital);
    if (vital.length > 0)
      return [
        fail(
          name,
          `what was installed is not all there: ${named(vital)}: hooks or tools of the team are missing`,
          'tool init',
        ),
      ];
    return gone.length === 0 ? [] : [warn(name, `what was installed is not all there: ${named(gone)}`, 'tool init')];
  } catch (error) {
    return [fail(name, `what was installed cannot be looked at: ${messageOf(error)}`, 'tool init')];
  }
}
