// `tool plan`, `tool run`, `tool build-fix`: a phase without the host's screen, by a team whose lead is code, or by one agent after the other.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeDir } from '../base/processes/runtime-dir.ts';
import { lineWithCode, refusal } from '../base/rules/codes.ts';
import { failure, messageOf } from '../base/rules/errors.ts';
import { visible } from '../base/rules/text.ts';
import { findVariable } from '../claude-code/host-settings.ts';
import { parseFlags, wordProblems } from '../claude-code/rules/arguments.ts';
import { isCalledByAgent } from '../claude-code/shell-caller.ts';
import { type ComposedLead, composeLead } from '../compose/lead.ts';
import { readToolSection } from '../daemon/config/tool-section.ts';
import { takeTokens } from '../daemon/github/credential.ts';
import { findProject } from '../git/project.ts';
import { requireCommit, rewrittenBase } from '../git/worktrees/team-base.ts';
import { closeLeftTeam } from '../team/lead/close-left-team.ts';
import { Lead } from '../team/lead/lead.ts';
import type { LeadOutcome } from '../team/lead/lead-options.ts';
import { isLeft, resumeTeam, startTeam } from '../team/lead/start-team.ts';
import { reportPath } from '../team/log/finished-team.ts';
import { findUndelivered, removeResult, undeliveredTeams } from '../team/log/undelivered-results.ts';
import { memberBounds } from '../team/members/member-bounds.ts';
import type { PeopleLog } from '../team/operations/context-parts.ts';
import { OPERATIONS_CODES } from '../team/rules/codes/operations-codes.ts';
import type { CommandName } from '../team/rules/select/command.ts';
import type { TeamSettings } from '../team/rules/settings.ts';
import { phaseOfTeam } from '../team/rules/team-name.ts';
import { teamReport } from '../team/rules/views/report.ts';
import { allProblems, type Decided, decideWork, onlyRefusal } from '../team/select/work-decision.ts';
import { askApproval } from './approval-question.ts';
import { failedText, noteAnswered } from './failed-command.ts';
import { type PhaseReport, phaseReport, reportLines } from './phase-report.ts';
import { refuseTeammates } from './refuse-agents.ts';
import { CLI_CODES } from './rules/cli-codes.ts';
import { NOTICE_CODES } from './rules/notice-codes.ts';
import { openPhaseScreen } from './screen/phase-screen.ts';
import { checkDisplay } from './screen/tmux-panes.ts';
import { type EndSignal, SIGNAL_CODES, SIGNALS } from './signals.ts';
import { teammateRuntimeOf } from './teammate-runtime.ts';

export type PhaseOptions = {
  readonly team?: boolean;
  readonly solo?: boolean;
  readonly force?: boolean;
  readonly pattern?: string;
  readonly json?: boolean;
  /** A program that plays the teammates, in place of what WORKFLOW.md says. */
  readonly command?: string;
};

function flagsOf({ team, solo, force, pattern }: PhaseOptions): readonly string[] {
  return [
    ...(team === true ? ['--team'] : []),
    ...(solo === true ? ['--solo'] : []),
    ...(force === true ? ['--force'] : []),
    ...(pattern === undefined ? [] : [`--pattern=${pattern}`]),
  ];
}

function say(words: string): void {
  process.stderr.write(`[lead]      ${visible(words)}\n`);
}

/** The first signal ends the work in order, and the process with its code; gives what to call when all is over. */
function onSignals(abort: () => void): { readonly code: () => number | null; readonly off: () => void } {
  let code: number | null = null;
  const hear = (signal: EndSignal) => {
    code ??= SIGNAL_CODES[signal];
    abort();
  };
  for (const signal of SIGNALS) process.on(signal, hear);
  return {
    code: () => code,
    off: () => {
      for (const signal of SIGNALS) process.off(signal, hear);
    },
  };
}

/** Whether a person sits there who can be asked; an agent at a terminal is none. */
async function isAttended({ context, project }: ComposedLead): Promise<boolean> {
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true) return false;
  return process.env.TOOL_TEAMMATE === undefined && !(await isCalledByAgent(context.teams, process.env, project.main));
}

function logTo(tell: (words: string) => void): PeopleLog['log'] {
  return (level, words) => {
    if (level !== 'debug') tell(`${level}: ${words}`);
  };
}

async function endLeftovers(composed: ComposedLead, team: string): Promise<void> {
  const left = await composed.endLeftovers(team);
  if (left > 0) say(`ended ${left} processes that an earlier lead left`);
}

