// Reads .tool/config/workflow.yaml: parse, decode, normalize, rules, freeze. All problems are reported at once.

import { decode, failWithProblems } from '../../base/config/decode.ts';
import { pathOf, valueAtPath } from '../../base/config/problems.ts';
import { keyLines, readYaml } from '../../base/config/yaml-text.ts';
import { BASE_CODES } from '../../base/rules/base-codes.ts';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { nearest } from '../../base/rules/nearest.ts';
import { got } from '../../base/rules/text.ts';
import type { QualitySettings } from '../../gate/rules/quality.ts';
import { type Ownership, SHARED } from '../../guard/rules/ownership.ts';
import type { CostLimits } from '../rules/cost.ts';
import { DEFAULT_TEAM_SETTINGS } from '../rules/default-settings.ts';
import { EVERYBODY } from '../rules/message.ts';
import { agentOf, ROLES } from '../rules/role.ts';
import type { TeamSettings } from '../rules/settings.ts';
import { readTeamFile } from './team-config-file.ts';
import { type TeamInput, teamSchema } from './team-schema.ts';

/** Names that messages and leases give to something else than a teammate. */
const TAKEN = ['lead', EVERYBODY, SHARED];
const ROLE_NAMES = Object.keys(ROLES);
const PREFIX = agentOf('');
const OWNERSHIP = ['workflow', 'team', 'file_ownership'];
const PATTERNS = ['workflow', 'team', 'patterns'];

/** As teammates are named: without the prefix of their agents. */
function plainName(name: string): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
}

function isWellFormed(name: string): boolean {
  return /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) && name.length <= 40;
}

