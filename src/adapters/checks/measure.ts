// Runs the checks one after the other and judges each; nothing beside them runs, so that times mean something.

import { join } from 'node:path';
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
  wholeFailure,
} from '../../domain/check-results.ts';
import { type Coverage, hasLines, joinCoverage, uncovered, withoutTests } from '../../domain/coverage.ts';
import { messageOf, ToolError } from '../../domain/errors.ts';
import { filesWithErrors } from '../../domain/old-lint.ts';
import { failsForTests, ownThreshold } from '../../domain/own-threshold.ts';
import { BELOW_OWN, type Check, type GateResult, type QualitySettings } from '../../domain/quality.ts';
import { type CommandEnd, hasNoTests, tellsOfTests, wasLost } from '../../domain/test-ends.ts';
import { ALL_LANGUAGES } from '../../domain/unreported.ts';
import { trackedFiles } from '../git/tracked.ts';
import type { Commands } from './command.ts';
import { type Plan, planChecks, type Testing } from './plan.ts';
import type { Way, Ways } from './project.ts';
import { packagesOf, type Reading, readReport, watchPlaces } from './reports.ts';
import type { Line } from './script-programs.ts';
import { startedIn } from './started-in.ts';
import { hasSource, reachOf, withoutGenerated } from './unreported.ts';
import { unrunTests } from './unrun.ts';

export type Findings = Pick<GateResult, 'checks' | 'coverage' | 'uncoveredFiles' | 'reach' | 'unrun' | 'lintErrors'> & {
  /** Every result speaks of the tree alone. */
  readonly lasts: boolean;
};

type Bench = {
  readonly root: string;
  readonly settings: QualitySettings;
  readonly commands: Commands;
  /** A directory outside of the project, for reports. */
  readonly reports: string;
  /** Directories of the project's packages. */
  readonly packages: readonly string[];
};

export async function measure(asked: Omit<Bench, 'packages'>): Promise<Findings> {
  const { root, settings, commands } = asked;
  const bench = { ...asked, packages: await packagesOf(root) };
  const plan = await planChecks(settings, { root, env: commands.env, ask: commands.ask }).catch((error: unknown) => {
    if (error instanceof ToolError && error.code === 'config') return error;
    throw error;
  });
  if (plan instanceof ToolError) return unreadable(plan.message);
  const { tests, coverage, reached, lines, parts } = await measureTests(plan, bench);
  const reach = reached === null ? null : await reachOf(root, reached, lines, settings, parts).catch(untold);
  const unrun = await unrunTests(root, plan.testing, settings).catch(() => []);
  const linted = await measureCommands('lint', plan.lint, bench);
  const errors = await errorsFound(linted, root);
  const results: Record<Check, Measured> = {
    tests,
    coverage: reach !== null && 'result' in reach ? reach : coverage,
    lint: errors.lintErrors === undefined ? linted.measured : byFile(linted.measured),
    security: (await measureCommands('security', plan.security, bench)).measured,
    performance: await measurePerformance(bench),
  };
  return {
    checks: ALL_CHECKS.map((check) => results[check].result),
    coverage: reached?.percent ?? null,
    uncoveredFiles: reached === null ? [] : uncovered(reached, settings.coverageTarget).map((file) => file.path),
    ...(reach === null || 'result' in reach ? {} : { reach }),
    ...(unrun.length === 0 ? {} : { unrun }),
    ...errors,
    lasts: ALL_CHECKS.every((check) => results[check].lasts),
  };
}

/** A project whose own file cannot be read: nothing of it can be measured, and that is a failure. */
function unreadable(reason: string): Findings {
  const checks = ALL_CHECKS.map((check) => noData(check, reason).result);
  return { checks, coverage: null, uncoveredFiles: [], lasts: true };
}

/** Without it what no test loads would count as if it were not there. */
function untold(error: unknown): Measured {
  return noData('coverage', `which source the report does not name cannot be told: ${messageOf(error)}`);
}

type Run = {
  readonly tests: readonly CommandEnd[];
  readonly coverage: readonly CommandEnd[];
  readonly readings: readonly Reading[];
  /** What was run for these. */
  readonly measured: readonly Way[];
};

/** With the languages that it is about. */
type Judged = Run & Pick<Testing, 'languages'>;

