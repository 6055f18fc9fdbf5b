// Runs the checks one after the other and judges each; none of them runs beside another.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { refusal, textOf } from '../../base/rules/codes.ts';
import { messageOf, ToolError } from '../../base/rules/errors.ts';
import { planCommands } from '../detect/plan.ts';
import type { Proposal } from '../detect/proposal.ts';
import { type Reading, watchReports } from '../readers/reports.ts';
import { ownCoverage, reachOf } from '../readers/uncovered-sources.ts';
import {
  ALL_CHECKS,
  asksForCoverage,
  type BudgetEnd,
  commandsResult,
  couldNotRun,
  coverageResult,
  type Measured,
  noData,
  notEnded,
  notMeasured,
  performanceResult,
  testsResult,
  unmeasuredCoverage,
} from '../rules/check-results.ts';
import { type Coverage, hasLines, uncovered } from '../rules/coverage.ts';
import { GATE_CODES } from '../rules/gate-codes.ts';
import type { Check, GateResult, QualitySettings } from '../rules/quality.ts';
import { type CommandEnd, hasNoTests } from '../rules/test-ends.ts';
import type { Commands } from './command.ts';

export type TreeFindings = Pick<GateResult, 'checks' | 'coverage' | 'uncoveredFiles' | 'reach'> & {
  /** Every result speaks of the tree alone. */
  readonly lasts: boolean;
};

export type MeasureOptions = {
  readonly root: string;
  readonly settings: QualitySettings;
  readonly commands: Commands;
  /** A directory outside of the project, for reports. */
  readonly reports: string;
  /** The commands, where the tree itself does not decide on them. */
  readonly plan?: CommandPlan;
};

export const PLANNED = ['tests', 'coverage', 'lint', 'security'] as const;

export type CommandPlan = Readonly<Record<(typeof PLANNED)[number], Proposal>>;

export async function measure(bench: MeasureOptions): Promise<TreeFindings> {
  const { root, settings, commands } = bench;
  const around = { root, env: commands.env, ask: commands.ask };
  const plan =
    bench.plan ??
    (await planCommands(PLANNED, settings, around).catch((error: unknown) => {
      if (error instanceof ToolError && error.kind === 'config') return error;
      throw error;
    }));
  if (plan instanceof ToolError) return unreadable(plan.message);
  const { tests, coverage, reached } = await measureTests(plan, bench);
  const reach = reached === null ? null : await reachOf(root, reached, settings).catch(untold);
  const results: Record<Check, Measured> = {
    tests,
    coverage: reach !== null && 'result' in reach ? reach : coverage,
    lint: await measureCommand('lint', plan.lint, bench),
    security: await measureCommand('security', plan.security, bench),
    performance: await measurePerformance(bench),
  };
  return {
    checks: ALL_CHECKS.map((check) => results[check].result),
    coverage: reached?.percent ?? null,
    uncoveredFiles: reached === null ? [] : uncovered(reached, settings.coverageTarget).map((file) => file.path),
    ...(reach === null || 'result' in reach ? {} : { reach }),
    lasts: ALL_CHECKS.every((check) => results[check].lasts),
  };
}

/** A project whose own file cannot be read: nothing of it can be measured, and that is a failure. */
function unreadable(reason: string): TreeFindings {
  const checks = ALL_CHECKS.map((check) => noData(check, reason).result);
  return { checks, coverage: null, uncoveredFiles: [], lasts: true };
}

/** Without it what no test loads would count as if it were not there. */
function untold(error: unknown): Measured {
  return noData('coverage', `which source the report does not name cannot be told: ${messageOf(error)}`);
}

type TestRun = { readonly end: CommandEnd; readonly reading: Reading | null; readonly whyNone: string };

