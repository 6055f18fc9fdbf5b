// The doctor's rows of team mode: its three prerequisites, what is installed, and what this host cannot do.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasAgentFile } from '../../agents/agent-tools.ts';
import { claudeVersion, INSTALL_CLAUDE } from '../../agents/claude.ts';
import { packageVersion } from '../../base/package-version.ts';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { messageOf, ToolError } from '../../base/rules/errors.ts';
import { findVariable } from '../../claude-code/host-settings.ts';
import { isOnPath } from '../../git/git.ts';
import { projectState } from '../../git/project-state.ts';
import type { HookForm } from '../../install/hook-table.ts';
import { hostSupport } from '../../install/host-support.ts';
import { MANIFEST, type Manifest, parseManifest } from '../../install/manifest.ts';
import { loadTeamSettings } from '../../team/config/settings-snapshot.ts';
import { readTeamFile } from '../../team/config/team-config-file.ts';
import { FileTeams } from '../../team/log/teams.ts';
import { roleNamed } from '../../team/rules/brief.ts';
import { LOG_CODES } from '../../team/rules/codes/log-codes.ts';
import { isActive } from '../../team/rules/log/state.ts';
import { agentOf } from '../../team/rules/role.ts';
import { prerequisitesOf } from '../../team/rules/select/activation.ts';
import type { TeamSettings } from '../../team/rules/settings.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import { DOCTOR_CODES } from '../rules/doctor-codes.ts';
import { diagnoseGate } from './doctor-gate.ts';
import { checkGuard } from './doctor-guard.ts';
import { checkComplete, checkSettings, checkStart, enabledPlugin, MEND_FIRST, startsNothing } from './doctor-host.ts';
import { mendOfLog } from './doctor-places.ts';
import { type DoctorCheck, fail, failedBy, ok, warn } from './doctor-row.ts';
import { diagnoseWorkspace } from './doctor-workspace.ts';

function installed(root: string): Manifest | undefined {
  const path = join(root, MANIFEST);
  return existsSync(path) ? parseManifest(readFileSync(path, 'utf8')) : undefined;
}

/** Whether the project has anything of team mode, or a plugin that brings it. */
export function hasTeamMode(root: string, env: Environment): boolean {
  return existsSync(join(root, '.tool')) || startsNothing(root) || enabledPlugin(root, env) !== undefined;
}

/** What is said inside a session of the host where nothing of it is found: what that one was started with cannot be seen. */
export function withoutTeamMode(env: Environment): readonly DoctorCheck[] {
  const says = refusal(DOCTOR_CODES.team_mode_unseen, {});
  return env.CLAUDECODE === undefined ? [] : [warn('team mode', says, 'tool init')];
}

/** Null: no host, or one that is too old for teams, as its own row says. */
function formFor(host: string | null): HookForm | null {
  try {
    return host === null ? null : hostSupport(host).form;
  } catch {
    return null;
  }
}

function checkUninstalled(root: string, env: Environment): DoctorCheck {
  const name = 'team mode';
  if (startsNothing(root)) return fail(name, refusal(DOCTOR_CODES.hook_programs_gone, {}), 'tool init');
  const plugin = enabledPlugin(root, env);
  const [inSession] = withoutTeamMode(env);
  return plugin === undefined
    ? (inSession ?? warn(name, refusal(DOCTOR_CODES.team_mode_missing, { root }), 'tool init'))
    : ok(name, `comes with the plugin ${plugin.id}, enabled in ${plugin.file}`);
}

function checkInstalled(root: string, host: string | null, env: Environment): readonly DoctorCheck[] {
  const name = 'team mode';
  let manifest: Manifest | undefined;
  try {
    manifest = installed(root);
  } catch (error) {
    const said = messageOf(error);
    return [fail(name, refusal(DOCTOR_CODES.installation_record_unreadable, { path: MANIFEST, said }), MEND_FIRST)];
  }
  if (manifest === undefined) return [checkUninstalled(root, env)];
  const own = packageVersion();
  if (manifest.version !== own) {
    const what = refusal(DOCTOR_CODES.installation_version_differs, { installed: manifest.version, own });
    return [warn(name, what, 'tool init')];
  }
  const wanted = formFor(host);
  const form = hostSupport(manifest.hostVersion).form;
  const words = `${own}, hooks for ${manifest.hostVersion === null ? 'any host' : `Claude Code ${manifest.hostVersion}`}`;
  const gaps = checkComplete(root, manifest);
  if (gaps.length > 0) return gaps;
  if (form === wanted || wanted === null) return [ok(name, words)];
  return form === 'resident'
    ? [fail(name, refusal(DOCTOR_CODES.hooks_unknown_to_host, { installed: words, host: host ?? '' }), 'tool init')]
    : [warn(name, refusal(DOCTOR_CODES.hooks_could_be_faster, { installed: words, host: host ?? '' }), 'tool init')];
}

