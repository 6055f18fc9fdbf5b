// Choice between a team and one agent after the other for a piece of work; each outcome with its reasons.

import { lineWithCode, messageIn, type Refusal, refusal, textOf } from '../../../base/rules/codes.ts';
import { got, problemsInLine } from '../../../base/rules/text.ts';
import { isVersionAtLeast } from '../../../base/rules/version.ts';
import { LEAD_CODES } from '../codes/lead-codes.ts';
import { FALLBACK_TRIGGERS, type FallbackTrigger, HOST_VERSION_MIN, TEAMS_VARIABLE } from '../fallback.ts';
import { PLANNERS } from '../planning.ts';
import { onlyReads } from '../role.ts';
import type { TeamSettings } from '../settings.ts';
import type { CommandName, Flags } from './command.ts';
import { rolesOf, type Selection } from './selection.ts';

type PrerequisiteName = 'host version' | 'variable' | 'enabled';

export type Prerequisite = { readonly name: PrerequisiteName; readonly why: string } & (
  | { readonly holds: true }
  | {
      readonly holds: false;
      readonly trigger: FallbackTrigger;
      /** The command or the edit that makes it hold. */
      readonly mend: string;
    }
);

type Common = { readonly reasons: readonly string[]; readonly prerequisites: readonly Prerequisite[] };

export type ModeDecision = Common &
  (
    | {
        readonly mode: 'team';
        /** Null where the team is there already: it is restarted as it was. */
        readonly pattern: string | null;
        readonly roles: readonly string[];
        readonly trigger: null;
      }
    | {
        readonly mode: 'subagent';
        readonly pattern: null;
        readonly roles: readonly [];
        readonly trigger: FallbackTrigger | null;
      }
    | {
        /** A team was asked for and cannot start, and sub-agents must not replace it. */
        readonly mode: 'refused';
        readonly pattern: null;
        readonly roles: readonly [];
        readonly trigger: FallbackTrigger | null;
        readonly refusal: Refusal;
      }
  );

export type TeamVariable = {
  /** Of the variable, as it was found. */
  readonly value: string | undefined;
  /**
   * `file`: a settings file of the host · `host`: the host has another than its settings files say now · `workflow`: the
   * daemon's tool.mode says it in the variable's place.
   */
  readonly source: 'shell' | { readonly file: string } | 'host' | 'workflow' | null;
};

export type DecisionInput = {
  readonly command: CommandName;
  readonly flags: Flags;
  readonly settings: TeamSettings;
  /** What is wrong with the file that they are of, and what holds instead; absent: nothing. */
  readonly problem?: Refusal | undefined;
  /** As the host says it, `2.1.331 (Claude Code)`; null: not known. */
  readonly hostVersion: string | null;
  readonly environment: TeamVariable;
  /** Null: there is nothing to select by, and no threshold is met. */
  readonly selection: Selection | null;
};

/** The three that a team needs, each with what was found and what mends it. */
export function prerequisitesOf(
  settings: TeamSettings,
  hostVersion: string | null,
  environment: TeamVariable,
  problem?: Refusal,
): readonly Prerequisite[] {
  return [hostPrerequisite(hostVersion), variablePrerequisite(environment), enabledPrerequisite(settings, problem)];
}

/** In place of a version: teammates are programs, which no host starts. */
export const NO_HOST = 'no host';

function unmetWords(name: PrerequisiteName, expected: string, found: string): string {
  return textOf(refusal(LEAD_CODES.prerequisite_missing, { name, expected, found }));
}

function hostPrerequisite(version: string | null): Prerequisite {
  const name = 'host version';
  if (version === NO_HOST) return { name, holds: true, why: 'no host takes part: teammates are programs of their own' };
  const mend = 'claude update';
  const trigger = 'host_version';
  if (version === null)
    return {
      name,
      holds: false,
      trigger,
      why: unmetWords(name, `${HOST_VERSION_MIN} or higher`, 'the version is not known'),
      mend,
    };
  const found = got(version.trim()).slice(1, -1);
  return isVersionAtLeast(version, HOST_VERSION_MIN)
    ? { name, holds: true, why: `${found}, at least ${HOST_VERSION_MIN}` }
    : { name, holds: false, trigger, why: unmetWords(name, `${HOST_VERSION_MIN} or higher`, `got ${found}`), mend };
}

