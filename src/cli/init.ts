// `tool init`: puts hooks, agents, commands and the team server into a project, all of it or nothing.

import { join } from 'node:path';
import { claudeVersion } from '../agents/claude.ts';
import { packageRoot } from '../base/package-root.ts';
import { packageVersion } from '../base/package-version.ts';
import { asData, type Refusal, type RefusalData, textOf } from '../base/rules/codes.ts';
import { failure } from '../base/rules/errors.ts';
import { got } from '../base/rules/text.ts';
import { parseVersion } from '../base/rules/version.ts';
import { LOCAL_SETTINGS, settingsFiles } from '../claude-code/host-settings.ts';
import { previewPlan, proposeCommands } from '../gate/detect/plan-preview.ts';
import { missingParts, missingRefusal } from '../gate/rules/plan-preview.ts';
import { COMMANDED } from '../gate/rules/quality.ts';
import { trackedFiles } from '../git/tracked-files.ts';
import { type PreparedShell, prepareShell, previewShell } from '../guard/guard-shell.ts';
import { type ProposedPattern, proposeOwnership, withProposed } from '../guard/rules/suggest-ownership.ts';
import { performAll } from '../install/file-operations.ts';
import { formatterNotes } from '../install/formatters.ts';
import { ignoredSettings } from '../install/host-events.ts';
import { type HostSupport, hostSupport } from '../install/host-support.ts';
import { type InstallPlan, planInstall, readManifest } from '../install/install.ts';
import { findInstallTarget, type InstallTarget } from '../install/install-target.ts';
import { readPayload } from '../install/payload.ts';
import { dryRun, outcomeSummary, reportedOutcomes } from '../install/report.ts';
import { ignoreNotes, SHELL_LINE, shellEntries, unguardedNote, userShell } from '../install/shell-setting.ts';
import { TEAM_FILE } from '../team/config/team-config-file.ts';
import { type CommandRow, teamFileText } from '../team/config/team-file-text.ts';
import { readTeamSettings } from '../team/config/team-settings.ts';
import { DEFAULT_OWNERSHIP } from '../team/rules/default-ownership.ts';
import { DEFAULT_TEAM_SETTINGS } from '../team/rules/default-settings.ts';
import { TEAMS_VARIABLE } from '../team/rules/fallback.ts';
import type { TeamSettings } from '../team/rules/settings.ts';
import { refuseAgentsWhileTeamsActive } from './refuse-agents.ts';
import { CLI_CODES } from './rules/cli-codes.ts';

const SETTINGS = '.claude/settings.json';

export type InitOptions = {
  readonly dryRun?: boolean;
  readonly hostVersion?: string;
  readonly force?: boolean;
  readonly json?: boolean;
};

async function findHost(given: string | undefined): Promise<HostSupport> {
  if (given === undefined) return hostSupport(await claudeVersion(['claude'], process.env));
  const version = parseVersion(given);
  if (version === null || version !== given.trim())
    throw failure(CLI_CODES.option_invalid, {
      option: '--host-version',
      expected: 'a version like 2.1.100',
      got: got(given),
    });
  return hostSupport(version);
}

function nextStep({ root }: InstallTarget): string {
  return `Next: open Claude Code in ${root} and type  /tool:1-plan "<feature>" --team`;
}

/** What nobody owns, by the settings and the files that the project has. */
async function proposedFor({ root, main }: InstallTarget): Promise<readonly ProposedPattern[]> {
  return proposeOwnership(await trackedFiles(root), settingsIn(main).ownership);
}

function ownershipLines(proposed: readonly ProposedPattern[], plan: InstallPlan): readonly string[] {
  const config = plan.outcomes.find(({ path }) => path === TEAM_FILE);
  if (proposed.length === 0 || config === undefined || config.did === 'unchanged') return [];
  const isWritten = config.did === 'created' || config.did === 'changed';
  const head = isWritten
    ? `Owners of this project's own directories, as ${TEAM_FILE} has them (workflow.team.file_ownership; change it as you like):`
    : `${TEAM_FILE} stays as it is. Its workflow.team.file_ownership could have, for files that nobody owns:`;
  const row = ({ owner, pattern, files }: ProposedPattern) =>
    `  ${owner.padEnd(12)}  ${pattern}  (${files} ${files === 1 ? 'file' : 'files'} outside the usual directories)`;
  return ['', head, ...proposed.map(row)];
}

/** As the file has them; the defaults where there is none, or where it cannot be read, which is the doctor's matter. */
function settingsIn(root: string): TeamSettings {
  try {
    return readTeamSettings(root);
  } catch {
    return DEFAULT_TEAM_SETTINGS;
  }
}

/** What the detector proposes for the gate; none where a file of the project cannot be read. */
export async function commandRows(root: string, env: NodeJS.ProcessEnv): Promise<readonly CommandRow[]> {
  const proposals = await proposeCommands(root, env);
  if ('of' in proposals) return [];
  return COMMANDED.map((name) => ({ name, command: proposals[name].command, reason: proposals[name].reason }));
}

