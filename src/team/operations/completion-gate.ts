// The gate before a task counts as completed: the project's own checks, and no change that nobody may have made.

import { messageIn, type Refusal, refusal, textOf, withCode } from '../../base/rules/codes.ts';
import { ToolError } from '../../base/rules/errors.ts';
import { withoutOldFailures } from '../../gate/rules/old-failures.ts';
import { type GateResult, isForLackOfCoverage, isForLackOfTests, rejection } from '../../gate/rules/quality.ts';
import { ruleWords, withRules } from '../../gate/rules/rule-files.ts';
import type { HeldSecret } from '../../gate/rules/secrets.ts';
import { coverageOfChange, ownFirst } from '../../gate/rules/uncovered-sources.ts';
import { ownerOf, SHARED } from '../../guard/rules/ownership.ts';
import type { TeamLog } from '../ports.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import { COMPLETION_HOOK, decisionOn, MAX_REJECTIONS, rejectionKey, type TeamState } from '../rules/log/state.ts';
import { TOOLCREW } from '../rules/message.ts';
import { formLines, problemsOfResult } from '../rules/planning.ts';
import { UNCHECKED } from '../rules/quality-verdict.ts';
import type { TeamSettings } from '../rules/settings.ts';
import type { Task } from '../rules/task.ts';
import { quoted } from '../rules/task-draft.ts';
import { taskIndexOf } from '../rules/task-index.ts';
import { isBusy, knownBaseline } from './baseline-checks.ts';
import { type ProjectChecks, type TeamCaller, type TeamContext, tellLead } from './context.ts';
import { FOREIGN_CHANGE, integrateWork, type Objection, prepareWork, presentSecrets } from './merge-work.ts';
import { NOTHING_EXCLUDED } from './uncommitted-files.ts';

export type CompletionContext = ProjectChecks & Pick<TeamContext, 'settings' | 'now' | 'teamWorktrees'>;

export type Completion = {
  readonly accept: boolean;
  readonly reason: string;
  /** null: it is accepted. */
  readonly refusal: Refusal | null;
  /** Why it is let through although it is not accepted, for people; null: it is not. */
  readonly tired: Refusal | null;
};

/** Rejections for secrets, where nothing is merged that could hold them. */
const SECRETS = 'secrets';
/** And those for conflicts that nobody has settled. */
const UNSETTLED = 'unsettled_conflict';

/** Judges a completion by somebody of a team, and writes down what was decided. */
export async function judgeCompletion(
  context: CompletionContext,
  log: TeamLog,
  task: Pick<Task, 'id' | 'subject'>,
  caller: TeamCaller,
  result: string | null = null,
): Promise<Completion> {
  const settings = await context.settings();
  const unreadable =
    caller.kind === 'member' && result !== null ? resultObjection(log.state, task, caller, result) : null;
  if (unreadable !== null) return decide(log, task, caller, unreadable, '', COMPLETION_HOOK, result);
  const free = withoutChecks(log.state, task, caller, settings);
  const own = await ownWork(context, log.state, caller);
  if (free !== null && own === null) return decide(log, task, caller, null, free);
  const before = log.state.rejections.get(`${FOREIGN_CHANGE}:${caller.name}`)?.fingerprint;
  const prepared = own === null ? null : await prepareWork(own.teamWorktrees, context, log, task, own.caller, before);
  if (prepared !== null && !prepared.ok) return decide(log, task, caller, prepared.objection, '', FOREIGN_CHANGE);
  if (prepared !== null && prepared.unsettled.length > 0) {
    const decided = await decide(log, task, caller, settleFirst(prepared.unsettled), '', UNSETTLED);
    if (!decided.accept) return decided;
  }
  const isWriter = caller.kind === 'member' || mayHoldOf(log.state, caller, settings);
  const change = own === null && isWriter ? await changeInPlace(context, log.state) : null;
  const foreign = change === null ? null : await foreignChanges(context, log, caller, settings, change);
  if (foreign !== null) return decide(log, task, caller, foreign, '', FOREIGN_CHANGE);
  const secrets = change === null ? [] : await ownSecrets(context, log.state, caller, settings, change);
  if (secrets.length > 0) {
    const decided = await decide(log, task, caller, presentSecrets(secrets), '', SECRETS);
    if (!decided.accept) return decided;
  }
  const unchecked = free ?? (settings.hooks.taskCompleted.requireQualityCheck ? null : UNCHECKED);
  const measured = unchecked === null ? await measure(context, log, task, caller, settings, own).catch(whenBusy) : null;
  // No rejection, and none that counts: nothing was found.
  if (measured instanceof ToolError) {
    const why = refusal(WORK_CODES.checks_not_run, { said: measured.message.replace(/\.$/, '') });
    return { accept: false, reason: textOf(why), refusal: why, tired: null };
  }
  const work = prepared ?? { upTo: null, without: NOTHING_EXCLUDED };
  if (measured !== null && measured.objection !== null) {
    const decided = await decide(log, task, caller, measured.objection, measured.words);
    // What is let through after all is not lost.
    const left =
      decided.accept && own !== null ? await integrateWork(own.teamWorktrees, log, task, own.caller, work) : null;
    return left === null ? decided : decide(log, task, caller, left, '', FOREIGN_CHANGE);
  }
  const apart = own === null ? null : await integrateWork(own.teamWorktrees, log, task, own.caller, work);
  const words = measured === null ? (unchecked ?? '') : measured.words;
  return decide(log, task, caller, apart, words, apart === null ? COMPLETION_HOOK : FOREIGN_CHANGE);
}