/** Leads a team that stands to the end of its phase. */
async function leadTeam(composed: ComposedLead, team: string, isLive: boolean): Promise<LeadOutcome> {
  await endLeftovers(composed, team);
  const log = composed.context.teams.open(team);
  if (log === undefined) throw failure(OPERATIONS_CODES.team_gone, { team });
  const stop = new AbortController();
  const isAsked = await isAttended(composed);
  const { teammateDisplay } = await composed.context.settings();
  const screen = openPhaseScreen(composed.project.main, team, isLive, teammateDisplay, () =>
    process.kill(process.pid, 'SIGINT'),
  );
  const ask = (id: string, signal: AbortSignal) => {
    screen.hide();
    return askApproval(id, signal);
  };
  const planCallbacks = { ...composed.lead.planCallbacks, askApproval: isAsked ? ask : null, onChanges: screen.show };
  const signals = onSignals(() => stop.abort());
  try {
    const lead = new Lead(
      {
        ...composed.lead,
        // Not across the board.
        context: { ...composed.lead.context, log: logTo(screen.say) },
        planCallbacks,
        width: Number.POSITIVE_INFINITY,
        onEvent: () => undefined,
        say: screen.say,
        output: screen.output,
        onPresence: screen.presence,
      },
      log,
    );
    return await lead.lead(stop.signal);
  } finally {
    await screen.close();
    signals.off();
    const code = signals.code();
    if (code !== null) process.exitCode = code;
  }
}

const NOTHING_BUILT = { branch: null, files: 0, report: null } as const;

/** Leads the team to its end, and says what came of it. */
async function finish(composed: ComposedLead, team: string, options: PhaseOptions): Promise<void> {
  const began = performance.now();
  const outcome = await leadTeam(composed, team, options.json !== true);
  const seconds = Math.round((performance.now() - began) / 10) / 100;
  await tell(composed, team, outcome, seconds, options);
}

/** What a lead that was killed at its very end did not come to say; false: it has said all. */
async function tellUntold(composed: ComposedLead, team: string, options: PhaseOptions): Promise<boolean> {
  const untold = await findUndelivered(composed.context.teams, composed.project.main, team);
  if (untold === null) return false;
  const { archived, state, found } = untold;
  say(`team ${team} was done when its lead was ended, before it could say what came of it: this is it`);
  await tell(composed, team, { kind: 'done', state, archived, found }, 0, options);
  return true;
}

/** Writes the report of what was built; where nobody can look at the branch, a run that is not done is told without it. */
async function reportBuilt(
  { lead: { teamWorktrees }, project }: ComposedLead,
  team: string,
  outcome: LeadOutcome,
): Promise<Pick<PhaseReport, 'branch' | 'files' | 'report'>> {
  try {
    const { branch } = await teamWorktrees.begin(team);
    const changed = await teamWorktrees.changed(team);
    const kept = await teamWorktrees.kept(team);
    const place = outcome.kind === 'done' ? outcome.archived : join(project.main, '.tool', 'teams', team);
    const path = reportPath(place);
    writeFileSync(path, teamReport({ state: outcome.state, branch, changed, kept }));
    return { branch, files: changed.length, report: path };
  } catch (error) {
    if (outcome.kind === 'done') throw error;
    say(lineWithCode(refusal(NOTICE_CODES.work_not_reported, { said: messageOf(error) })));
    return NOTHING_BUILT;
  }
}

async function sayRewritten({ project }: ComposedLead, team: string): Promise<void> {
  const rewritten = await rewrittenBase(project.root, team);
  if (rewritten !== null) say(lineWithCode(rewritten));
}

async function tell(
  composed: ComposedLead,
  team: string,
  outcome: LeadOutcome,
  seconds: number,
  options: PhaseOptions,
): Promise<void> {
  const built = phaseOfTeam(team) === 'run' ? await reportBuilt(composed, team, outcome) : NOTHING_BUILT;
  const report = phaseReport(outcome, { ...built, seconds });
  print(report, options);
  if (options.json === true) noteAnswered();
  if (built.branch !== null) await sayRewritten(composed, team);
  const [problem] = composed.context.problems();
  if (problem !== undefined) say(lineWithCode(problem));
  if (outcome.kind === 'done') removeResult(outcome.archived);
  if (outcome.kind === 'interrupted')
    say(`stopped: \`tool team-restart ${team}\`, or the same command again, goes on from here`);
  if (outcome.kind === 'failed') throw failure(CLI_CODES.team_ended_badly, { team, why: outcome.why, restart: team });
  if (report.debug !== null && report.debug.cause === null)
    throw failure(CLI_CODES.no_hypothesis_proven, {
      hypotheses: report.debug.tried.map((one) => refusal(CLI_CODES.hypothesis_not_proven, one)),
    });
}