async function measureTests(
  plan: Plan,
  bench: Bench,
): Promise<{
  tests: Measured;
  coverage: Measured;
  reached: Coverage | null;
  lines: readonly Line[];
  parts: readonly string[];
}> {
  const { timeoutMs, commands } = bench.settings;
  const runs: Judged[] = [];
  for (const testing of plan.testing)
    runs.push({ ...(await runTesting(testing, bench)), languages: testing.languages });
  const [first] = plan.testing;
  const ends = runs.flatMap((run) => run.tests);
  // Tests that fail where they are run once more, to be measured, fail.
  const again = runs.flatMap((run, index) => (plan.testing[index]?.isOneRun === true ? [] : run.coverage));
  const tests =
    ends.length > 0
      ? testsResult([...ends, ...again.filter((end) => !ends.includes(end) && failsForTests(end))], timeoutMs)
      : (bench.settings.required.includes('tests') ? noData : notMeasured)('tests', first?.tests.gap ?? '');
  const lines = runs.flatMap(({ measured }) =>
    measured.map(({ command, script }) => ({
      text: script,
      where: [commands.tests, commands.coverage].includes(command) ? 'quality.commands' : 'package.json',
    })),
  );
  const parts = runs.flatMap(({ readings }) =>
    readings.flatMap((reading) => ('coverage' in reading ? (reading.parts ?? []) : [])),
  );
  return { tests, ...(await judgeCoverage(runs, tests, bench)), lines, parts };
}

/** Without tests, which reach themselves, and what is generated; where these are all that the project has, they are the program. */
async function ownCoverage(all: Coverage, { root }: Bench): Promise<Coverage> {
  const tested = withoutTests(all, 'any');
  const own = withoutGenerated(root, tested);
  if (hasLines(own) || (await hasSource(root, ALL_LANGUAGES).catch(() => true))) return own;
  return hasLines(tested) ? tested : all;
}

/** A manifest may stand there for its tools alone: where others have tests, nobody misses the report of its own. */
async function withSource(
  runs: readonly Judged[],
  tested: readonly Judged[],
  { root }: Bench,
): Promise<readonly Judged[]> {
  const asked = runs.map(
    async (run) => tested.includes(run) || (await hasSource(root, run.languages).catch(() => true)),
  );
  const isMissed = await Promise.all(asked);
  return runs.filter((_, index) => isMissed[index] === true);
}

async function judgeCoverage(
  runs: readonly Judged[],
  tests: Measured,
  bench: Bench,
): Promise<{ coverage: Measured; reached: Coverage | null }> {
  const { settings } = bench;
  const tested = runs.filter((run) => run.tests.length === 0 || !run.tests.every(hasNoTests));
  const missed = tested.length > 0 ? await withSource(runs, tested, bench) : runs;
  const ends = missed.flatMap((run) => run.coverage);
  const readings = runs.flatMap((run) =>
    run.readings.filter((reading) => missed.includes(run) || 'coverage' in reading),
  );
  const command = ends.map((end) => end.command).join(' && ') || null;
  const late = ends.find((end) => end.timedOut);
  if (late !== undefined) return { coverage: notEnded('coverage', settings.timeoutMs, late.command), reached: null };
  const problem = readings.find((reading) => 'problem' in reading);
  if (problem !== undefined || readings.length === 0) {
    const bad = ends.find(couldNotRun);
    const why =
      bad === undefined ? (problem?.problem ?? 'there is no coverage report') : `${bad.command} cannot be run`;
    const all = [...ends, ...missed.flatMap((run) => run.tests)];
    // Of several projects the one without a command has nothing that anybody could mend.
    const without = problem === undefined ? undefined : missed.find((run) => run.readings.includes(problem));
    const tried = without?.coverage.length === 0 ? null : command;
    return { coverage: unmeasuredCoverage(why, asksForCoverage(settings), all, tried), reached: null };
  }
  const all = joinCoverage(readings.flatMap((reading) => ('coverage' in reading ? [reading.coverage] : [])));
  const reached = await ownCoverage(all, bench);
  const judged = coverageResult(reached, settings, ends);
  if (!hasLines(reached)) return { coverage: judged, reached: null };
  if (judged.result.outcome !== 'passed' || tests.result.outcome !== 'passed') return { coverage: judged, reached };
  const withOwn = [...ends, ...missed.flatMap((run) => run.tests)].map((end) => ({ end, said: ownThreshold(end) }));
  const below =
    withOwn.find(({ said }) => said !== null) ?? withOwn.find(({ end }) => ends.includes(end) && end.exitCode !== 0);
  if (below === undefined) return { coverage: judged, reached };
  // Enough lines, but the command says no, and not because of a test.
  const { end, said } = below;
  const why = said === null ? 'although the tests pass' : `${BELOW_OWN}: ${said}`;
  const reason = `${end.command} ended with ${end.exitCode ?? 'a signal'} ${why}; ${judged.result.reason}`;
  const failed = { ...judged.result, outcome: 'failed' as const, reason };
  const result = said === null ? { ...failed, failures: [wholeFailure(end, reason)] } : failed;
  return { coverage: { result, lasts: true }, reached };
}