function variablePrerequisite({ value, source }: TeamVariable): Prerequisite {
  const name = 'variable';
  if (source === 'workflow') return { name, holds: true, why: 'tool.mode in WORKFLOW.md replaces it' };
  const from = source === null ? '' : ` from ${typeof source === 'object' ? source.file : `the ${source}`}`;
  if (value === '1') return { name, holds: true, why: `${TEAMS_VARIABLE} is 1${from}` };
  const why = unmetWords(name, `${TEAMS_VARIABLE}=1`, `got ${got(value)}${from}`);
  return { name, holds: false, trigger: 'variable_unset', why, mend: mendOfVariable(source) };
}

function mendOfVariable(source: TeamVariable['source']): string {
  if (source === 'shell') return `export ${TEAMS_VARIABLE}=1`;
  if (source === 'host') return 'restart it: it was started before its settings changed, or with other settings';
  const set = `set "env": { "${TEAMS_VARIABLE}": "1" } in`;
  // A file counts more than the shell.
  return typeof source === 'object' && source !== null
    ? `${set} ${source.file}`
    : `${set} .claude/settings.json, or export ${TEAMS_VARIABLE}=1`;
}

/** @param problem why the file says nothing, and what holds instead */
function enabledPrerequisite({ enabled }: TeamSettings, problem: Refusal | undefined): Prerequisite {
  const name = 'enabled';
  if (enabled) return { name, holds: true, why: 'workflow.team.enabled is true' };
  if (problem !== undefined)
    return {
      name,
      holds: false,
      trigger: 'settings_broken',
      why: lineWithCode(problem),
      mend: 'correct what is named there',
    };
  const why = `expected workflow.team.enabled to be true, got ${enabled}`;
  const mend = 'set workflow.team.enabled: true in .tool/config/workflow.yaml';
  return { name, holds: false, trigger: 'not_enabled', why, mend };
}

function isWaived({ name, holds }: Prerequisite, isForced: boolean): boolean {
  return isForced && !holds && name !== 'host version';
}

type Unmet = Extract<Prerequisite, { holds: false }>;

function unmetOf(prerequisites: readonly Prerequisite[], isForced: boolean): readonly Unmet[] {
  return prerequisites.flatMap((one) => (one.holds || isWaived(one, isForced) ? [] : [one]));
}

function missingWords({ name, why, mend }: Unmet): string {
  return `${name}: ${why}; mend: ${mend}`;
}

/** What keeps a team that stands from going on as one; null: nothing does. */
export function lostPrerequisite(
  prerequisites: readonly Prerequisite[],
  isForced: boolean,
): { readonly trigger: FallbackTrigger; readonly why: string } | null {
  const [first] = unmetOf(prerequisites, isForced);
  return first === undefined ? null : { trigger: first.trigger, why: first.why };
}

/** Whether what goes on one at a time may be a team again, by what a team needs alone. */
export function decideAgain(
  prerequisites: readonly Prerequisite[],
  isForced: boolean,
): Pick<ModeDecision, 'mode' | 'reasons'> {
  const reasons = unmetOf(prerequisites, isForced).map(missingWords);
  return { mode: reasons.length === 0 ? 'team' : 'subagent', reasons };
}

/** `asked`: somebody wants a team, by flag or setting. `found`: the thresholds do, which nobody insists on. */
type Wish = { readonly team: false | 'asked' | 'found'; readonly reasons: readonly string[] };

