// The decision about a team command: its work, its mode and its tasks, the same for a prompt and for a terminal.

import { BASE_CODES } from '../../base/rules/base-codes.ts';
import { lineWithCode, type Refusal, refusal } from '../../base/rules/codes.ts';
import { ToolError } from '../../base/rules/errors.ts';
import { headAndTail, oneLine } from '../../base/rules/text.ts';
import type { TeamContext } from '../operations/context.ts';
import type { HostFacts, PeopleLog, ProjectFiles, SpecStore } from '../operations/context-parts.ts';
import { LEAD_CODES } from '../rules/codes/lead-codes.ts';
import { OPERATIONS_CODES } from '../rules/codes/operations-codes.ts';
import { SPEC_CODES } from '../rules/codes/spec-codes.ts';
import { CHOSEN_SOLO, FALLBACK_TRIGGERS } from '../rules/fallback.ts';
import { isActive } from '../rules/log/state.ts';
import { missingPlanners } from '../rules/planning.ts';
import type { Phase } from '../rules/role.ts';
import { decideMode, flagRefusal, type ModeDecision } from '../rules/select/activation.ts';
import type { CommandName, Flags } from '../rules/select/command.ts';
import { decompose } from '../rules/select/decomposition.ts';
import { rolesOf, type Selection, select } from '../rules/select/selection.ts';
import type { TeamSettings } from '../rules/settings.ts';
import type { PlannedSpec } from '../rules/spec-documents/check.ts';
import { planDrafts } from '../rules/spec-documents/plan-drafts.ts';
import type { SpecProblem } from '../rules/spec-documents/problem.ts';
import { completedAlready, isSpecId, specDirectory, specIdsIn } from '../rules/spec-documents/spec.ts';
import type { TaskDraft } from '../rules/task-draft.ts';
import { debugTeamName, issueTeamName, planTeamName, runTeamName } from '../rules/team-name.ts';

export type TeamCommand = { readonly command: CommandName; readonly words: string; readonly flags: Flags };

/** One place for what a command means: its phase, what it works on, the name of its team. */
export type Work = {
  readonly phase: Phase;
  readonly subject: string;
  readonly team: string;
  readonly text: string;
  /** A SPEC with a plan: that counts. Null: the tasks are made from the text. */
  readonly data: PlannedSpec['data'] | null;
  /** Of its documents. */
  readonly warnings: readonly string[];
};

/** Work without a SPEC that has a plan. */
const UNPLANNED = { data: null, warnings: [] } as const;

function workPlan(planned: PlannedSpec | null): Pick<Work, 'data' | 'warnings'> {
  if (planned === null) return UNPLANNED;
  const warnings = planned.warnings.map(({ file, line, words }) => `${file}:${line}: ${words}`);
  return { data: planned.data, warnings };
}

/** So much of an issue's title names its team's work. */
const TITLE_MAX = 120;

export type WorkContext = Pick<TeamContext, 'teams' | 'problems' | 'checks'> &
  PeopleLog & { readonly project: Pick<ProjectFiles, 'files'> & SpecStore & HostFacts };

export type Decided =
  /** `of`: whether what is asked for is in the way, or the place where it would be done. */
  | { readonly kind: 'refused'; readonly of: 'work' | 'place'; readonly problems: readonly Refusal[] }
  | {
      readonly kind: 'decided';
      readonly work: Work;
      readonly decision: ModeDecision;
      /** Whether neither the setting nor the variable has to allow it. */
      readonly isForced: boolean;
      /** Whether a flag asks for a team. */
      readonly isAsked: boolean;
      readonly reasons: readonly string[];
      readonly drafts: readonly TaskDraft[];
    };

type Refused = Extract<Decided, { kind: 'refused' }>;

/** The error of a decision with one refusal; null: there are several. */
export function onlyRefusal({ problems }: Refused): ToolError | null {
  const [one, ...more] = problems;
  return one === undefined || more.length > 0 ? null : new ToolError(one);
}

/** The values of one refusal that names them all. */
export function allProblems({ problems }: Refused, between = '\n') {
  return { said: problems.map(lineWithCode).join(between), problems };
}

async function workOf(
  context: Pick<TeamContext, 'teams'> & { readonly project: SpecStore },
  { command, words }: TeamCommand,
  settings: TeamSettings,
): Promise<Work | { readonly problem: Refusal }> {
  const noSpec = command === 'plan' ? context.project.whyNoSpec() : null;
  if (noSpec !== null) return { problem: noSpec };
  if (command === 'plan')
    return { phase: 'plan', subject: words, team: planTeamName(words), text: words, ...UNPLANNED };
  if (command === 'build-fix') {
    const subject = words === '' ? 'the failure that the user speaks of' : words;
    return {
      phase: 'debug',
      subject,
      team: debugTeamName(words === '' ? 'failure' : words),
      text: words,
      ...UNPLANNED,
    };
  }
  const text = context.project.spec(words);
  if (text === null) {
    const known = context.project.specs();
    return {
      problem: refusal(LEAD_CODES.spec_file_not_found, {
        path: `${specDirectory(words)}/spec.md`,
        known:
          known.length === 0
            ? 'no SPEC has been written yet: /tool:1-plan "<feature>" makes one'
            : `there is ${known.join(', ')}`,
      }),
    };
  }
  const approval = await context.project.approval(words);
  const { counts, why } = approval;
  const team = runTeamName(words) ?? '';
  const completed = completedAlready(words, approval);
  // What stands is brought to its end.
  if (completed !== null && !context.teams.list().includes(team))
    return { problem: refusal(LEAD_CODES.spec_already_built, { spec: words }) };
  if (settings.requirePlanApproval && !counts)
    return { problem: refusal(SPEC_CODES.spec_not_approved, { spec: words, why }) };
  const planned = await context.project.planned(words);
  if (planned !== null && planned.problems.length > 0) return { problem: unreadable(words, planned.problems) };
  return { phase: 'run', subject: words, team, text, ...workPlan(planned) };
}