/** A planner's result of which no SPEC can be made goes back to it at once. */
function resultObjection(
  state: TeamState,
  { id }: Pick<Task, 'id'>,
  { name }: TeamCaller,
  result: string,
): Objection | null {
  const problems = problemsOfResult(state, name, result);
  if (problems.length === 0) return null;
  const why = refusal(WORK_CODES.result_breaks_spec_format, {
    ...{ task: id, lines: quoted(problems), form: formLines(name).join('\n') },
  });
  return { refusal: why, fingerprint: 'the result is in no form of a SPEC' };
}

function settleFirst(files: readonly string[]): Objection {
  return {
    refusal: refusal(WORK_CODES.conflict_markers_left, { files }),
    fingerprint: `unsettled ${files.join(', ')}`,
    // However often it comes: no branch holds a conflict that nobody has settled.
    isFinal: true,
  };
}

function whenBusy(error: unknown): ToolError {
  if (isBusy(error)) return error;
  throw error;
}

/** Where a writer of a run works apart from the others, and its work is merged; null for everybody else. */
async function ownWork(context: Pick<TeamContext, 'teamWorktrees'>, { purpose }: TeamState, caller: TeamCaller) {
  if (caller.kind !== 'member' || caller.member.readOnly || purpose?.phase !== 'run') return null;
  const teamWorktrees = await context.teamWorktrees();
  return teamWorktrees === null ? null : { teamWorktrees, caller };
}

/** What the team has changed so far, the caller's own work with it; null where nothing tells. */
async function changedBy(
  { workTree }: Pick<ProjectChecks, 'workTree'>,
  { team, base }: TeamState,
  own: Awaited<ReturnType<typeof ownWork>>,
): Promise<readonly string[] | null> {
  if (own !== null) {
    const { commits } = await own.teamWorktrees.commits(team, own.caller.name);
    const merged = await own.teamWorktrees.changed(team);
    return [...merged.map(({ path }) => path), ...commits.flatMap(({ files }) => files)];
  }
  const tree = base === null ? null : await workTree.tree();
  return base === null || tree === null ? null : workTree.changed(base, tree);
}

/**
 * What of a tree is a builder's own, where others build in the team; null: all of it counts. The tester is asked for the tests of all.
 */
function ownBy(
  { members, writers }: TeamState,
  caller: TeamCaller,
  { ownership }: TeamSettings,
): ((path: string) => boolean) | null {
  const { name } = caller;
  if (caller.kind !== 'member' || name === 'tester') return null;
  const builds = [...members.values()].filter((one) => !one.readOnly && one.name !== 'tester');
  if (builds.every((one) => one.name === name)) return null;
  return (path) => {
    const { owner } = ownerOf(path, ownership);
    return owner === name || ((owner === null || owner === SHARED) && writers.get(path)?.includes(name) === true);
  };
}

