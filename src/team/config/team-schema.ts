// The shape of .tool/config/workflow.yaml: what each key takes, its default and what it means. The JSON Schema that
// editors use, the page about its keys and the file that an installation writes are generated from this.

import * as z from 'zod';
import { COMMANDED } from '../../gate/rules/quality.ts';
import { insideProject, isBalancedGlob } from '../../guard/rules/ownership.ts';
import { DEFAULT_TEAM_SETTINGS as DEFAULTS } from '../rules/default-settings.ts';
import { agentOf } from '../rules/role.ts';

const command = (description: string) =>
  z
    .union([z.string().regex(/\S/, { message: 'a shell command' }), z.null()])
    .default(null)
    .describe(description);

const flag = (standard: boolean, description: string) => z.boolean().default(standard).describe(description);

const glob = z
  .string()
  .max(1000)
  .regex(/^(?![/!~\s])(?!.*\.\.)(?!.*[/\s]$).+$/, {
    message: "a glob from the project's root, like src/api/** (no / or ! before it, no / after it, no ..)",
  })
  .refine(isBalancedGlob, { message: 'a glob whose brackets are closed' });

const ownedFiles = Object.fromEntries(
  DEFAULTS.ownership.map(({ owner, patterns }) => [owner === 'shared' ? owner : agentOf(owner), [...patterns]]),
);

const composed = Object.fromEntries(
  Object.entries(DEFAULTS.patterns).map(([name, roles]) => [name, { roles: [...roles] }]),
);

const { teammateIdle, taskCompleted } = DEFAULTS.hooks;
const hooks = z.strictObject({
  teammate_idle: z
    .strictObject({
      enabled: flag(teammateIdle.enabled, 'false: a teammate that has become idle stays so, unasked.'),
      validate_work: flag(
        teammateIdle.validateWork,
        'Hold what the teammate did against its tasks. false: only unread mail and work that could be claimed are looked at.',
      ),
    })
    .prefault({})
    .describe('When a teammate has finished and becomes idle: it is let go, or gets more work.'),
  task_completed: z
    .strictObject({
      enabled: flag(taskCompleted.enabled, 'false: every completion is accepted, unasked.'),
      require_quality_check: flag(
        taskCompleted.requireQualityCheck,
        'Tests, coverage and lint have to pass. false: the completion is accepted and logged as unchecked.',
      ),
    })
    .prefault({})
    .describe('When a teammate marks a task as completed: that is accepted, or more work is required.'),
});

const autoSelection = z
  .strictObject({
    min_domains_for_team: z
      .int()
      .min(1)
      .default(DEFAULTS.autoSelection.minDomains)
      .describe('A team when the work touches at least so many domains.'),
    min_files_for_team: z
      .int()
      .min(1)
      .default(DEFAULTS.autoSelection.minFiles)
      .describe('A team when at least so many files are to be modified.'),
    min_complexity_score: z
      .int()
      .min(1)
      .max(10)
      .default(DEFAULTS.autoSelection.minComplexity)
      .describe('A team when the complexity is scored at least so high, from 1 to 10.'),
  })
  .prefault({})
  .describe(
    "When a team is chosen without being asked for: any one of these is enough. Work on fewer than 5 files is one agent's whatever they say, but for payment, authentication and user data.",
  );

const fallback = z
  .strictObject({
    enabled: flag(
      DEFAULTS.fallback.enabled,
      'Go on in sub-agent mode when team mode fails or what it needs is missing. false: stop with the reason.',
    ),
    log_level: z
      .enum(['debug', 'info', 'warn', 'error'])
      .default(DEFAULTS.fallback.logLevel)
      .describe('The level at which the reason is logged.'),
    preserve_progress: flag(
      DEFAULTS.fallback.preserveProgress,
      'Go on after the last completed task. false: the tasks start over.',
    ),
  })
  .prefault({})
  .describe('What happens when team mode cannot be had.');

const dollars = (standard: number | null, description: string) =>
  z.union([z.number().positive(), z.null()]).default(standard).describe(description);

