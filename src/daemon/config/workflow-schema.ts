// The shape of WORKFLOW.md's front matter: each key with its default. The JSON Schema for editors is generated from it.

import * as z from 'zod';
import { ISOLATION_MODES, PERMISSION_MODES, RUNTIME_NAMES, RUNTIMES, WORK_MODES } from '../../agents/rules/runtime.ts';
import { isTokenVariable } from '../../base/rules/credential.ts';
import { isBalancedGlob } from '../../guard/rules/ownership.ts';
import { QUOTA_MODES } from '../rules/attempt-end.ts';
import { DEFAULT_PREFIX, isBranchPrefix } from '../rules/branch-prefix.ts';
import { FOLLOW_MODES } from '../rules/follow-settings.ts';
import { GATE_MODES } from '../rules/gate-settings.ts';
import { queue, workerLabels } from './queue-section.ts';
import { labels, tracker } from './tracker-section.ts';

const text = z.string().min(1);
/** A glob from the root of the repository. */
const glob = text
  .regex(/^(?![/!~\s])(?!\.\/)(?!.*\.\.)/, { message: 'a glob like db/migrations/** (no /, ./ or ! before it, no ..)' })
  .refine(isBalancedGlob, { message: 'a glob whose brackets are closed' });
const script = z.union([z.string(), z.null()]).default(null);
const milliseconds = (least: number, standard: number) => z.int().min(least).default(standard);
const dollars = z.union([z.number().positive(), z.null()]).default(null);

/** Claude Code's tools that an agent needs to work through an issue without anyone to ask. */
const ALLOWED_TOOLS = ['Bash', 'Edit', 'Write', 'NotebookEdit', 'Read', 'Glob', 'Grep', 'TodoWrite', 'Task', 'Agent'];

const polling = z
  .strictObject({ interval_ms: milliseconds(100, 30_000).describe('Pause between two polls, ms.') })
  .prefault({});

const workspace = z
  .strictObject({
    root: text
      .default('/tmp/tool-harness-test')
      .describe(
        'Where workspaces are made, <root>/issue-<number>; each repository needs a root of its own. With tracker.repositories: <root>/<owner>/<repo>/issue-<number>. ~ and $VAR are expanded; relative to this file.',
      ),
    keep: z
      .boolean()
      .default(false)
      .describe('Keep the workspace of a done or closed issue; with a queue, make its clone at the start.'),
    saved_keep_days: z
      .int()
      .min(0)
      .max(36_500)
      .default(30)
      .describe('Days for which saved work that was never published is kept in the state directory; 0: for ever.'),
    branch_prefix: text
      .refine(isBranchPrefix, { message: 'the beginning of a branch name that git accepts, like tool/' })
      .default(DEFAULT_PREFIX)
      .describe(
        'What the branches of issues begin with, <branch_prefix>issue-<number>. An issue that was taken on keeps its branch; with queue.url, change it only while no issue is open.',
      ),
    submodules: z.boolean().default(true).describe('Fill the submodules of a workspace.'),
    clone_timeout_ms: milliseconds(1, 600_000).describe(
      'A clone, fetch or push to which nothing comes for so long is ended, ms. It may last longer while bytes arrive.',
    ),
    clone_depth: z
      .union([
        z
          .int()
          .min(1)
          .max(2 ** 31 - 2),
        z.null(),
      ])
      .default(null)
      .describe(
        'So many commits of each branch the daemon clones; more as a merge needs them. null clones all, and completes a copy that ends early.',
      ),
  })
  .prefault({});

const hooks = z
  .strictObject({
    after_create: script.describe(
      'Shell script that fills a new workspace; without one the daemon clones the repository itself.',
    ),
    before_run: script.describe(
      'Shell script before each attempt; without one the daemon fetches and merges the default branch itself.',
    ),
    after_run: script.describe('Shell script after each attempt; its failure is logged and changes nothing.'),
    before_remove: script.describe(
      'Shell script before a workspace is removed; its failure is logged and changes nothing.',
    ),
    timeout_ms: milliseconds(1, 300_000).describe('A hook that takes longer is ended with everything it started, ms.'),
    from_repository: z
      .boolean()
      .default(false)
      .describe(
        "Also run the hooks of the repository's own WORKFLOW.md, after those here, as agents run: in their namespaces, without credentials.",
      ),
  })
  .prefault({});