async function measure(
  context: CompletionContext,
  log: TeamLog,
  task: Pick<Task, 'id'>,
  caller: TeamCaller,
  settings: TeamSettings,
  work: Awaited<ReturnType<typeof ownWork>>,
) {
  const since = log.state.before === null ? context.now() : undefined;
  const before = await knownBaseline(context, log, settings.quality);
  const whole = await context.checks.run(settings.quality, new AbortController().signal, since);
  const isOwn = ownBy(log.state, caller, settings);
  const all = await changedBy(context, log.state, work);
  const own = isOwn === null ? whole : ownFirst(whole, isOwn);
  // What no test loads yet may be what the tester's next task is for.
  const paths = isTestedLater(log.state, task) ? null : all;
  const counted = isOwn === null || work !== null ? paths : (paths?.filter(isOwn) ?? null);
  const fresh = withoutOldFailures(coverageOfChange(own, counted, settings.quality), before);
  const result = withRules(fresh, all);
  const { tree, ok, checks, coverage } = result;
  await log.append({ type: 'gate_measured', task: task.id, tree, ok, checks, coverage });
  return {
    objection: objectionOf(result, log.state, task, caller, settings),
    words: [wordsOf(result), ruleWords(all ?? [])].filter(Boolean).join('; '),
  };
}

/** Why there is nothing to check; null when there is. */
function withoutChecks(
  state: TeamState,
  task: Pick<Task, 'id'>,
  caller: TeamCaller,
  settings: TeamSettings,
): string | null {
  if (!settings.hooks.taskCompleted.enabled) return 'unchecked: task_completed.enabled is false';
  if (state.purpose?.phase !== 'run')
    return `nothing to check: the ${state.purpose?.phase ?? ''} phase writes no files`;
  const isReadOnly = caller.kind === 'member' && caller.member.readOnly && !wasRejected(state, task);
  return isReadOnly ? `nothing to check: ${caller.name} is read-only` : null;
}

/** Whether the checks have rejected it, of whomever: then it is work that they are about. */
function wasRejected({ rejections }: TeamState, { id }: Pick<Task, 'id'>): boolean {
  return [...rejections.keys()].some((key) => key.startsWith(`${COMPLETION_HOOK}:`) && key.endsWith(`:task ${id}`));
}

function wordsOf({ checks }: GateResult): string {
  return checks
    .map(
      ({ check, outcome, figure }) => `${check} ${outcome.replace('_', ' ')}${figure === null ? '' : ` (${figure})`}`,
    )
    .join(', ');
}

/** Whether the tester has further tasks open. */
function isTestedLater(state: TeamState, task: Pick<Task, 'id'>): boolean {
  return taskIndexOf(state.tasks)
    .open()
    .some((one) => (one.owner ?? one.claim?.member) === 'tester' && one.id !== task.id);
}

/** What stands in the way of this completion; missing coverage, or that there is no test yet, does not while the tester has tasks of its own open. */
function objectionOf(
  result: GateResult,
  state: TeamState,
  task: Pick<Task, 'id'>,
  caller: TeamCaller,
  settings: TeamSettings,
): Objection | null {
  if (result.ok) return null;
  const failed = result.checks.filter(({ outcome }) => outcome === 'failed');
  const { coverageTarget } = settings.quality;
  const isTesters = failed.every((one) =>
    one.check === 'coverage' ? isForLackOfCoverage(result.coverage, coverageTarget) : isForLackOfTests(one),
  );
  if (isTestedLater(state, task) && caller.name !== 'tester' && isTesters) return null;
  const checks = failed.map(({ check }) => check);
  const said = rejection(result, settings.quality);
  return {
    refusal: refusal(WORK_CODES.work_not_accepted, { task: task.id, checks, said }),
    fingerprint: `task ${task.id} ${result.tree} ${checks.join(' ')}`,
  };
}

/** Since the team began, where all of it work in one place; `paths` is null where Git does not say which. */
type Change = { readonly base: string; readonly head: string; readonly paths: readonly string[] | null };

/** null: where nothing tells. */
async function changeInPlace(
  { workTree }: Pick<ProjectChecks, 'workTree'>,
  { base }: TeamState,
): Promise<Change | null> {
  const head = base === null ? null : await workTree.tree();
  if (base === null || head === null) return null;
  return { base, head, paths: await workTree.changed(base, head) };
}

/** Whether a file can be the caller's at all: of a lead that delegates none is, and the work tree is not looked at. */
function mayHoldOf({ writers }: TeamState, { name }: TeamCaller, { ownership }: TeamSettings): boolean {
  return ownership.some(({ owner }) => owner === name) || [...writers.values()].some((by) => by.includes(name));
}