const { budget: BUDGET } = DEFAULTS;
const budget = z
  .strictObject({
    teammate: z
      .strictObject({
        soft_usd: dollars(
          BUDGET.teammate.softUsd,
          'With so much the teammate is told, and the lead warned, once; null: never.',
        ),
        hard_usd: dollars(
          BUDGET.teammate.hardUsd,
          'With so much its turn is ended, and it is not started again; what it had to do stays open. null: no limit.',
        ),
      })
      .prefault({})
      .describe('What each teammate may cost, all its runs together, US dollars.'),
    task: z
      .strictObject({
        soft_usd: dollars(BUDGET.task.softUsd, 'The same for one task, whoever works on it; null: never.'),
        hard_usd: dollars(
          BUDGET.task.hardUsd,
          'With so much the turn is ended, and the task has failed with that reason; a restart begins it again only where more is allowed by then. null: no limit.',
        ),
      })
      .prefault({})
      .describe('What each task may cost, US dollars.'),
  })
  .prefault({})
  .describe(
    'Of teammates that are processes of their own (tool plan, tool run, tool build-fix), as far as their runtime reports its cost: Claude Code does at the end of a turn.',
  );

const team = z
  .strictObject({
    enabled: flag(
      DEFAULTS.enabled,
      'Must be true for team mode. A file without this key counts as false, as does a project that never had one.',
    ),
    max_teammates: z
      .int()
      .min(1)
      .max(50)
      .default(DEFAULTS.maxTeammates)
      .describe('How many teammates a team may have; a pattern of this file may not have more roles.'),
    default_model: z
      .string()
      .regex(/^[A-Za-z0-9]\S*$/, { message: 'the name of a model, or inherit' })
      .default(DEFAULTS.defaultModel)
      .describe("The model of the teammates whose role names none; inherit: the lead's own."),
    require_plan_approval: flag(DEFAULTS.requirePlanApproval, 'A plan is carried out only after you have approved it.'),
    delegate_mode: flag(
      DEFAULTS.delegateMode,
      'The lead delegates: its own writes are refused, except those below .tool/specs.',
    ),
    teammate_display: z
      .enum(['auto', 'tmux', 'inline'])
      .default(DEFAULTS.teammateDisplay)
      .describe(
        "Where teammates are shown. tmux: each in a pane. inline: in the lead's own screen. auto: in panes where there is tmux, else inline.",
      ),
    auto_selection: autoSelection,
    file_ownership: z
      .record(z.string(), z.array(glob))
      .default(ownedFiles)
      .describe(
        "Owners of files: globs from the project's root by agent, with or without the prefix team-. A shared path needs a lease (FileLease). The first writer of a path without an owner gets one by writing. A map given here replaces the whole default one. Of two globs that match, one that names files counts more than one whose last part is ** or *. Then the longer beginning without wildcards counts, then one without **, then the earlier one. A role of your own stands here (with an empty list if it owns nothing) and in a pattern.",
      ),
    patterns: z
      .record(
        z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, {
          message: 'the name of a pattern: a letter, then letters, digits, _ and -, at most 64 characters',
        }),
        z.strictObject({
          roles: z.array(z.string()).min(1).describe('One teammate each, as in file_ownership.'),
        }),
      )
      .default(composed)
      .describe(
        'Teams by name, for --pattern=<name>. They are merged over those of the program: one of the same name takes its place, the others stay.',
      ),
    hooks: hooks
      .prefault({})
      .describe('What is asked when a teammate stops. Accepted as workflow.hooks as well; a file has one of the two.'),
    fallback,
    workspace: z
      .strictObject({
        copy: z
          .array(glob)
          .default([...DEFAULTS.copies])
          .describe(
            "Files that Git ignores and that the tests need, such as .env: globs from the project's root. Each worktree of a team, and the tree in which the gate looks at what failed before, gets copies of them. Agents can read them; no commit takes them in.",
          ),
      })
      .prefault({})
      .describe('The worktrees of a team.'),
    budget,
  })
  .prefault({})
  .describe('Team mode: several agents at once on one task.');

const workflow = z
  .strictObject({
    execution_mode: z
      .enum(['auto', 'subagent', 'team'])
      .default(DEFAULTS.executionMode)
      .describe(
        'Who carries work out where no flag says it. subagent: one agent after the other. team: a team. auto: as auto_selection says.',
      ),
    team,
    hooks: hooks
      .optional()
      .meta({ deprecated: true })
      .describe('The same as workflow.team.hooks, which is its place; a file has one of the two.'),
  })
  .prefault({})
  .describe('How work is carried out.');