/** Required parts of the gate that nothing can measure, by the settings that the project has, or will have. */
async function gateNotes({ root, main }: InstallTarget): Promise<readonly Refusal[]> {
  const { quality } = settingsIn(main);
  const prospects = await previewPlan(root, quality, process.env);
  return 'of' in prospects ? [prospects] : missingParts(prospects, quality).map(missingRefusal);
}

function hostWords({ version }: HostSupport): string {
  return version === null ? 'no Claude Code found' : `Claude Code ${version}`;
}

/** The switches of the host that were set, and the use of each. */
function switchLines({ outcomes }: InstallPlan, shell: PreparedShell): readonly string[] {
  const isWritten = (file: string) => outcomes.some(({ path, did }) => path === file && did !== 'unchanged');
  const shared = `In ${SETTINGS}: ${TEAMS_VARIABLE}=1 allows team mode; mcp__team and enabledMcpjsonServers let the team's tools run without a question; the hooks check each write and each finished task.`;
  return [...(isWritten(SETTINGS) ? [shared] : []), ...(shell.ok && isWritten(LOCAL_SETTINGS) ? [SHELL_LINE] : [])];
}

/** A limit of the installation. `mend`: what the code itself does not say; null: nothing. */
type Limit = { readonly what: Refusal; readonly mend: string | null };

function limitText({ what, mend }: Limit): string {
  const text = textOf(what);
  return mend === null ? text : `${text.replace(/\.?$/, '.')} To mend it: ${mend}.`;
}

function limitData({ what, mend }: Limit): RefusalData {
  const data = asData(what);
  return { ...data, help: data.help ?? mend };
}

async function shellNotes({ root }: InstallTarget, shell: PreparedShell): Promise<readonly Refusal[]> {
  return shell.ok ? ignoreNotes(root) : [unguardedNote(shell)];
}

export async function initCommand(directory: string | undefined, options: InitOptions): Promise<void> {
  const project = findInstallTarget(directory, process.cwd(), process.env.HOME);
  const host = await findHost(options.hostVersion);
  const leftOut = ignoredSettings(settingsFiles(project.root, process.env), host.version);
  const alone = (what: Refusal): Limit => ({ what, mend: null });
  const checked: readonly Limit[] = [
    ...host.limits.map(alone),
    ...leftOut,
    ...[...formatterNotes(project.root), ...(await gateNotes(project))].map(alone),
  ];
  const version = packageVersion();
  const recorded = readManifest(project.root)?.ownership;
  const proposed = recorded === undefined ? await proposedFor(project) : [];
  const ownership = recorded ?? proposed;
  const commands = readManifest(project.root)?.commands ?? (await commandRows(project.root, process.env));
  const configText = teamFileText(withProposed(DEFAULT_OWNERSHIP, ownership), commands);
  const payload = readPayload({ from: packageRoot(), version, form: host.form, configText });
  const planWith = (shell: PreparedShell) =>
    planInstall({
      root: project.root,
      payload: { ...payload, personal: shellEntries(shell.ok ? shell.shell : null) },
      version,
      host: host.version,
      force: options.force === true,
      ownership: ownership.map(({ owner, pattern }) => ({ owner, pattern })),
      commands,
    });
  const isDry = options.dryRun === true;
  const permit = async (plan: InstallPlan): Promise<InstallPlan> => {
    if (!isDry && plan.operations.length > 0) await refuseAgentsWhileTeamsActive(project);
    return plan;
  };
  const { env } = process;
  const native = join(packageRoot(), 'dist', 'native');
  const shellOptions = { env, before: userShell(project.root, env), from: native };
  const foreseen = previewShell(shellOptions);
  // Every check of the project comes before the first write outside of it.
  const first = await permit(planWith(foreseen));
  const shell = isDry ? foreseen : await prepareShell(shellOptions);
  const plan = shell.ok === foreseen.ok ? first : await permit(planWith(shell));
  const limits = [...checked, ...(await shellNotes(project, shell)).map(alone)];
  const preview = isDry ? dryRun(project.root, plan) : undefined;
  if (preview === undefined) performAll(project.root, plan.operations);
  if (options.json === true) {
    const { root, kind } = project;
    const result = {
      root,
      kind,
      version,
      host: { ...host, limits: limits.map(limitData) },
      dryRun: isDry,
      changed: plan.operations.length > 0,
      files: plan.outcomes,
    };
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    return;
  }
  const did = isDry ? 'Would install' : 'Installed';
  const head =
    plan.operations.length === 0
      ? `toolcrew ${version} is installed in ${project.root} for ${hostWords(host)}; nothing was changed.`
      : `${did} toolcrew ${version} in ${project.root} (${project.kind}, ${hostWords(host)}):`;
  const said = [
    head,
    ...(preview?.lines ?? outcomeSummary(reportedOutcomes(plan))),
    ...switchLines(plan, shell),
    ...ownershipLines(proposed, plan),
    '',
    ...limits.map((limit) => `Note: ${limitText(limit)}`),
    preview === undefined ? nextStep(project) : 'Nothing was written.',
  ];
  process.stdout.write(`${said.join('\n')}\n${preview?.diff ?? ''}`);
}