/** So many problems of documents are named where there is little room. */
const PROBLEMS_NAMED = 3;

/** Why a SPEC is not built: what is left of it would be something else than what was approved. */
export function unreadable(id: string, problems: readonly SpecProblem[]): Refusal {
  return refusal(LEAD_CODES.spec_has_problems, { spec: id, problems: firstProblems(problems) });
}

function firstProblems(problems: readonly SpecProblem[]): string {
  const named = problems.slice(0, PROBLEMS_NAMED).map(({ file, line, words }) => `${file}:${line}: ${words}`);
  const left = problems.length - named.length;
  return `${named.join('; ')}${left === 0 ? '' : `; and ${left} more`}`;
}

/** What is said of a SPEC that was written without a plan. */
function unplanned({ subject, data }: Work): readonly string[] {
  return data !== null || !isSpecId(subject)
    ? []
    : [`${specDirectory(subject)} has no plan.md: the tasks are made from its text`];
}

/** Required parts of the gate that nothing can measure: no teammate could pass it. */
export async function missingForGate(
  { checks }: Pick<TeamContext, 'checks'>,
  phase: Phase,
  { quality, hooks: { taskCompleted } }: TeamSettings,
): Promise<readonly Refusal[]> {
  const isMeasured = phase === 'run' && taskCompleted.enabled && taskCompleted.requireQualityCheck;
  return isMeasured ? checks.missing(quality) : [];
}

/** Decides what the command comes to; nothing is written. */
export async function decideWork(context: WorkContext, command: TeamCommand, settings: TeamSettings): Promise<Decided> {
  const work = await workOf(context, command, settings);
  if ('problem' in work) return { kind: 'refused', of: 'work', problems: [work.problem] };
  const [problem] = context.problems();
  const refused = flagRefusal({ flags: command.flags, environment: context.project.variable, problem });
  if (refused !== null) return { kind: 'refused', of: 'place', problems: [refused] };
  // What stands is brought to its end.
  const isBegun = context.teams.list().includes(work.team);
  const missing = isBegun ? [] : await missingForGate(context, work.phase, settings);
  // A file that cannot be used may name already what is missing.
  const broken = problem === undefined ? [] : [problem];
  if (missing.length > 0) return { kind: 'refused', of: 'place', problems: [...broken, ...missing] };
  return decideOn(context, work, command, settings);
}

/** An issue, as it is to be worked on by a team. */
export type AskedIssue = {
  readonly issue: number;
  /** How often the issue has come up for work, from 1. */
  readonly life: number;
  /** Its title, then its body. */
  readonly text: string;
};

/**
 * Decides who works on an issue; nothing is written. The first SPEC that it names and that may be built is what is built;
 * where it names some and none may be, nothing is.
 */
export async function decideIssue(
  context: WorkContext,
  asked: AskedIssue,
  flags: Flags,
  settings: TeamSettings,
): Promise<Decided> {
  const { issue, life, text } = asked;
  const team = issueTeamName(issue, life);
  const title = oneLine(text.split('\n')[0] ?? '', TITLE_MAX);
  /** Why each of those that it names is not built. */
  const left: Refusal[] = [];
  const done: string[] = [];
  for (const id of specIdsIn(text)) {
    const spec = context.project.spec(id);
    if (spec === null) continue;
    const approval = await context.project.approval(id);
    const { counts, why } = approval;
    if (completedAlready(id, approval) !== null) {
      done.push(lineWithCode(refusal(LEAD_CODES.issue_spec_completed, { spec: id })));
      continue;
    }
    if (settings.requirePlanApproval && !counts) {
      left.push(refusal(LEAD_CODES.issue_spec_not_approved, { spec: id, why }));
      continue;
    }
    const planned = await context.project.planned(id);
    if (planned !== null && planned.problems.length > 0) {
      left.push(refusal(LEAD_CODES.issue_spec_has_problems, { spec: id, problems: firstProblems(planned.problems) }));
      continue;
    }
    const work: Work = { phase: 'run', subject: id, team, text: spec, ...workPlan(planned) };
    const said = [`the issue names ${id}`, ...left.map((one) => `not built: ${lineWithCode(one)}`), ...done];
    return decideOn(context, work, { command: 'run', flags }, settings, said);
  }
  if (left.length > 0) return { kind: 'refused', of: 'work', problems: left };
  const work: Work = { phase: 'run', subject: `issue #${issue}: ${title}`, team, text, ...UNPLANNED };
  return decideOn(context, work, { command: 'run', flags }, settings, done);
}