/** Once more where a runner says that there is no test: a directory that goes away while Node looks around is told so. */
async function runTests(
  command: string,
  name: string,
  { root, settings, commands, reports }: MeasureOptions,
): Promise<TestRun> {
  const once = async (attempt: string): Promise<TestRun> => {
    const place = join(reports, attempt);
    mkdirSync(place);
    const places = watchReports(root, settings.coverageReport);
    const end = await commands.run(command, command, { env: { TOOL_REPORTS: place } });
    return { end, reading: await places.read(place), whyNone: places.whyNone() };
  };
  const first = await once(name);
  return first.end.exitCode !== 0 && hasNoTests(first.end) ? once(`${name}-again`) : first;
}

async function measureTests(
  plan: CommandPlan,
  bench: MeasureOptions,
): Promise<{ readonly tests: Measured; readonly coverage: Measured; readonly reached: Coverage | null }> {
  const { settings } = bench;
  const { command } = plan.tests;
  const run = command === null ? null : await runTests(command, 'tests', bench);
  const tests =
    run === null
      ? (settings.required.includes('tests') ? noData : notMeasured)('tests', plan.tests.reason)
      : testsResult(run.end, settings.timeoutMs);
  // Tests that leave a report need not run again, unless a command for it was given.
  const isLeft = run !== null && run.reading !== null && settings.commands.coverage === null;
  const { command: own } = plan.coverage;
  const measured = isLeft || own === command ? run : own === null ? null : await runTests(own, 'coverage', bench);
  return { tests, ...judgeCoverage(measured, tests, run, plan.coverage, bench) };
}

function judgeCoverage(
  run: TestRun | null,
  tests: Measured,
  own: TestRun | null,
  planned: Proposal,
  { root, settings }: MeasureOptions,
): { readonly coverage: Measured; readonly reached: Coverage | null } {
  const isAsked = asksForCoverage(settings);
  const unmeasured = (why: string, command: string | null) => ({
    coverage: unmeasuredCoverage(why, isAsked, command),
    reached: null,
  });
  if (run === null) return unmeasured(planned.reason, null);
  const { end, reading, whyNone } = run;
  if (end.timedOut) return { coverage: notEnded('coverage', settings.timeoutMs, end.command), reached: null };
  if (reading === null || 'problem' in reading) {
    const why = reading === null ? whyNone : reading.problem;
    return unmeasured(couldNotRun(end) ? `${end.command} cannot be run` : why, end.command);
  }
  const reached = ownCoverage(root, reading.coverage);
  if (!hasLines(reached)) return unmeasured(textOf(refusal(GATE_CODES.coverage_report_all_tests, {})), end.command);
  const judged = coverageResult(reached, settings, end);
  const hasPassed = judged.result.outcome === 'passed' && tests.result.outcome === 'passed';
  if (!hasPassed || end.exitCode === 0 || run === own) return { coverage: judged, reached };
  // Enough lines, but the command says no.
  const exit = end.exitCode === null ? 'a signal' : String(end.exitCode);
  const values = { command: end.command, exit, judged: judged.result.reason };
  const reason = textOf(refusal(GATE_CODES.coverage_command_failed, values));
  return { coverage: { result: { ...judged.result, outcome: 'failed', reason }, lasts: true }, reached };
}

async function measureCommand(check: 'lint' | 'security', planned: Proposal, bench: MeasureOptions): Promise<Measured> {
  const { command, reason } = planned;
  if (command === null) return notMeasured(check, reason);
  return commandsResult(check, await bench.commands.run(command, command), bench.settings.timeoutMs);
}

/** How often over its budget a command is let run, to see by how much it is over. */
const PATIENCE = 3;

async function measurePerformance({ settings, commands }: MeasureOptions): Promise<Measured> {
  const { performance, timeoutMs } = settings;
  if (performance.length === 0) return notMeasured('performance', 'quality.performance names no command with a budget');
  const ends: BudgetEnd[] = [];
  for (const { name, command, budgetMs } of performance) {
    if (commands.remainingMs() === 0) return notEnded('performance', timeoutMs, command);
    ends.push({ name, budgetMs, end: await commands.run(command, command, { limitMs: PATIENCE * budgetMs + 1_000 }) });
  }
  return performanceResult(ends);
}
