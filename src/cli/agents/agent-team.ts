// The agent that is a team: a process that leads it on an issue, inside an attempt of the daemon. It reads its order from
// standard input and says what happens, line by line; what is finished is merged into the branch that is checked out.

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
import { allProblems, decideIssue, onlyRefusal } from '../../team/select/work-decision.ts';
import { replaceFile } from '../../team/spec-documents/specs.ts';
import { type BranchPosition, branchPositionOf, mergeTeamBranch } from '../../team/worktrees/merge-team-branch.ts';
import { errorLine } from '../failed-command.ts';
import { requestDaemon } from '../issue.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
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
function instructionOf({ instruction }: TeamOrder): string {
  return [
    'The whole work, as the daemon puts it to whoever is alone with it. Yours are your tasks below; the branch, the pull request and the issue itself are the lead’s:',
    ...instruction.split('\n').map((line) => `> ${line}`),
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

/** The report of the team, where an earlier attempt led it to its end and did not come to hand it in. */
async function finishedReport(composed: ComposedLead, team: string, start: BranchPosition): Promise<string | null> {
  const finished = await finishedTeam(composed.project.main, team);
  if (finished === null) return null;
  return finished.report ?? reportOf(composed, team, start, finished);
}

/** What was built comes into the issue's branch, and the daemon is asked for the pull request. */
async function handIn(
  { project }: ComposedLead,
  order: TeamOrder,
  team: string,
  report: string,
  start: BranchPosition,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) throw failure(CLI_CODES.team_interrupted, { team });
  await mergeTeamBranch(project.main, team, start, say);
  if (signal.aborted) throw failure(CLI_CODES.team_interrupted, { team });
  const title = oneLine(order.text.split('\n')[0] ?? '', 200);
  // What was asked for is known by then, and the branch is there: the daemon publishes it after a good end.
  // The way to the daemon is in no environment: whatever this process starts would be shown it.
  await requestDaemon({ type: 'pull_request', title, body: report }, order.desk).catch((error: unknown) =>
    say(errorLine(error)),
  );
  emit({ type: 'done', words: report.split('\n').find((line) => /^\d+ of /.test(line)) ?? `team ${team} is done` });
}

/** Leads the team to its end; gives its report. */
async function lead(
  composed: ComposedLead,
  order: TeamOrder,
  team: string,
  start: BranchPosition,
  stop: AbortController,
  next: () => Promise<string>,
): Promise<string> {
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
          return [instructionOf(order), ...words.texts].join('\n\n');
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
    if (outcome.kind === 'failed') throw failure(CLI_CODES.team_ended_badly, { team, why: outcome.why });
    if (outcome.kind === 'interrupted') throw failure(CLI_CODES.team_interrupted, { team });
    const { state, archived: directory } = outcome;
    const report = await reportOf(composed, team, start, { directory, state });
    if (report === null) throw failure(CLI_CODES.team_changed_nothing, { team });
    return report;
  } finally {
    words.close();
    show.close();
  }
}

/** Says what the issue comes to; gives what begins the team's work, null where the work is one agent's. */
async function decide(
  composed: ComposedLead,
  order: TeamOrder,
  team: string,
): Promise<(() => Promise<unknown>) | null> {
  const { context } = composed;
  const standing = context.teams.list().includes(team) ? context.teams.open(team) : undefined;
  if (standing !== undefined && isLeft(standing.state)) {
    emit({ type: 'decided', as: 'team', reasons: [`team ${team} stands: its work goes on`] });
    return () => resumeTeam(context, team, say);
  }
  const settings = await context.settings();
  const flags = { ...NO_FLAGS, wish: order.mode === 'team' ? ('team' as const) : null };
  const decided = await decideIssue(context, order, flags, settings);
  // No further attempt changes what the issue asks for: it counts, and the issue says in the end what is in the way.
  if (decided.kind === 'refused')
    throw decided.of === 'place'
      ? failure(CLI_CODES.work_place_refused, allProblems(decided, '; '))
      : (onlyRefusal(decided) ?? failure(CLI_CODES.work_refused, allProblems(decided, '; ')));
  const { decision } = decided;
  const reasons = decided.reasons.map((reason) => clip(reason, REASON_MAX));
  if (order.mode === 'auto' && decision.mode !== 'team') {
    emit({ type: 'decided', as: 'alone', reasons });
    return null;
  }
  emit({ type: 'decided', as: 'team', reasons });
  return () => startTeam(context, decided);
}

async function carryOut(next: () => Promise<string>): Promise<void> {
  const order = await readOrder(next);
  const cwd = process.cwd();
  leaveOut(cwd);
  const { tool, issue, life } = order;
  const team = issueTeamName(issue, life);
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
    const start = await branchPositionOf(composed.project.main);
    const finished = await finishedReport(composed, team, start);
    if (finished !== null && order.isTold) {
      await bringIn(composed.project.main, team, start, say);
      emit({
        type: 'decided',
        as: 'alone',
        reasons: [`team ${team} is done already: one agent goes on with its work`],
      });
      return;
    }
    const begin = finished === null ? await decide(composed, order, team) : () => Promise.resolve();
    if (begin === null) return;
    if (finished !== null)
      emit({ type: 'decided', as: 'team', reasons: [`team ${team} is done already: its work is handed in`] });
    if ((await next()) !== GO) throw failure(CLI_CODES.daemon_gone, {});
    await composed.hold(team);
    await begin();
    const report = finished ?? (await lead(composed, order, team, start, stop, next));
    await handIn(composed, order, team, report, start, stop.signal);
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
    emit({ type: 'failed', words: errorLine(error), fault: isRuntime ? 'runtime' : 'agent' });
    process.exitCode = 1;
  } finally {
    input.close();
  }
}