const quality = z
  .strictObject({
    coverage_target: z
      .number()
      .min(0)
      .max(100)
      .default(DEFAULTS.quality.coverageTarget)
      .describe('Lines that the tests have to reach, percent. With 0, coverage that cannot be measured fails nothing.'),
    required: z
      .array(z.enum(COMMANDED))
      .default([...DEFAULTS.quality.required])
      .describe(
        'Parts of the gate that have to be measured. Any other part that nothing can measure is reported as not measured, and neither passes nor fails.',
      ),
    commands: z
      .strictObject({
        tests: command('Runs the tests. The same command as coverage runs once for both.'),
        coverage: command(
          'Runs the tests and writes a coverage report: lcov, istanbul, cobertura or a profile of Go, to $TOOL_REPORTS or to coverage_report.',
        ),
        lint: command('Checks the code without running it.'),
        security: command('Looks for known vulnerabilities.'),
        format: command('Fails when a file is not formatted; changes nothing.'),
        complexity: command('Fails when code is too complex.'),
      })
      .prefault({})
      .describe(
        "Shell commands, run in the project's root; null: the command that `tool doctor` proposes from the project's own files. An exit code of 0 passes.",
      ),
    coverage_report: z
      .union([
        z.string().refine((path) => insideProject(path) !== null, {
          message: 'a path within the project, from its root',
        }),
        z.null(),
      ])
      .default(DEFAULTS.quality.coverageReport)
      .describe(
        "The coverage report, from the project's root, where * stands for any directory; null: $TOOL_REPORTS or a usual place, for example coverage/lcov.info.",
      ),
    performance: z
      .array(
        z.strictObject({
          name: z.string().regex(/\S/, { message: 'a name' }).describe('What results call it.'),
          command: z.string().regex(/\S/, { message: 'a shell command' }).describe('What is measured.'),
          budget_ms: z.int().min(1).describe('How long it may take, ms.'),
        }),
      )
      .default([])
      .describe(
        'Commands with the time they may take, for example [{ name: build, command: npm run build, budget_ms: 60000 }]. Without any, performance is reported as not measured.',
      ),
    secrets: z
      .strictObject({
        allowed_paths: z
          .array(glob)
          .default([...DEFAULTS.quality.secrets.allowedPaths])
          .describe(
            "Globs over files, from the project's root, in which nothing counts as a secret, for example [test/fixtures/**].",
          ),
        allowed_values: z
          .array(z.string().min(1))
          .default([...DEFAULTS.quality.secrets.allowedValues])
          .describe('Values that are no secrets although they look like some, for example [s3cret-0f-the-tests].'),
      })
      .prefault({})
      .describe('What looks like a secret and is none. What is allowed is counted and named in the figures.'),
    trust5: z
      .strictObject({
        min_score: z
          .number()
          .min(0)
          .max(5)
          .default(DEFAULTS.quality.trust5.minScore)
          .describe(
            'What each dimension has to reach, of 5. Failing tests, missing coverage, lint errors, findings of the audit and secrets fail theirs whatever it says.',
          ),
      })
      .prefault({})
      .describe(
        'TRUST 5, the measure of a whole feature: tested, readable, unified, secured, trackable. docs/quality.md has the rules.',
      ),
    timeout_ms: z
      .int()
      .min(1)
      .max(590_000)
      .default(DEFAULTS.quality.timeoutMs)
      .describe(
        'All checks together may take so long, ms; what has not ended then has failed. Below the 600 s after which the host no longer waits for a hook.',
      ),
  })
  .prefault({})
  .describe('What finished work has to meet.');

export const teamSchema = z.strictObject({ workflow, quality });

export type TeamInput = z.output<typeof teamSchema>;

/** The JSON Schema of the file, for editors. */
export function teamJsonSchema(): Record<string, unknown> {
  return {
    ...z.toJSONSchema(teamSchema, { io: 'input', unrepresentable: 'any' }),
    title: '.tool/config/workflow.yaml',
  };
}
