// The agent that is a team: a process that leads it on an issue, inside an attempt of the daemon. It reads its order from
// standard input and says what happens, line by line; what is finished is merged into the branch that is checked out.

import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { RUN_VARIABLE } from '../../base/processes/processes.ts';
import { RuntimeDir } from '../../base/processes/runtime-dir.ts';
import { failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { clip, oneLine } from '../../base/rules/text.ts';
import { NO_FLAGS } from '../../claude-code/rules/arguments.ts';
import { type ComposedLead, composeLead } from '../../compose/lead.ts';
import { summaryOf } from '../../daemon/rules/team-summary.ts';
import { GO, REASON_MAX, type TeamLine, type TeamOrder, teamOrder } from '../../daemon/runners/team-wire.ts';
import { Lead } from '../../team/lead/lead.ts';
import { isLeft, resumeTeam, startTeam } from '../../team/lead/start-team.ts';
import { type FinishedTeam, finishedTeam, reportPath } from '../../team/log/finished-team.ts';
import { inheritedBounds } from '../../team/members/member-bounds.ts';
import { OPERATIONS_CODES } from '../../team/rules/codes/operations-codes.ts';
import { type Cost, costBetween, costOfTeam } from '../../team/rules/cost.ts';
import type { TeamState } from '../../team/rules/log/state.ts';
import { issueTeamName } from '../../team/rules/team-name.ts';
import { teamReport } from '../../team/rules/views/report.ts';
import { allProblems, decideIssue, decideRound, onlyRefusal } from '../../team/select/work-decision.ts';
import { replaceFile } from '../../team/spec-documents/specs.ts';
import { type BranchPosition, branchPositionOf, mergeTeamBranch } from '../../team/worktrees/merge-team-branch.ts';
import { errorLine } from '../failed-command.ts';
import { requestDaemon } from '../issue.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import { roundInstruction, roundWords, threadReplies } from '../rules/team-round.ts';
import { SIGNALS } from '../signals.ts';
import { teammateRuntimeOf } from '../teammate-runtime.ts';
import { WordsForTeam } from './team-words.ts';

/** How often the state is shown when it has changed, and how often it is said that this process lives. */
const SHOW_MS = 500;
const SIGN_MS = 15_000;

function emit(line: TeamLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function say(words: string): void {
  emit({ type: 'said', who: 'lead', text: words });
}

/** The lines of standard input, one at a time; '' after the last. */
function linesOfInput() {
  const input = createInterface({ input: process.stdin });
  const lines = input[Symbol.asyncIterator]();
  return {
    next: async (): Promise<string> => {
      const { done, value } = await lines.next();
      return done === true ? '' : value;
    },
    /** The process ends though the daemon still holds the other side. */
    close: () => {
      input.close();
      process.stdin.destroy();
    },
  };
}

async function readOrder(next: () => Promise<string>): Promise<TeamOrder> {
  const text = await next();
  try {
    return teamOrder.parse(JSON.parse(text));
  } catch (error) {
    const values = { missing: 'the order of the daemon as one line', said: messageOf(error) };
    throw failure(CLI_CODES.agent_command_misused, values, { cause: error });
  }
}

/** What this program writes beside the work is none of it. */
function leaveOut(root: string): void {
  const path = join(root, '.git', 'info', 'exclude');
  const lines = ['/.tool/teams/', '/.tool/state/', '/.tool/cache/', '/.tool/worktrees/'];
  const known = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  const missing = lines.filter((line) => !known.includes(line));
  if (missing.length === 0) return;
  mkdirSync(join(root, '.git', 'info'), { recursive: true });
  appendFileSync(path, `${missing.map((line) => `\n${line}`).join('')}\n`);
}

/** The file's prompt speaks to one agent that does everything. */
function instructionOf({ instruction, round }: TeamOrder, earlier: readonly string[]): string {
  return [
    'The whole work, as the daemon puts it to whoever is alone with it. Yours are your tasks below; the branch, the pull request and the issue itself are the lead’s:',
    ...instruction.split('\n').map((line) => `> ${line}`),
    ...(round.number === 1 ? [] : ['', roundInstruction(round.number, earlier)]),
  ].join('\n');
}

/** Says how the team stands, whenever that has changed. */
class Show {
  readonly #state: () => TeamState;
  readonly #timers: readonly NodeJS.Timeout[];
  /** What earlier attempts used. */
  readonly #before: Cost | null;
  #shown = '';

  constructor(state: () => TeamState) {
    this.#state = state;
    this.#before = costOfTeam(state());
    this.#timers = [
      setInterval(() => this.show(this.#state()), SHOW_MS),
      setInterval(() => emit({ type: 'sign' }), SIGN_MS),
    ];
  }

  /** What this attempt used so far. */
  get used(): Cost {
    return costBetween(costOfTeam(this.#state()), this.#before);
  }

  show(state: TeamState): void {
    const team = summaryOf(state, Date.now());
    const text = JSON.stringify(team);
    if (text === this.#shown) return;
    this.#shown = text;
    emit({ type: 'team', team });
    emit({ type: 'usage', usage: this.used });
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }
}

/**
 * Of a team that is done: what it built and how. Null: it changed nothing.
 * @param branch the issue's, into which the team's comes
 */
async function reportOf(
  { lead: { teamWorktrees } }: ComposedLead,
  team: string,
  { branch }: BranchPosition,
  { directory, state }: Pick<FinishedTeam, 'directory' | 'state'>,
): Promise<string | null> {
  await teamWorktrees.begin(team);
  const changed = await teamWorktrees.changed(team);
  if (changed.length === 0) return null;
  const kept = await teamWorktrees.kept(team);
  const report = teamReport({ state, branch: branch.replace(/^refs\/heads\//, ''), changed, kept });
  replaceFile(reportPath(directory), report);
  return report;
}

/** Work of a team that is done. `report` null: a later round has changed nothing. */
type Done = { readonly state: TeamState; readonly report: string | null };

/** The work of the team, where an earlier attempt led it to its end and did not come to hand it in. */
async function finishedWork(
  composed: ComposedLead,
  { round }: TeamOrder,
  team: string,
  start: BranchPosition,
): Promise<Done | null> {
  const finished = await finishedTeam(composed.project.main, team);
  if (finished === null) return null;
  const report = finished.report ?? (await reportOf(composed, team, start, finished));
  return report === null && round.number === 1 ? null : { state: finished.state, report };
}

/** The teams of the rounds before this one that finished, with their reports, oldest first. */
async function earlierTeams({ project }: ComposedLead, { issue, life, round }: TeamOrder): Promise<readonly Done[]> {
  const teams: Done[] = [];
  for (let number = 1; number < round.number; number++)
    teams.push(...[(await finishedTeam(project.main, issueTeamName(issue, life, number))) ?? []].flat());
  return teams;
}

/** Without anything new, the work that was handed in last is handed in again: one agent may have done rounds after it. */
async function withRound({ project }: ComposedLead, order: TeamOrder): Promise<TeamOrder> {
  const { issue, life } = order;
  let { number } = order.round;
  if (order.round.words !== null) return order;
  while (number > 1 && (await finishedTeam(project.main, issueTeamName(issue, life, number))) === null) number -= 1;
  return { ...order, round: { number, words: null } };
}

function reportsOf(teams: readonly Done[]): readonly string[] {
  return teams.flatMap(({ report }) => report ?? []);
}

/** What was built comes into the issue's branch, and the daemon is asked for the pull request. */
async function handIn(
  composed: ComposedLead,
  order: TeamOrder,
  {
    team,
    earlier,
    isUnheard,
  }: { readonly team: string; readonly earlier: readonly Done[]; readonly isUnheard: boolean },
  { state, report }: Done,
  start: BranchPosition,
  signal: AbortSignal,
): Promise<void> {
  const { project } = composed;
  if (signal.aborted) throw failure(CLI_CODES.team_interrupted, { team });
  await mergeTeamBranch(project.main, team, start, say);
  if (signal.aborted) throw failure(CLI_CODES.team_interrupted, { team });
  const title = oneLine(order.text.split('\n')[0] ?? '', 200);
  // What was asked for is known by then, and the branch is there: the daemon publishes it after a good end.
  // The way to the daemon is in no environment: whatever this process starts would be shown it.
  const ask = (request: Readonly<Record<string, unknown>>) =>
    requestDaemon(request, order.agentSocket).catch((error: unknown) => say(errorLine(error)));
  const body = reportsOf([...earlier, { state, report }]).join('\n\n');
  if (body !== '') await ask({ type: 'pull_request', title, body });
  const isLater = order.round.number > 1;
  for (const reply of isLater ? threadReplies(state) : []) await ask({ type: 'reply', ...reply });
  const sum = report?.split('\n').find((line) => /^\d+ of /.test(line)) ?? `team ${team} is done`;
  const words = isLater ? roundWords(state, report) : sum;
  emit({ type: 'done', words, ...(isUnheard ? { isUnheard } : {}) });
}

/** The runtime of the teammates has no quota. */
class QuotaSpent extends Error {
  /** When it is there again, ms since the epoch. */
  readonly at: number;

  constructor(words: string, at: number) {
    super(words);
    this.at = at;
  }
}

/** Leads the team to its end. */
async function lead(
  composed: ComposedLead,
  order: TeamOrder,
  team: string,
  start: BranchPosition,
  stop: AbortController,
  next: () => Promise<string>,
  earlier: readonly Done[],
): Promise<Done> {
  const { context } = composed;
  const log = context.teams.open(team);
  if (log === undefined) throw failure(OPERATIONS_CODES.team_gone, { team });
  const show = new Show(() => log.state);
  const words = new WordsForTeam(context, log, (keys) => emit({ type: 'heard', keys: [...keys] }), say);
  words.listen(next).catch((error: unknown) => say(messageOf(error)));
  let overspent = false;
  try {
    const outcome = await new Lead(
      {
        ...composed.lead,
        // Read when a member starts.
        get instruction() {
          return [instructionOf(order, reportsOf(earlier)), ...words.texts].join('\n\n');
        },
        width: Number.POSITIVE_INFINITY,
        say,
        output: (name, text) => {
          for (const line of text.split('\n').filter((one) => one.trim() !== ''))
            emit({ type: 'said', who: name, text: line });
        },
        onEvent: () => {
          if (order.budgetUsd === null || show.used.cost_usd < order.budgetUsd) return;
          overspent = true;
          stop.abort();
        },
      },
      log,
    ).lead(stop.signal);
    show.show(outcome.state);
    if (outcome.kind !== 'done' && overspent) throw failure(CLI_CODES.team_over_budget, { left: order.budgetUsd ?? 0 });
    if (outcome.kind === 'failed' && outcome.quotaAt !== undefined) throw new QuotaSpent(outcome.why, outcome.quotaAt);
    if (outcome.kind === 'failed') throw failure(CLI_CODES.team_ended_badly, { team, why: outcome.why });
    if (outcome.kind === 'interrupted') throw failure(CLI_CODES.team_interrupted, { team });
    const { state, archived: directory } = outcome;
    const report = await reportOf(composed, team, start, { directory, state });
    if (report === null && order.round.number === 1) throw failure(CLI_CODES.team_changed_nothing, { team });
    return { state, report };
  } finally {
    words.close();
    show.close();
  }
}

/** Of what came since the work was handed in; undefined: nothing. */
function hashOf({ round: { words } }: TeamOrder): string | undefined {
  return words === null ? undefined : createHash('sha256').update(words).digest('hex');
}

/** Says what the issue comes to; gives what begins the team's work, null where the work is one agent's. */
async function decide(
  composed: ComposedLead,
  order: TeamOrder,
  team: string,
  earlier: readonly Done[],
): Promise<(() => Promise<unknown>) | null> {
  const { context } = composed;
  const { mode } = order;
  const { number, words } = order.round;
  const standing = context.teams.list().includes(team) ? context.teams.open(team) : undefined;
  if (standing !== undefined && isLeft(standing.state)) {
    emit({ type: 'decided', as: 'team', reasons: [`team ${team} stands: its work goes on`] });
    return () => resumeTeam(context, team, say, null, hashOf(order));
  }
  // What was decided for the issue holds for all that comes later.
  if (number > 1 && mode === 'auto' && earlier.length === 0) {
    emit({ type: 'decided', as: 'alone', reasons: [`round ${number}: one agent did the work before`] });
    return null;
  }
  const settings = await context.settings();
  const flags = { ...NO_FLAGS, wish: mode === 'team' ? ('team' as const) : null };
  const isLater = number > 1 && words !== null;
  const decided = isLater
    ? await decideRound(context, { ...order, round: { number, words } }, flags, settings)
    : await decideIssue(context, order, flags, settings);
  // No further attempt changes what the issue asks for: it counts, and the issue says in the end what is in the way.
  if (decided.kind === 'refused')
    throw decided.of === 'place'
      ? failure(CLI_CODES.work_place_refused, allProblems(decided, '; '))
      : (onlyRefusal(decided) ?? failure(CLI_CODES.work_refused, allProblems(decided, '; ')));
  const { decision } = decided;
  const reasons = decided.reasons.map((reason) => clip(reason, REASON_MAX));
  // A later round of a team has the team's rules, even where one teammate works at a time.
  if (mode === 'auto' && decision.mode !== 'team' && !isLater) {
    emit({ type: 'decided', as: 'alone', reasons });
    return null;
  }
  emit({ type: 'decided', as: 'team', reasons });
  return () => startTeam(context, decided, undefined, hashOf(order));
}

async function carryOut(next: () => Promise<string>): Promise<void> {
  const told = await readOrder(next);
  const cwd = process.cwd();
  leaveOut(cwd);
  const { tool } = told;
  const { [RUN_VARIABLE]: mark } = process.env;
  const composed = composeLead({
    cwd,
    env: process.env,
    players: await teammateRuntimeOf(undefined, tool),
    passed: tool.env,
    timeouts: tool,
    runtime: new RuntimeDir(),
    // The daemon has put this process, and all that it starts, where agents run.
    bounds: inheritedBounds(),
    variable: { value: undefined, source: 'workflow' },
    ...(mark === undefined ? {} : { mark }),
    say,
    log: (level, words) => {
      if (level !== 'debug') emit({ type: 'log', level, words });
    },
  });
  const stop = new AbortController();
  for (const signal of SIGNALS) process.on(signal, () => stop.abort());
  try {
    const order = await withRound(composed, told);
    const team = issueTeamName(order.issue, order.life, order.round.number);
    const start = await branchPositionOf(composed.project.main);
    const earlier = await earlierTeams(composed, order);
    const finished = await finishedWork(composed, order, team, start);
    const begin = finished === null ? await decide(composed, order, team, earlier) : () => Promise.resolve();
    if (begin === null) return;
    if (finished !== null)
      emit({ type: 'decided', as: 'team', reasons: [`team ${team} is done already: its work is handed in`] });
    if ((await next()) !== GO) throw failure(CLI_CODES.daemon_gone, {});
    await composed.hold(team);
    await begin();
    const done = finished ?? (await lead(composed, order, team, start, stop, next, earlier));
    // A team that an earlier attempt began may have been told less.
    const hash = hashOf(order);
    const isHeard = hash === undefined ? finished === null : done.state.proposal?.wordsHash === hash;
    const handing = { team, earlier, isUnheard: !isHeard };
    await handIn(composed, order, handing, done, start, stop.signal);
    if (finished === null) await composed.lead.teamWorktrees.end(team, []);
  } finally {
    await composed.close();
  }
}

/** Faults of the place rather than of those who work: the issue is not to blame for them. */
const RUNTIME_CODES: readonly string[] = ['prerequisite', 'config', 'internal', 'usage'];

/** Leads the team to its end; what is wrong is said in a line of its own. */
export async function agentTeamCommand(): Promise<void> {
  const input = linesOfInput();
  try {
    await carryOut(input.next);
  } catch (error) {
    const isRuntime = !(error instanceof ToolError) || RUNTIME_CODES.includes(error.kind);
    if (error instanceof QuotaSpent)
      emit({ type: 'failed', words: error.message, fault: 'runtime', quotaAt: error.at });
    else emit({ type: 'failed', words: errorLine(error), fault: isRuntime ? 'runtime' : 'agent' });
    process.exitCode = 1;
  } finally {
    input.close();
  }
}