const state = z
  .strictObject({
    dir: text
      .optional()
      .describe(
        'Journal, lock and outputs; not under a directory that a boot clears. Default: $XDG_STATE_HOME/toolcrew/<host>/<owner>/<repo>. With tracker.repositories each has <dir>/<owner>/<repo>.',
      ),
  })
  .prefault({});

const agent = z
  .strictObject({
    max_concurrent_agents: z.int().min(1).max(1000).default(1).describe('How many agents work at a time.'),
    max_attempts: z
      .number()
      .int()
      .min(1)
      .default(3)
      .describe('After so many failed attempts the issue gets the failed label.'),
    max_turns: z.int().min(1).default(20).describe('Prompts an attempt may take (not the steps within one).'),
    max_retry_backoff_ms: milliseconds(0, 300_000).describe('Longest pause before an attempt is repeated, ms.'),
    max_cost_usd: dollars.describe('What one issue may cost, US dollars; null: no limit.'),
    max_cost_usd_per_day: dollars.describe('What all issues of one day (UTC) may cost, US dollars; null: no limit.'),
    max_concurrent_agents_per_repository: z
      .union([z.int().min(1).max(1000), z.null()])
      .default(null)
      .describe('With tracker.repositories: how many agents work on one repository at a time; null: no such limit.'),
    max_cost_usd_per_day_per_repository: dollars.describe(
      'With tracker.repositories: what the issues of one repository may cost on one day (UTC), US dollars; null: no such limit.',
    ),
    on_quota: z
      .enum(QUOTA_MODES)
      .default('wait')
      .describe(
        'When the quota of the runtime is used up. wait: no attempt starts until it is there again, and none is counted. fail: the issue gets the failed label.',
      ),
    priority_labels: z
      .union([text.transform((label) => [label]), z.array(text)])
      .default([])
      .describe(
        'Labels of issues that start before others, the most urgent label first; within a label, the oldest issue. Default: none.',
      ),
    serialize_paths: z
      .union([glob.transform((one) => [one]), z.array(glob)])
      .default([])
      .describe(
        'Globs from the root of the repository, or directories. While a pull request of the daemon touches such a path, another change that touches the same glob is not published. Default: none.',
      ),
    worker_labels: workerLabels,
  })
  .prefault({});

export const tool = z
  .strictObject({
    runtime: z
      .enum(RUNTIME_NAMES)
      .default('claude')
      .describe(RUNTIME_NAMES.map((name) => `${name}: ${RUNTIMES[name].description}.`).join(' ')),
    command: z
      .union([text, z.array(text).min(1), z.null()])
      .default(null)
      .describe(
        `${RUNTIME_NAMES.map((name) => `${name}: ${RUNTIMES[name].commandDescription}.`).join(' ')} A list is started as it stands, text by the shell.`,
      ),
    agent: z
      .union([text, z.null()])
      .optional()
      .describe(
        'The agent that leads the issue; its file in the clone, else the text that this package brings. null: none. Default: jarvis when .claude/ stands beside this file, else none.',
      ),
    mode: z
      .enum(WORK_MODES)
      .default('agent')
      .describe(
        'Who works on an issue. agent: one agent. team: a team, by the same rules as `tool run`. auto: whichever the issue and the repository ask for.',
      ),
    stall_timeout_ms: milliseconds(0, 600_000).describe(
      'An agent without a life sign for so long is ended, ms; 0: never. Claude Code recovers a dead stream by itself after 300 s.',
    ),
    turn_timeout_ms: milliseconds(1, 3_600_000).describe('A turn that takes longer is ended, ms.'),
    start_timeout_ms: milliseconds(0, 120_000).describe(
      'A teammate (tool plan, tool run, tool build-fix) that within so long of its start has neither printed anything nor reached its team is ended and started anew, ms; 0: never.',
    ),
    permission_mode: z.enum(PERMISSION_MODES).default('acceptEdits').describe("Claude Code's permission mode."),
    isolation: z
      .enum(ISOLATION_MODES)
      .default('auto')
      .describe(
        'Agents in namespaces of their own (Linux): no view of other processes or of credential files. auto: where the kernel allows it; required: refuse to start otherwise.',
      ),
    env: z
      .array(
        z
          .string()
          .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { message: 'the name of an environment variable' })
          .refine((name) => !isTokenVariable(name), {
            message: 'a variable without a hosting credential: an agent never gets one',
          }),
      )
      .default([])
      .describe(
        'Names of further environment variables that agents get; they get none of yours but what programs need to run.',
      ),
    allowed_tools: z
      .array(text)
      .default(ALLOWED_TOOLS)
      .describe("Claude Code's tools that run without being asked for."),
  })
  .prefault({});

