// Rows of `tool doctor` about the host's settings files and what was installed: whether hooks and team server are heard.

import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { packageRoot } from '../../base/package-root.ts';
import { refusal } from '../../base/rules/codes.ts';
import { shellWord } from '../../base/rules/command-line.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { hasOwnHooks } from '../../claude-code/duplicate-hooks.ts';
import {
  fieldsAt,
  filesDisabling,
  type SettingsFile,
  settingsFiles,
  stringsIn,
} from '../../claude-code/host-settings.ts';
import { HOOK_CODES } from '../../claude-code/rules/hook-codes.ts';
import { withProposed } from '../../guard/rules/suggest-ownership.ts';
import { TEAM_SERVER } from '../../install/hook-table.ts';
import { ignoredSettings } from '../../install/host-events.ts';
import { hostSupport } from '../../install/host-support.ts';
import { planInstall } from '../../install/install.ts';
import type { Manifest } from '../../install/manifest.ts';
import type { Outcome } from '../../install/outcome.ts';
import { readPayload } from '../../install/payload.ts';
import { teamFileText } from '../../team/config/team-file-text.ts';
import { DEFAULT_OWNERSHIP } from '../../team/rules/default-ownership.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import { type DoctorCheck, fail, warn } from './doctor-row.ts';

type Plugin = { readonly id: string; readonly file: string };

/** Where init would stop at the same. */
export const MEND_FIRST = 'mend what is named here, then tool init';

/** Our plugin, where a settings file has it on; what counts is the file that the host heeds most. */
function pluginIn(files: readonly SettingsFile[]): Plugin | undefined {
  const seen = new Set<string>();
  for (const { name, settings } of files)
    for (const [id, isOn] of Object.entries(fieldsAt(settings, 'enabledPlugins'))) {
      if (!id.startsWith('tool@') || seen.has(id)) continue;
      seen.add(id);
      if (isOn === true) return { id, file: name };
    }
  return undefined;
}

export function enabledPlugin(root: string, env: Environment): Plugin | undefined {
  return pluginIn(settingsFiles(root, env));
}

/** Whether the settings have programs of ours started that are not there, as in a clone that leaves .tool out. */
export function startsNothing(root: string): boolean {
  try {
    const text = readFileSync(join(root, '.claude', 'settings.json'), 'utf8');
    return text.includes('/.tool/hooks/') && !existsSync(join(root, '.tool', 'hooks'));
  } catch {
    return false;
  }
}

/** Whether a host that is started here runs the hooks: it reads the settings of its own directory alone. */
export function checkStart(root: string, place: string): readonly DoctorCheck[] {
  const below = relative(root, place);
  if (below === '' || below.startsWith('..') || !hasOwnHooks(root)) return [];
  return [warn('team hooks', refusal(CLI_CODES.hooks_unread_below, { below }), `cd ${shellWord(root)} && claude`)];
}

/** What in the settings keeps the host from asking hooks, or from offering the team's tools. */
export function checkSettings(root: string, host: string | null, env: Environment): readonly DoctorCheck[] {
  const files = settingsFiles(root, env);
  // In the project's own the hooks of the team stand.
  const rows: DoctorCheck[] = ignoredSettings(files, host).map(({ file, what, mend }) =>
    (file === '.claude/settings.json' ? fail : warn)('host settings', what, mend),
  );
  const switched = files.find(({ settings }) => settings.disableAllHooks !== undefined);
  if (switched?.settings.disableAllHooks === true)
    rows.push(
      fail(
        'team hooks',
        refusal(CLI_CODES.hooks_disabled, { file: switched.name }),
        `take disableAllHooks out of ${switched.name}`,
      ),
    );
  const plugin = hasOwnHooks(root) ? pluginIn(files) : undefined;
  if (plugin !== undefined)
    rows.push(
      warn(
        'plugin form',
        refusal(CLI_CODES.plugin_beside_installation, { plugin: plugin.id, file: plugin.file }),
        `set "enabledPlugins": { "${plugin.id}": false } in .claude/settings.local.json, or tool uninstall`,
      ),
    );
  for (const name of filesDisabling(files, TEAM_SERVER))
    rows.push(
      fail('team server', refusal(HOOK_CODES.team_server_disabled, { file: name }), `take "${TEAM_SERVER}" out of it`),
    );
  for (const { name, settings } of files) {
    const denied = stringsIn(fieldsAt(settings, 'permissions').deny).filter((rule) =>
      new RegExp(`^mcp__${TEAM_SERVER}(?:__|$)`).test(rule),
    );
    if (denied.length > 0)
      rows.push(
        fail(
          'team server',
          refusal(CLI_CODES.team_tools_denied, { file: name, rules: denied }),
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
export function checkComplete(
  root: string,
  { version, hostVersion, ownership = [], commands }: Manifest,
): readonly DoctorCheck[] {
  const name = 'team mode';
  try {
    const { form } = hostSupport(hostVersion);
    const payload = readPayload({
      from: packageRoot(),
      version,
      form,
      configText: teamFileText(withProposed(DEFAULT_OWNERSHIP, ownership), commands),
    });
    const { outcomes } = planInstall({
      root,
      payload,
      version,
      host: hostVersion,
      force: false,
      ownership,
      ...(commands === undefined ? {} : { commands }),
    });
    const gone = outcomes.filter(({ did }) => did === 'created' || did === 'changed');
    const vital = gone.filter(isVital);
    if (vital.length > 0)
      return [fail(name, refusal(CLI_CODES.installation_incomplete, { files: named(vital) }), 'tool init')];
    if (gone.length === 0) return [];
    return [warn(name, refusal(CLI_CODES.installation_changed, { files: named(gone) }), 'tool init')];
  } catch (error) {
    const said = messageOf(error).replace(/^nothing was installed:\s*/i, '');
    return [fail(name, refusal(CLI_CODES.installation_unreadable, { said }), MEND_FIRST)];
  }
}