async function runTesting({ tests, coverage, isOneRun }: Testing, bench: Bench): Promise<Run> {
  const { root, settings, packages } = bench;
  if (isOneRun) {
    const both = await runCoverage(coverage.ways, bench);
    // The tests alone are run again by the shorter command; what tells of no test has failed by its own.
    const named = both.ends.map((end, index) => {
      const shorter =
        end.exitCode === 0 || tellsOfTests(end) || couldNotRun(end) ? tests.ways[index]?.command : undefined;
      return { ...end, command: shorter ?? end.command };
    });
    return { tests: named, coverage: both.ends, readings: both.readings, measured: coverage.ways };
  }
  // Where there is a command for the whole, what some packages leave is not all.
  const started = startedIn(
    root,
    tests.ways.map(({ script }) => script),
  );
  const places = watchPlaces(root, settings.coverageReport, coverage.ways.length > 0 ? [] : packages, started);
  const ends: CommandEnd[] = [];
  for (const way of tests.ways) ends.push(await runTests(way, bench));
  // Tests that leave a report by themselves need not run again, unless a command for it was given.
  const left = settings.commands.coverage === null ? await places.read() : null;
  if (left !== null) return { tests: ends, coverage: ends, readings: [left], measured: tests.ways };
  if (coverage.ways.length === 0)
    return { tests: ends, coverage: [], readings: [{ problem: coverage.gap }], measured: [] };
  const own = await runCoverage(coverage.ways, bench);
  return { tests: ends, coverage: own.ends, readings: own.readings, measured: coverage.ways };
}

async function runCoverage(
  ways: readonly Way[],
  bench: Bench,
): Promise<{ ends: readonly CommandEnd[]; readings: readonly Reading[] }> {
  const { root, settings, reports, packages } = bench;
  const ends: CommandEnd[] = [];
  const readings: Reading[] = [];
  for (const way of ways) {
    const started = startedIn(root, [way.script]);
    const places = watchPlaces(root, settings.coverageReport, packages, started);
    ends.push(await runTests(way, bench));
    const written = settings.coverageReport === null && way.report !== null ? null : await places.read();
    if (written !== null) readings.push(written);
    else if (way.report === null) readings.push({ problem: places.whyNone() });
    else {
      const reading = await readReport(join(reports, way.report), `the report of ${way.command}`, root, started);
      const isNodes = way.byNode === true && 'coverage' in reading;
      readings.push(isNodes ? { ...reading, coverage: withoutTests(reading.coverage, 'node') } : reading);
    }
  }
  return { ends, readings };
}

function run(way: Way, { commands, reports }: Bench): Promise<CommandEnd> {
  return commands.run(way.command, way.script, { env: { ...way.env, TOOL_REPORTS: reports } });
}

/** Once more where its runner never came to the tests. */
async function runTests(way: Way, bench: Bench): Promise<CommandEnd> {
  const end = await run(way, bench);
  return wasLost(end) ? run(way, bench) : end;
}

type Looked = { readonly measured: Measured; readonly ran: readonly { readonly way: Way; readonly end: CommandEnd }[] };

async function measureCommands(check: 'lint' | 'security', { ways, gap }: Ways, bench: Bench): Promise<Looked> {
  if (ways.length === 0) return { measured: notMeasured(check, gap), ran: [] };
  const ran: Looked['ran'][number][] = [];
  for (const way of ways) ran.push({ way, end: await run(way, bench) });
  const ends = ran.map(({ end }) => end);
  return { measured: commandsResult(check, ends, bench.settings.timeoutMs), ran };
}

/** What is told by file is held against the files that change, and never as one command. */
function byFile({ result: { failures: _, ...result }, lasts }: Measured): Measured {
  return { result, lasts };
}

/** Files with lint errors, where nothing tells of any but linters that were found by their configuration. */
async function errorsFound({ measured, ran }: Looked, root: string): Promise<Pick<Findings, 'lintErrors'>> {
  const bad = ran.filter(({ end }) => end.exitCode !== 0);
  if (measured.result.outcome !== 'failed' || !bad.every(({ way }) => way.byConfiguration === true)) return {};
  const files = await trackedFiles(root).catch(() => []);
  const lintErrors = filesWithErrors(
    bad.map(({ end }) => end),
    files,
  );
  return lintErrors === null ? {} : { lintErrors };
}

/** How often over its budget a command is let run, to see by how much it is over. */
const PATIENCE = 3;

async function measurePerformance({ settings, commands }: Bench): Promise<Measured> {
  const { performance, timeoutMs } = settings;
  if (performance.length === 0) return notMeasured('performance', 'quality.performance names no command with a budget');
  const ends: BudgetEnd[] = [];
  for (const { name, command, budgetMs } of performance) {
    if (commands.remainingMs() === 0) return notEnded('performance', timeoutMs, command);
    ends.push({ name, budgetMs, end: await commands.run(command, command, { limitMs: PATIENCE * budgetMs + 1_000 }) });
  }
  return performanceResult(ends);
}