/** Goes on with a team that was left: the one that stands, where none is named. */
export async function restartCommand(wanted: string | undefined, options: PhaseOptions): Promise<void> {
  const composed = await compose(options);
  try {
    await refuseTeammates(composed.context.teams, composed.project.main);
    const unread: unknown[] = [];
    const standing = composed.context.teams.list().filter((name) => {
      try {
        const log = composed.context.teams.open(name);
        return log !== undefined && isLeft(log.state);
      } catch (error) {
        // What cannot be read concerns nobody but its own team.
        if (name === wanted) throw error;
        unread.push(error);
        return false;
      }
    });
    const names = [...new Set([...standing, ...undeliveredTeams(composed.context.teams, composed.project.main)])];
    if (wanted === undefined && names.length === 0 && unread.length > 0) throw unread[0];
    for (const error of unread) process.stderr.write(`${failedText(error)}\n`);
    const team = wanted ?? (names.length === 1 ? names[0] : undefined);
    if (names.length === 0) throw failure(CLI_CODES.no_team_active, {});
    if (team === undefined) throw failure(CLI_CODES.team_unnamed, { count: names.length, teams: names });
    if (!names.includes(team)) throw failure(CLI_CODES.team_unknown, { team, known: names });
    await composed.hold(team);
    if (await tellUntold(composed, team, options)) return;
    checkScreen(await composed.context.settings(), options);
    await sayRewritten(composed, team);
    if (!(await resumeTeam(composed.context, team, say))) throw failure(OPERATIONS_CODES.team_gone, { team });
    await finish(composed, team, options);
  } finally {
    await composed.close();
  }
}

async function compose(options: PhaseOptions): Promise<ComposedLead> {
  const cwd = process.cwd();
  // Nobody here talks to the hosting service: what this process does not hold, nobody finds in it.
  takeTokens(process.env, []);
  const section = readToolSection('WORKFLOW.md');
  const runtime = new RuntimeDir();
  const bounds = memberBounds(findProject(cwd), section.isolation, process.env, runtime.path);
  // It is waited for when the team is taken in hand.
  bounds.catch(() => undefined);
  try {
    return composeLead({
      cwd,
      env: process.env,
      players: await teammateRuntimeOf(options.command, section),
      runtime,
      bounds,
      passed: section.env,
      timeouts: section,
      get variable() {
        return findVariable(cwd, process.env);
      },
      say,
    });
  } catch (error) {
    await runtime.close();
    throw error;
  }
}

/** As JSON nothing is shown of teammates. */
function checkScreen({ teammateDisplay }: TeamSettings, { json }: PhaseOptions): void {
  if (json !== true) checkDisplay(teammateDisplay, process.env);
}

/** What its work cannot begin in is found out before there is a team that would be left standing. */
async function found(composed: ComposedLead, decided: Extract<Decided, { kind: 'decided' }>): Promise<void> {
  const { context, lead } = composed;
  const { team, phase } = decided.work;
  const roles = new Set(decided.drafts.flatMap(({ owner }) => owner ?? []));
  const isLeft = phase === 'run' && composed.hasWorktrees(team);
  await lead.teamWorktrees.begin(team, 'anew');
  if (isLeft) {
    await endLeftovers(composed, team);
    // Nobody of this team has done it: the lead of an earlier one did not come to close it.
    const kept = await closeLeftTeam(lead.teamWorktrees, team, [...roles]);
    for (const ref of kept) say(`an earlier team ${team} has left what tool/${team} lacks: it is kept as ${ref}`);
    // With no writers any more it may begin at what is there now.
    await lead.teamWorktrees.begin(team, 'anew');
  }
  try {
    await startTeam(context, decided);
  } catch (error) {
    await lead.teamWorktrees.forget(team, []).catch(() => undefined);
    throw error;
  }
}

/** Carries out one command of the team at a terminal. */
export async function phaseCommand(command: CommandName, words: string, options: PhaseOptions): Promise<void> {
  const composed = await compose(options);
  try {
    await refuseTeammates(composed.context.teams, composed.project.main);
    const settings = await composed.context.settings();
    const parsed = parseFlags(command, flagsOf(options), Object.keys(settings.patterns));
    const problems = [...(parsed.ok ? [] : parsed.problems), ...wordProblems(command, words, `tool ${command}`)];
    if (!parsed.ok || problems.length > 0) throw failure(CLI_CODES.arguments_invalid, { problems });
    await requireCommit(composed.project.root);
    const decided = await decideWork(composed.context, { command, words, flags: parsed.flags }, settings);
    if (decided.kind === 'refused') throw onlyRefusal(decided) ?? failure(CLI_CODES.work_refused, allProblems(decided));
    const { team } = decided.work;
    await composed.hold(team);
    // The same command again goes on with what an earlier one left.
    if (await tellUntold(composed, team, options)) return;
    checkScreen(settings, options);
    if (!(await resumeTeam(composed.context, team, say, decided))) {
      for (const reason of decided.reasons) say(reason);
      // What a lead that was killed at its very end left: it looks at what is there now.
      if (decided.work.phase !== 'run') await composed.lead.teamWorktrees.forget(team, []);
      await found(composed, decided);
    }
    await finish(composed, team, options);
  } finally {
    await composed.close();
  }
}

function print(report: PhaseReport, options: PhaseOptions): void {
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    return;
  }
  for (const line of reportLines(report)) process.stdout.write(`${line}\n`);
}