/** Secrets in files of the caller's, of all that has changed where the team works in one place. */
async function ownSecrets(
  { newSecrets }: Pick<ProjectChecks, 'newSecrets'>,
  { writers }: TeamState,
  { name }: TeamCaller,
  { ownership, quality }: TeamSettings,
  { base, head, paths }: Change,
): Promise<readonly HeldSecret[]> {
  const isOwn = (path: string) => ownerOf(path, ownership).owner === name || writers.get(path)?.includes(name) === true;
  if (paths?.some(isOwn) === false) return [];
  const found = await newSecrets({ base, head }, quality.secrets);
  return found.filter(({ path }) => isOwn(path));
}

/** Changes to files of others that no decision allowed; said once, then the lead is told. */
async function foreignChanges(
  context: Pick<ProjectChecks, 'workTree'>,
  log: TeamLog,
  caller: TeamCaller,
  settings: TeamSettings,
  { paths }: Change,
): Promise<Objection | null> {
  const { state } = log;
  if (caller.kind !== 'member') return null;
  const seen = (paths ?? []).filter((path) => {
    const { owner } = ownerOf(path, settings.ownership);
    return owner !== null && owner !== SHARED && owner !== caller.name && !state.writers.has(path);
  });
  // A file that somebody else's editor has for a moment is gone at a second look.
  const again = seen.length === 0 ? null : await changeInPlace(context, state);
  const foreign = seen.filter((path) => again?.paths?.includes(path) !== false);
  if (foreign.length === 0) return null;
  const fingerprint = `foreign ${foreign.join(' ')}`;
  const before = state.rejections.get(`${FOREIGN_CHANGE}:${caller.name}`);
  if (before?.fingerprint === fingerprint) {
    const words = withCode(refusal(WORK_CODES.foreign_files_escalated, { hook: COMPLETION_HOOK, files: foreign }));
    const isTold = state.messages.some(({ from, content }) => from === TOOLCREW && content === words);
    if (!isTold) await tellLead(log, words);
    return null;
  }
  const owners = foreign.slice(0, 5).map((path) => `${path} (${ownerOf(path, settings.ownership).owner ?? ''}'s)`);
  return {
    fingerprint,
    refusal: refusal(WORK_CODES.foreign_files_changed, { files: foreign, owners }),
  };
}

/** Of longer ones the answer of TaskGet would be too long. */
const RETURNED_MAX = 30_000;

async function decide(
  log: TeamLog,
  task: Pick<Task, 'id'>,
  caller: TeamCaller,
  objection: Objection | null,
  accepted: string,
  hook = COMPLETION_HOOK,
  returned: string | null = null,
): Promise<Completion> {
  const member = caller.kind === 'member' ? caller.name : null;
  const about = `task ${task.id}`;
  const before = log.state.rejections.get(rejectionKey(hook, member, about));
  const isFinal = objection?.isFinal !== undefined;
  const decision = objection === null ? 'accept' : isFinal ? 'reject' : decisionOn(before, objection.fingerprint);
  // Only of a rejection there is something left to do.
  const said = decision === 'reject' ? textOf : messageIn;
  const reason = objection === null ? accepted : said(objection.refusal);
  await log.append({
    type: 'decision',
    hook,
    decision,
    member,
    about,
    reason,
    fingerprint: objection?.fingerprint ?? '',
    paths: [],
    ...(returned === null || decision !== 'reject' || returned.length > RETURNED_MAX ? {} : { returned }),
  });
  if (objection === null) return { accept: true, reason, refusal: null, tired: null };
  if (decision === 'reject') return { accept: false, reason, refusal: objection.refusal, tired: null };
  const isTold = member === null;
  if (decision === 'escalated' && !isTold)
    await tellLead(
      log,
      withCode(
        refusal(WORK_CODES.completion_escalated, {
          ...{ hook: COMPLETION_HOOK, task: task.id, member: caller.name, count: MAX_REJECTIONS, reason },
        }),
      ),
    );
  const tired = refusal(WORK_CODES.accepted_after_rejections, {
    ...{ count: MAX_REJECTIONS, reason, task: task.id, member: caller.name },
    ...(isTold ? {} : ({ told: 'lead' } as const)),
  });
  return { accept: true, reason: textOf(tired), refusal: null, tired };
}