const gate = z
  .strictObject({
    mode: z
      .enum(GATE_MODES)
      .default('report')
      .describe(
        "The repository's own checks, run on the commit before it is published. report: the pull request shows what they said. required: it opens when none failed; until then failures go back to the agent. off: nothing is run.",
      ),
    timeout_ms: milliseconds(1_000, 600_000).describe(
      'All checks of a commit together, ms; what runs longer is ended.',
    ),
    max_rounds: z
      .int()
      .min(0)
      .max(100)
      .default(3)
      .describe('With required: so often failures go back to the agent; after that the issue gets the failed label.'),
  })
  .prefault({});

const review = z
  .strictObject({
    agent: text
      .regex(/^[\w-]{1,64}$/, 'the name of an agent')
      .nullable()
      .default(null)
      .describe(
        "Agent that reads each finished work, read-only, before it is published: reviewer, another one of toolcrew, or one of the repository's .claude/agents. Its findings go to the author once, then into the pull request. null: none.",
      ),
  })
  .prefault({});

const follow = z
  .strictObject({
    until: z
      .enum(FOLLOW_MODES)
      .default('open')
      .describe(
        'How a pull request is followed after it was opened, until it is merged or closed: failed checks, conflicts, reviews and comments go back to the same session. People are told that it can be merged when its checks pass (green), or when it is approved as well (approved). open: it is not followed.',
      ),
    max_rounds: z
      .int()
      .min(1)
      .max(100)
      .default(3)
      .describe(
        'So often what happens on the pull request goes back to the agent; after that a comment says what is left. `agent.serialize_paths` counts its rounds with the same limit.',
      ),
    answer_timeout_ms: milliseconds(0, 1_209_600_000).describe(
      'So long an issue waits for the answer to a question of its agent, ms; then it gets the failed label. 0: for ever.',
    ),
  })
  .prefault({});

const notify = z
  .strictObject({
    command: script.describe(
      'Shell command that gets a JSON object on standard input when an issue is done, has failed, or waits for a quota or an answer.',
    ),
    webhook: z
      .union([
        z.url({ protocol: /^https?$/, message: 'an http(s) address' }),
        z.string().regex(/^\$[A-Za-z_][A-Za-z0-9_]*$/, '$NAME of an environment variable'),
        z.null(),
      ])
      .default(null)
      .describe('Address that gets the same JSON by POST, or $NAME of the environment variable that holds it.'),
  })
  .prefault({});

const server = z
  .strictObject({
    port: z.int().min(0).max(65_535).default(8888).describe('Port of the status server; 0: none.'),
    host: text.default('127.0.0.1').describe('Address it listens on.'),
    allowed_hosts: z
      .array(text)
      .default([])
      .describe('Host names it answers to beside the loopback names and server.host.'),
    token: text
      .optional()
      .describe('A token that every request must show, or $NAME of the environment variable that holds it.'),
    webhook_secret: text
      .optional()
      .describe(
        'Secret of a webhook, or $NAME of the environment variable that holds it. With it, the server takes deliveries at POST /webhooks/github.',
      ),
  })
  .prefault({});

const telemetry = z
  .strictObject({
    traces: z
      .boolean()
      .default(false)
      .describe(
        'Send traces of attempts to a collector of OpenTelemetry, which OTEL_EXPORTER_OTLP_ENDPOINT and its like name.',
      ),
  })
  .prefault({});

export const workflowSchema = z.strictObject({
  tracker,
  active_states: labels.optional().describe('The same as tracker.active_states.'),
  polling,
  workspace,
  hooks,
  state,
  agent,
  tool,
  gate,
  review,
  follow,
  notify,
  queue,
  telemetry,
  server,
});

export type WorkflowInput = z.output<typeof workflowSchema>;

/** The JSON Schema of the front matter, for editors. */
export function workflowJsonSchema(): Record<string, unknown> {
  return {
    ...z.toJSONSchema(workflowSchema, { io: 'input', unrepresentable: 'any' }),
    title: 'WORKFLOW.md front matter',
  };
}