/** Precedence: `--solo` > `--force` > `--team` > `execution_mode` > thresholds. Total: every input has an outcome. */
export function decideMode(input: DecisionInput): ModeDecision {
  const { flags, settings } = input;
  const { problem } = input;
  const prerequisites = prerequisitesOf(settings, input.hostVersion, input.environment, problem);
  const { team, reasons: wishes } = wishOf(input);
  // What is wrong with the file is a reason by itself, but where it is why there is no team.
  const isWhy = team !== false && prerequisites.some((one) => !one.holds && one.trigger === 'settings_broken');
  const reasons = problem === undefined || isWhy ? wishes : [...wishes, lineWithCode(problem)];
  if (team === false) return subagents(reasons, prerequisites, null);
  const blocked = flagRefusal(input);
  if (blocked !== null) return refused(blocked, wishes, prerequisites, 'settings_broken');
  const waived = prerequisites.filter((one) => isWaived(one, flags.force));
  const unmet = unmetOf(prerequisites, flags.force);
  const all = [...reasons, ...waived.map((one) => `${one.name}: ${one.why}; --force goes without`)];
  const [first] = unmet;
  if (first !== undefined) {
    const causes = unmet.map(missingWords);
    return fallBack(first.trigger, { given: all, causes, prerequisites, isAsked: team === 'asked' }, settings);
  }
  return teamOf(input, all, prerequisites, team);
}

/**
 * Why a flag that asks for a team is refused; null: it is not. `--force` goes without settings, and a daemon has nobody to ask.
 * @param problem what is wrong with the settings; what holds instead is not what such a flag means
 */
export function flagRefusal({
  flags,
  environment,
  problem,
}: Pick<DecisionInput, 'flags' | 'environment' | 'problem'>): Refusal | null {
  const isFlagged = flags.wish === 'team' || (flags.wish === null && flags.pattern !== null);
  if (problem === undefined || flags.force || !isFlagged || environment.source === 'workflow') return null;
  return refusal(LEAD_CODES.settings_block_flag, { problem: problemsInLine(String(problem.values.said)) });
}

type Fallback = {
  /** Reasons before the one that keeps the team from starting. */
  readonly given?: readonly string[];
  /** Causes, each in words. */
  readonly causes: readonly string[];
  readonly prerequisites?: readonly Prerequisite[];
  /** False: only the thresholds wanted a team. Sub-agents then replace it whatever the settings say. */
  readonly isAsked?: boolean;
};

/** The decision when a team cannot start: sub-agents with the trigger named, or a refusal if the settings allow no fallback. */
export function fallBack(
  trigger: FallbackTrigger,
  { given = [], causes, prerequisites = [], isAsked = true }: Fallback,
  settings: TeamSettings,
): ModeDecision {
  const why = FALLBACK_TRIGGERS[trigger];
  const reasons = [...given, ...causes];
  if (settings.fallback.enabled || !isAsked)
    return subagents(
      [...reasons, textOf(refusal(LEAD_CODES.subagents_instead, { trigger, why }))],
      prerequisites,
      trigger,
    );
  const no = refusal(LEAD_CODES.fallback_disabled, { trigger, why, causes: causes.join('; ') });
  return refused(no, reasons, prerequisites, trigger);
}

function subagents(
  reasons: readonly string[],
  prerequisites: readonly Prerequisite[],
  trigger: FallbackTrigger | null,
): ModeDecision {
  return { mode: 'subagent', pattern: null, roles: [], reasons, prerequisites, trigger };
}

function refused(
  no: Refusal,
  reasons: readonly string[],
  prerequisites: readonly Prerequisite[],
  trigger: FallbackTrigger | null = null,
): ModeDecision {
  return { mode: 'refused', pattern: null, roles: [], reasons, prerequisites, trigger, refusal: no };
}