/** A later round of work on an issue: its task is what came since the work was handed in. */
export type AskedRound = Pick<AskedIssue, 'issue' | 'life' | 'text'> & {
  readonly round: { readonly number: number; readonly words: string };
};

/** So much of what came is read; each teammate has all of it in its prompt. */
const ROUND_MAX = 20_000;

/** Decides who works in a later round; nothing is written. */
export function decideRound(
  context: WorkContext,
  { issue, life, text, round }: AskedRound,
  flags: Flags,
  settings: TeamSettings,
): Promise<Decided> {
  const title = oneLine(text.split('\n')[0] ?? '', TITLE_MAX);
  const work: Work = {
    phase: 'run',
    subject: `issue #${issue}, round ${round.number}: ${title}`,
    team: issueTeamName(issue, life, round.number),
    text: `Round ${round.number}: ${title}\n\n${headAndTail(round.words, ROUND_MAX)}`,
    ...UNPLANNED,
  };
  return decideOn(context, work, { command: 'run', flags }, settings, [
    `the work was handed in before: round ${round.number} is for what came since`,
  ]);
}

async function decideOn(
  context: WorkContext,
  work: Work,
  { command, flags }: Pick<TeamCommand, 'command' | 'flags'>,
  settings: TeamSettings,
  said: readonly string[] = [],
): Promise<Decided> {
  const files = await context.project.files();
  const selection = select({ text: work.text, files, settings, plan: work.data?.plan.tasks ?? null });
  const decision = decideMode({
    command,
    flags,
    settings,
    problem: context.problems()[0],
    hostVersion: await context.project.hostVersion(),
    environment: context.project.variable,
    selection,
  });
  if (decision.mode === 'refused') return { kind: 'refused', of: 'place', problems: [decision.refusal] };
  const { trigger } = decision;
  if (trigger !== null) {
    const warning = refusal(LEAD_CODES.subagents_instead, { trigger, why: FALLBACK_TRIGGERS[trigger] });
    context.log(settings.fallback.logLevel, lineWithCode(warning));
  }
  const { ownership } = settings;
  // One after the other, the same roles do it.
  const roles = decision.mode === 'team' ? decision.roles : rolesFor(work.phase, selection, settings);
  const missing = work.phase === 'plan' ? missingPlanners(roles) : [];
  if (missing.length > 0)
    return {
      kind: 'refused',
      of: 'place',
      problems: [
        refusal(BASE_CODES.config_value, {
          key: `workflow.team.patterns.${decision.pattern ?? PLANNING}`,
          expected: 'analyst and architect among the roles, of whose results a SPEC is made',
          got: roles.join(', ') || 'none',
        }),
      ],
    };
  const { tasks, notes } =
    work.data === null || roles.length === 0
      ? decompose({ phase: work.phase, roles, text: work.text, selection, ownership, files })
      : planDrafts({ data: work.data, roles, ownership });
  const drafts: readonly TaskDraft[] = tasks;
  const reasons = [...said, ...unplanned(work), ...work.warnings, ...decision.reasons, ...notes];
  const isAsked = flags.wish === 'team' || (flags.wish === null && (flags.force || flags.pattern !== null));
  return { kind: 'decided', work, decision, isForced: flags.force, isAsked, reasons, drafts };
}

const PLANNING = 'plan_research';

function rolesFor(phase: Phase, selection: Selection, settings: TeamSettings): readonly string[] {
  if (phase === 'run') return selection.roles;
  return rolesOf(phase === 'plan' ? PLANNING : 'investigation', settings);
}

/**
 * Writes down what a team is to be made for, and its tasks; gives why there can be none.
 * @param wordsHash of what people wrote before it begins; undefined: nothing
 */
export async function recordProposal(
  context: Pick<TeamContext, 'teams'>,
  decided: Extract<Decided, { kind: 'decided' }>,
  wordsHash?: string,
): Promise<Refusal | null> {
  const { work, decision, isForced, reasons, drafts } = decided;
  const log = context.teams.begin(work.team);
  try {
    if (isActive(log.state))
      return refusal(OPERATIONS_CODES.team_still_active, { team: work.team, state: log.state.session });
    const { phase, subject } = work;
    const { pattern } = decision;
    // One after the other, whoever has a task takes part.
    const roles = decision.mode === 'team' ? decision.roles : [...new Set(drafts.map(({ owner }) => owner))];
    await log.append({
      ...{ type: 'proposed', phase, pattern, roles, subject, reasons, drafts },
      ...(decision.mode === 'team' ? {} : { alone: decision.trigger ?? CHOSEN_SOLO }),
      ...(isForced ? { forced: true } : {}),
      ...(wordsHash === undefined ? {} : { words_hash: wordsHash }),
    });
    return null;
  } finally {
    await log.close();
  }
}