/** What this version of the host cannot do, in the form installed and in that of a plugin. */
function checkLimits(host: string | null): readonly DoctorCheck[] {
  if (host === null) return [];
  const rows = hostSupport(host).limits.map((limit) => warn('team host', limit, 'claude update, or leave it so'));
  return [
    ...rows,
    ok(
      'plugin form',
      'with --plugin-dir or a marketplace: agents are called tool:team-…, and every hook is a program of its own',
    ),
  ];
}

/** Roles of the project's own are played by agents of its own, which nobody else brings. */
function checkAgents(root: string, { patterns }: TeamSettings, env: Environment): readonly DoctorCheck[] {
  const roles = new Set(Object.values(patterns).flat());
  return [...roles]
    .filter((role) => roleNamed(role) === undefined)
    .map(agentOf)
    .filter((agent) => !hasAgentFile(root, agent, env))
    .map((agent) =>
      warn(
        'team agents',
        refusal(DOCTOR_CODES.team_agent_missing, { agent }),
        `write .claude/agents/${agent}.md, after the model of one that \`tool init\` has put beside it`,
      ),
    );
}

async function checkTeams(root: string): Promise<readonly DoctorCheck[]> {
  const teams = new FileTeams({ root, now: Date.now });
  const rows: DoctorCheck[] = [];
  let names: readonly string[];
  try {
    names = teams.list();
  } catch (error) {
    return [failedBy('team log', error, mendOfLog(error, '.tool/teams', 'make .tool/teams a directory'))];
  }
  for (const name of names) {
    try {
      const log = teams.open(name);
      if (log === undefined) continue;
      const { state, tornLines } = log;
      await log.close();
      if (tornLines > 0)
        rows.push(
          warn(
            'team log',
            refusal(DOCTOR_CODES.team_log_torn, { team: name, count: tornLines }),
            `tool team events ${name}`,
          ),
        );
      if (isActive(state)) rows.push(ok('team', `${name} stands (${state.session})`));
    } catch (error) {
      const path = `.tool/teams/${name}`;
      rows.push(failedBy('team log', error, mendOfLog(error, path, `move ${path} away`), `${name}: `));
    }
  }
  return rows;
}

function checkDisplay(settings: TeamSettings, env: Environment): readonly DoctorCheck[] {
  const isThere = (env.PATH ?? '').split(':').some((directory) => existsSync(join(directory, 'tmux')));
  return settings.teammateDisplay !== 'tmux' || isThere
    ? []
    : [
        fail(
          'tmux',
          refusal(CLI_CODES.tmux_unavailable, {
            said: 'it is not installed, and workflow.team.teammate_display is tmux',
          }),
          'install tmux, or set it to auto',
        ),
      ];
}

/** With the code of what is wrong with the file: the problem, as it is kept, is words only. */
async function checkTeamFile(root: string, problem: Refusal): Promise<DoctorCheck> {
  const row = fail('workflow.yaml', problem, 'mend the keys named here');
  try {
    const file = readTeamFile(root);
    if (file === null) return { ...row, code: LOG_CODES.settings_file_gone.code };
    const { parseTeamSettings } = await import('../../team/config/team-settings.ts');
    parseTeamSettings(file.text, file.path);
    return row;
  } catch (error) {
    return error instanceof ToolError ? { ...row, code: error.code } : row;
  }
}

/** All rows of team mode, for a project. @param place where the command runs */
export async function diagnoseTeam(root: string, env: Environment, place = root): Promise<readonly DoctorCheck[]> {
  let host: string | null;
  try {
    host = await claudeVersion(['claude'], env);
  } catch {
    host = null;
  }
  const { settings, problem } = await loadTeamSettings(root, projectState(root, env));
  const prerequisites = prerequisitesOf(settings, host, findVariable(root, env), problem ?? undefined).map((one) => {
    const name = `team: ${one.name}`;
    if (one.holds) return ok(name, one.why);
    // All of it is said in a row of its own.
    if (one.trigger === 'settings_broken') return warn(name, refusal(DOCTOR_CODES.team_settings_broken, {}), one.mend);
    // What is not there cannot be updated.
    return one.name === 'host version' && host === null
      ? warn(name, refusal(CLI_CODES.claude_not_runnable, { command: 'claude' }), INSTALL_CLAUDE)
      : warn(name, refusal(DOCTOR_CODES.team_prerequisite_missing, { said: one.why }), one.mend);
  });
  const rows = [
    ...checkInstalled(root, host, env),
    ...(problem === null ? [] : [await checkTeamFile(root, problem)]),
    ...prerequisites,
    ...checkStart(root, place),
    ...checkSettings(root, host, env),
    await checkGuard(root, env),
    ...checkDisplay(settings, env),
    ...checkAgents(root, settings, env),
    ...(isOnPath('git', env) ? await diagnoseWorkspace(root, settings.copies, env) : []),
    ...(settings.enabled ? await diagnoseGate(root, settings, env) : []),
    ...(await checkTeams(root)),
  ];
  try {
    return [...rows, ...checkLimits(host)];
  } catch {
    // A host that is too old for teams: the prerequisite says so.
    return rows;
  }
}