function wishOf({ command, flags, settings, selection, environment }: DecisionInput): Wish {
  if (command === 'sync') return { team: false, reasons: ['a sync is the work of one agent'] };
  if (command === 'team-restart') return { team: 'asked', reasons: ['a team is restarted'] };
  if (flags.wish === 'solo') {
    const over = [...(flags.force ? ['--force'] : []), ...(flags.pattern === null ? [] : ['--pattern'])];
    return { team: false, reasons: [`--solo${over.length === 0 ? '' : `, which comes before ${over.join(' and ')}`}`] };
  }
  if (flags.force) return { team: 'asked', reasons: ['--force'] };
  if (flags.wish === 'team')
    return {
      team: 'asked',
      reasons: [environment.source === 'workflow' ? 'tool.mode: team in WORKFLOW.md' : '--team'],
    };
  if (flags.pattern !== null) return { team: 'asked', reasons: [`--pattern=${flags.pattern} names a team`] };
  if (settings.executionMode === 'team') return { team: 'asked', reasons: ['workflow.execution_mode is team'] };
  if (settings.executionMode === 'subagent') return { team: false, reasons: ['workflow.execution_mode is subagent'] };
  if (command === 'build-fix')
    return { team: false, reasons: ['a failure is looked into by one agent; --team for three'] };
  return selection === null
    ? { team: false, reasons: ['no threshold is met: there was nothing to select by'] }
    : byThresholds(selection);
}

/** A figure that is not known reaches no threshold. */
function byThresholds({ thresholds, size, critical, figures }: Selection): Wish {
  const said = thresholds
    .map(({ what, value, needed, source }) => `${what} ${value ?? 'unknown'} of ${needed} (${source})`)
    .join(', ');
  const met = thresholds.filter(({ value, needed }) => value !== null && value >= needed).map(({ what }) => what);
  if (met.length === 0) return { team: false, reasons: [`no threshold is met: ${said}`] };
  const reason = `${met.join(' and ')} reach${met.length === 1 ? 'es' : ''} the threshold: ${said}`;
  if (size !== 'solo' || critical !== null) return { team: 'found', reasons: [reason] };
  return { team: false, reasons: [reason, `but ${figures.files.value} files are too few for a team`] };
}

/** As many as there may be, in their order; in planning those whose results make the SPEC before any other. */
function withinMost(all: readonly string[], { maxTeammates }: TeamSettings, command: CommandName): readonly string[] {
  const first = command === 'plan' ? PLANNERS.filter((role) => all.includes(role)) : [];
  const kept = [...new Set([...first, ...all])].slice(0, Math.max(0, maxTeammates));
  return all.filter((role) => kept.includes(role));
}

function teamOf(
  { command, flags, settings, selection }: DecisionInput,
  reasons: readonly string[],
  prerequisites: readonly Prerequisite[],
  wish: 'asked' | 'found',
): ModeDecision {
  if (command === 'team-restart')
    return { mode: 'team', pattern: null, roles: [], reasons, prerequisites, trigger: null };
  const isSelected = command === 'run' && flags.pattern === null && selection !== null;
  const pattern =
    command === 'plan'
      ? 'plan_research'
      : command === 'build-fix'
        ? 'investigation'
        : (flags.pattern ?? selection?.pattern ?? 'implementation');
  const all = isSelected ? selection.roles : rolesOf(pattern, settings);
  const roles = withinMost(all, settings, command);
  const left = all.filter((role) => !roles.includes(role));
  const max = settings.maxTeammates;
  if (all.length === 0) return refused(refusal(LEAD_CODES.pattern_empty, { pattern }), reasons, prerequisites);
  if (roles.length === 0) return refused(refusal(LEAD_CODES.pattern_cut, { pattern, max }), reasons, prerequisites);
  if (command === 'run' && roles.every(onlyReads))
    return refused(refusal(LEAD_CODES.pattern_read_only, { pattern, roles }), reasons, prerequisites);
  if (command === 'plan' && PLANNERS.some((role) => left.includes(role))) {
    const no = refusal(LEAD_CODES.planners_cut, { planners: PLANNERS, max });
    if (wish === 'found') return subagents([...reasons, `no team: ${messageIn(no)}`], prerequisites, null);
    return refused(no, reasons, prerequisites);
  }
  const cut = left.length === 0 ? [] : [`without ${left.join(', ')}: max_teammates is ${max}`];
  const why = isSelected ? ` (${selection.patternWhy})` : '';
  const said = `pattern ${pattern}: ${roles.join(', ')}${why}`;
  return { mode: 'team', pattern, roles, reasons: [...reasons, said, ...cut], prerequisites, trigger: null };
}