function entriesAt(data: unknown, path: readonly string[]): readonly (readonly [string, unknown])[] {
  const value = valueAtPath(data, path);
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

/** The names that the file itself uses, be what stands below them sound or not. */
type Names = {
  readonly owners: ReadonlySet<string>;
  readonly patterns: ReadonlySet<string>;
  readonly roles: ReadonlySet<string>;
};

function namesIn(data: unknown): Names {
  const patterns = entriesAt(data, PATTERNS);
  const roles = patterns.flatMap(([, pattern]) =>
    entriesAt(pattern, ['roles']).flatMap(([, role]) => (typeof role === 'string' ? [plainName(role)] : [])),
  );
  return {
    owners: new Set(entriesAt(data, OWNERSHIP).map(([owner]) => plainName(owner))),
    patterns: new Set(patterns.map(([name]) => name)),
    roles: new Set(roles),
  };
}

function wrong(key: string, expected: string, came: string | number): Refusal {
  return refusal(BASE_CODES.config_value, { key, expected, got: String(came) });
}

/** What is wrong with a name that is none of the program's roles; `isNamed`: the file names it where it has to. */
function nameProblem(
  key: string,
  given: string,
  expected: string,
  isNamed: boolean,
  known: readonly string[],
): Refusal | null {
  const name = plainName(given);
  if (TAKEN.includes(name)) return wrong(key, 'a teammate', `${got(given)}, which is the name of something else`);
  const close = nearest(
    name,
    known.filter((one) => one !== name),
  );
  const near = close !== undefined && close !== SHARED && given !== name ? agentOf(close) : close;
  const advice = near === undefined ? {} : { near };
  const values = { key, got: got(given), ...advice };
  if (!isNamed)
    return refusal(BASE_CODES.config_value, { ...values, expected, ...(near === undefined ? { known } : {}) });
  if (isWellFormed(name)) return null;
  const form = 'a name of lower-case letters, digits and single hyphens, at most 40 characters';
  return refusal(BASE_CODES.config_value, { ...values, expected: form });
}

function resolveOwnership(input: TeamInput, names: Names, problems: Refusal[]): Ownership[] {
  const keys = new Map<string, string>();
  const owned = new Map<string, string>();
  return Object.entries(input.workflow.team.file_ownership).map(([given, globs]) => {
    const path = pathOf([...OWNERSHIP, given]);
    const owner = plainName(given);
    if (owner !== SHARED && !ROLE_NAMES.includes(owner)) {
      const expected = `${SHARED}, a known role or one that a pattern names`;
      const problem = nameProblem(path, given, expected, names.roles.has(owner), [SHARED, ...ROLE_NAMES]);
      if (problem !== null) problems.push(problem);
    }
    const twin = keys.get(owner);
    if (twin !== undefined) problems.push(wrong(path, 'each owner once', `${pathOf([twin])} as well`));
    keys.set(owner, given);
    const patterns = globs.map((glob) => glob.replace(/^(\.\/)+/, ''));
    for (const [index, pattern] of patterns.entries()) {
      const other = owned.get(pattern);
      if (other === undefined) owned.set(pattern, given);
      else problems.push(wrong(`${path}.${index}`, 'each glob once', `${got(pattern)}, which ${pathOf([other])} has`));
    }
    return { owner, patterns };
  });
}

function resolvePatterns(input: TeamInput, names: Names, problems: Refusal[]): TeamSettings['patterns'] {
  const { max_teammates: most, patterns } = input.workflow.team;
  const known = [...new Set([...ROLE_NAMES, ...names.owners])].filter((name) => isWellFormed(name) && name !== SHARED);
  const given = Object.entries(patterns).map(([name, { roles }]) => {
    const path = pathOf([...PATTERNS, name, 'roles']);
    const plain = roles.map(plainName);
    // A project of small teams need not redefine the program's large ones, whether or not the file names them.
    const own = DEFAULT_TEAM_SETTINGS.patterns[name]?.join();
    if (names.patterns.has(name) && plain.length > most && plain.join() !== own)
      problems.push(wrong(path, `at most ${most} roles (workflow.team.max_teammates)`, plain.length));
    for (const [index, as] of roles.entries()) {
      const role = plainName(as);
      if (plain.indexOf(role) !== index) problems.push(wrong(`${path}.${index}`, 'each role once', `${got(as)} again`));
      else if (!ROLE_NAMES.includes(role)) {
        const expected = 'a known role or one that file_ownership names';
        const problem = nameProblem(`${path}.${index}`, as, expected, names.owners.has(role), known);
        if (problem !== null) problems.push(problem);
      }
    }
    return [name, plain] as const;
  });
  return { ...DEFAULT_TEAM_SETTINGS.patterns, ...Object.fromEntries(given) };
}

function resolveHooks(input: TeamInput, data: unknown, problems: Refusal[]): TeamSettings['hooks'] {
  const { hooks: above, team } = input.workflow;
  if (above !== undefined && valueAtPath(data, ['workflow', 'team', 'hooks']) !== undefined)
    problems.push(wrong('workflow.hooks', 'it once', 'it in workflow.team as well'));
  const { teammate_idle: idle, task_completed: completed } = above ?? team.hooks;
  return {
    teammateIdle: { enabled: idle.enabled, validateWork: idle.validate_work },
    taskCompleted: { enabled: completed.enabled, requireQualityCheck: completed.require_quality_check },
  };
}

function resolveBudget({ workflow }: TeamInput, of: 'teammate' | 'task', problems: Refusal[]): CostLimits {
  const { soft_usd: softUsd, hard_usd: hardUsd } = workflow.team.budget[of];
  if (softUsd !== null && hardUsd !== null && softUsd > hardUsd)
    problems.push(wrong(`workflow.team.budget.${of}.soft_usd`, `no more than hard_usd (${hardUsd})`, softUsd));
  return { softUsd, hardUsd };
}

function resolveQuality({ quality }: TeamInput, problems: Refusal[]): QualitySettings {
  const names = quality.performance.map(({ name }) => name);
  for (const [index, name] of names.entries())
    if (names.indexOf(name) !== index)
      problems.push(wrong(`quality.performance.${index}.name`, 'each name once', `${got(name)} again`));
  return {
    coverageTarget: quality.coverage_target,
    required: [...new Set(quality.required)],
    commands: quality.commands,
    coverageReport: quality.coverage_report,
    performance: quality.performance.map(({ name, command, budget_ms: budgetMs }) => ({ name, command, budgetMs })),
    secrets: {
      allowedPaths: quality.secrets.allowed_paths,
      allowedValues: quality.secrets.allowed_values,
    },
    trust5: {
      minScore: quality.trust5.min_score,
    },
    timeoutMs: quality.timeout_ms,
  };
}

/** Makes a decoded file into settings; what does not hold together is added to `problems`. */
function normalize(input: TeamInput, data: unknown, problems: Refusal[]): TeamSettings {
  const { execution_mode: executionMode, team } = input.workflow;
  const names = namesIn(data);
  return {
    executionMode,
    enabled: team.enabled,
    maxTeammates: team.max_teammates,
    copies: team.workspace.copy,
    defaultModel: team.default_model,
    requirePlanApproval: team.require_plan_approval,
    delegateMode: team.delegate_mode,
    teammateDisplay: team.teammate_display,
    autoSelection: {
      minDomains: team.auto_selection.min_domains_for_team,
      minFiles: team.auto_selection.min_files_for_team,
      minComplexity: team.auto_selection.min_complexity_score,
    },
    ownership: resolveOwnership(input, names, problems),
    patterns: resolvePatterns(input, names, problems),
    hooks: resolveHooks(input, data, problems),
    fallback: {
      enabled: team.fallback.enabled,
      logLevel: team.fallback.log_level,
      preserveProgress: team.fallback.preserve_progress,
    },
    budget: {
      teammate: resolveBudget(input, 'teammate', problems),
      task: resolveBudget(input, 'task', problems),
    },
    quality: resolveQuality(input, problems),
  };
}

/** Decodes the text of a workflow.yaml. Throws one ToolError that names every problem. */
export function parseTeamSettings(text: string, path: string): TeamSettings {
  const read = readYaml(text);
  if (!read.ok)
    failWithProblems(
      path,
      read.problems.map(({ words: said, line, column }) =>
        refusal(BASE_CODES.yaml_problem, line === null || column === null ? { said } : { said, line, column }),
      ),
    );
  // A file of comments alone says nothing.
  const data = read.data ?? {};
  const about = { path, whole: 'the file', lines: () => keyLines(text, pathOf) };
  return decode(teamSchema, data, about, (input: TeamInput, problems: Refusal[]) => normalize(input, data, problems));
}

/** What the project says of its teams; without a file, the defaults. */
export function readTeamSettings(projectRoot: string): TeamSettings {
  const file = readTeamFile(projectRoot);
  return file === null ? DEFAULT_TEAM_SETTINGS : parseTeamSettings(file.text, file.path);
}
