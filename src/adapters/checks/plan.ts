// What is run: the commands that were given, and for the rest those that the project's own files name.

import type { QualitySettings } from '../../domain/quality.ts';
import { ALL_LANGUAGES, type Language } from '../../domain/unreported.ts';
import { findGoProject } from './go-project.ts';
import { findNodeProject } from './node-project.ts';
import type { Project, Surroundings, Way, Ways } from './project.ts';
import { found, gap, way } from './project.ts';
import { findPythonProject } from './python-project.ts';
import { findRustProject } from './rust-project.ts';

/** Tests with the coverage that belongs to them. */
export type Testing = {
  readonly tests: Ways;
  readonly coverage: Ways;
  /** One run measures both. */
  readonly isOneRun: boolean;
  /** Of the source that it is about. */
  readonly languages: readonly Language[];
};

export type Plan = {
  readonly testing: readonly Testing[];
  readonly lint: Ways;
  readonly security: Ways;
};

const FINDERS = [findNodeProject, findGoProject, findPythonProject, findRustProject];

const NOTHING =
  'the project has no package.json, go.mod, pyproject.toml or Cargo.toml, and no command is given in quality.commands';

function joined(all: readonly Ways[]): Ways {
  const ways = all.flatMap((one) => one.ways);
  if (ways.length > 0) return found(...ways);
  const installs = all.flatMap(({ install }) => install ?? []);
  const reason = all.length === 0 ? NOTHING : all.map((one) => one.gap).join('; ');
  return installs.length === 0 ? gap(reason) : gap(reason, installs.join(' && '));
}

export async function planChecks({ commands }: QualitySettings, around: Surroundings): Promise<Plan> {
  const projects: Project[] = [];
  const { tests, coverage, lint, security } = commands;
  const isComplete = [tests, coverage, lint, security].every((command) => command !== null);
  // Where every command is given, the project's files are nobody's business.
  if (!isComplete)
    for (const find of FINDERS) {
      const project = await find(around);
      if (project !== null) projects.push(project);
    }
  const given = (command: string | null, ways: readonly Ways[]) =>
    command === null ? joined(ways) : found(way(command));
  return {
    testing: planTesting(commands, projects),
    lint: given(
      lint,
      projects.map((project) => project.lint),
    ),
    security: given(
      security,
      projects.map((project) => project.security),
    ),
  };
}

function planTesting(
  { tests, coverage }: QualitySettings['commands'],
  projects: readonly Project[],
): readonly Testing[] {
  if (tests === null && coverage === null) {
    const isCalled = (runner: string) =>
      projects.some(({ calls, tests }) => calls === undefined && tests.ways[0]?.command.includes(runner));
    const own = projects.filter(({ calls }) => calls === undefined || !isCalled(calls));
    const planned = own.map((project) => ({
      tests: project.tests,
      coverage: project.coverage,
      languages: project.languages,
      isOneRun: project.coverageRunsTests && project.coverage.ways.length > 0 && project.tests.ways.length > 0,
    }));
    // A package.json may stand there for its tools alone: whoever has tests speaks for the project.
    const testing = planned.filter((one) => one.tests.ways.length > 0);
    return testing.length > 0
      ? testing
      : [
          {
            tests: joined(projects.map((one) => one.tests)),
            coverage: joined(projects.map((one) => one.coverage)),
            isOneRun: false,
            languages: ALL_LANGUAGES,
          },
        ];
  }
  const testsWays = tests === null ? joined(projects.map((project) => project.tests)) : found(way(tests));
  const coverageWays = coverage === null ? joined(projects.map((project) => project.coverage)) : found(way(coverage));
  const same = (a: readonly Way[], b: readonly Way[]) =>
    a.length === b.length && a.every(({ command }, index) => command === b[index]?.command);
  const isOneRun = same(testsWays.ways, coverageWays.ways);
  return [{ tests: testsWays, coverage: coverageWays, isOneRun, languages: ALL_LANGUAGES }];
}
