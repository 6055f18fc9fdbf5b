// Reads WORKFLOW.md: parse, decode, normalize, rules, freeze. All problems are reported at once.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { RUNTIMES } from '../../agents/rules/runtime.ts';
import { decode, failWithProblems } from '../../base/config/decode.ts';
import { parseFrontMatter } from '../../base/config/front-matter.ts';
import { BASE_CODES } from '../../base/rules/base-codes.ts';
import { messageIn, type Refusal, refusal, textOf } from '../../base/rules/codes.ts';
import type { CommandLine } from '../../base/rules/command-line.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { errorCode, failure, messageOf } from '../../base/rules/errors.ts';
import { got } from '../../base/rules/text.ts';
import type { Remote, RepoSlug } from '../../git/rules/repository.ts';
import { formatSlug, parseSlug, sameHost } from '../../git/rules/repository.ts';
import { apiUrlOf, hostOf } from '../github/clone-url.ts';
import { CONFIG_CODES } from '../rules/codes/config-codes.ts';
import { labelProblems } from '../rules/label-rules.ts';
import { isLoopbackName } from '../rules/queue-settings.ts';
import { isEvery, parsePattern, slugKey } from '../rules/repositories.ts';
import { mayActivate } from '../rules/repository-workflow.ts';
import type { AppSettings, Workflow } from '../rules/workflow.ts';
import { resolveQueue } from './queue-section.ts';
import { defaultStateDir, expandPath, hostStateDir, type WorkflowSource } from './state-place.ts';
import { templateProblems } from './template.ts';
import type { WorkflowInput } from './workflow-schema.ts';
import { workflowSchema } from './workflow-schema.ts';

/** What a workflow is read with. `remote`: of its directory; null where the file names what is worked on. */
export type WorkflowContext = { readonly env: Environment; readonly remote: Remote | null };

const DEFAULT_PROMPT = `Work on issue #{{ issue.number }} of {{ repo.slug }}: {{ issue.title | inline }}

{{ issue.body | fence }}
{% if attempt.last_error %}
The previous attempt ended so:

{{ attempt.last_error | fence }}
{% endif %}
If you cannot go on without a decision of a person, run \`tool issue ask "…"\` and end your turn: the answer comes into this session.
`;

function wrong(key: string, expected: string, came: string): Refusal {
  return refusal(BASE_CODES.config_value, { key, expected, got: came });
}

const NO_SLUG: RepoSlug = { owner: 'unknown', repo: 'unknown' };

function resolveSlug(
  input: WorkflowInput,
  apiUrl: string,
  directory: string,
  remote: Remote | null,
  problems: Refusal[],
): RepoSlug {
  if (input.tracker.repo !== undefined) return parseSlug(input.tracker.repo) ?? NO_SLUG;
  if (input.tracker.repositories !== undefined || remote === null) return NO_SLUG;
  if (remote.kind === 'none') {
    problems.push(wrong('tracker.repo', 'a slug <owner>/<repo>', `nothing, and ${directory} ${remote.says}`));
    return NO_SLUG;
  }
  const host = hostOf(apiUrl);
  if (!sameHost(remote.host, host))
    problems.push(
      refusal(CONFIG_CODES.tracker_repo_other_host, {
        key: 'tracker.repo',
        host,
        directory,
        remote: remote.host,
        api_url: apiUrlOf(remote),
      }),
    );
  return remote.slug;
}

/** Null: one repository is worked on. */
function resolveRepositories(
  { repo, repositories: written, topic }: WorkflowInput['tracker'],
  problems: Refusal[],
): Workflow['tracker']['repositories'] {
  const key = 'tracker.repositories';
  const slugs = (written ?? []).flatMap((one) => parsePattern(one) ?? []);
  if (repo !== undefined && written !== undefined) problems.push(wrong(key, 'nothing beside tracker.repo', got(repo)));
  for (const [index, slug] of slugs.entries())
    if (slugs.slice(0, index).some((other) => slugKey(other) === slugKey(slug)))
      problems.push(wrong(key, 'each repository once', got(formatSlug(slug))));
  const every = slugs.find(isEvery);
  if (topic !== undefined && every === undefined)
    problems.push(wrong('tracker.topic', `<owner>/* in ${key} beside it`, 'none'));
  return written === undefined ? null : slugs;
}

function resolveLabels(input: WorkflowInput, problems: Refusal[]): Pick<Workflow, 'labels'> & { priority: string[] } {
  const { active_states: nested, done_label: done, failed_label: failed, question_label: question } = input.tracker;
  if (nested !== undefined && input.active_states !== undefined)
    problems.push(wrong('active_states', 'one such key', 'it at the top level and in tracker as well'));
  const active = nested ?? input.active_states ?? ['tool-todo'];
  const priority = input.agent.priority_labels;
  for (const { key, expected, came } of labelProblems({ active, done, failed, question, priority }))
    problems.push(wrong(key, expected, came));
  return { labels: { active, done, failed }, priority };
}

/** With trust in anyone, whoever chooses the active labels chooses whose issues start. */
function resolveFromRepository(
  { tracker: { repository_workflow: settings, trust }, hooks }: WorkflowInput,
  problems: Refusal[],
): Workflow['fromRepository'] {
  if (trust === 'anyone' && mayActivate(settings))
    problems.push(
      wrong('tracker.repository_workflow', 'no active labels while tracker.trust is anyone', got(settings)),
    );
  return { settings, hooks: hooks.from_repository };
}

function resolveCommand(input: WorkflowInput, problems: Refusal[]): CommandLine | null {
  const { command, runtime } = input.tool;
  if (command !== null) return command;
  const { program } = RUNTIMES[runtime];
  if (program !== 'required') return program;
  problems.push(wrong('tool.command', 'the program to run', `nothing (tool.runtime is ${runtime})`));
  return null;
}

function resolveMode(input: WorkflowInput, problems: Refusal[]): Workflow['tool']['mode'] {
  const { mode, runtime } = input.tool;
  if (mode !== 'agent' && !RUNTIMES[runtime].isTeammate)
    problems.push(wrong('tool.mode', 'agent', `${mode} (tool.runtime is ${runtime}, which plays no teammate)`));
  return mode;
}

/** A value of the file, or that of the environment variable that it names. */
function resolveSecret(
  key: string,
  written: string | null,
  env: WorkflowSource['env'],
  problems: Refusal[],
): string | null {
  if (written === null || !written.startsWith('$')) return written;
  const value = env[written.slice(1)];
  if (value !== undefined && value !== '') return value;
  problems.push(refusal(CONFIG_CODES.variable_unset, { key, variable: written }));
  return null;
}

function resolveWebhook(written: string | null, env: WorkflowSource['env'], problems: Refusal[]): string | null {
  const key = 'notify.webhook';
  const address = resolveSecret(key, written, env, problems);
  if (address === null) return null;
  const { protocol = '', username = '' } = URL.canParse(address) ? new URL(address) : {};
  if (/^https?:$/.test(protocol) && username === '') return address;
  // The address may hold a secret: no message repeats it.
  problems.push(wrong(key, `an http(s) address without a user`, 'another text'));
  return null;
}

/** Null: a token is used. */
function resolveApp(
  { app_id: id, private_key: key, token }: WorkflowInput['tracker'],
  absolute: (value: string, key: string) => string,
  problems: Refusal[],
): AppSettings | null {
  if (id === undefined && key === undefined) return null;
  if (id === undefined) problems.push(wrong('tracker.app_id', 'the id of the App of tracker.private_key', 'nothing'));
  if (key === undefined) problems.push(wrong('tracker.private_key', 'the key of the App of tracker.app_id', 'nothing'));
  if (token !== undefined) problems.push(wrong('tracker.token', 'nothing beside an App', got(token)));
  if (id === undefined || key === undefined) return null;
  if (/^\$[A-Za-z_]\w*$/.test(key)) return { id, key: { kind: 'variable', name: key.slice(1) } };
  return { id, key: { kind: 'file', path: absolute(key, 'tracker.private_key') } };
}

/** The runtime must be able to read. */
function resolveReviewer({ review, tool }: WorkflowInput, problems: Refusal[]): string | null {
  if (review.agent !== null && tool.runtime === 'patch')
    problems.push(wrong('review.agent', 'nothing, since the runtime patch reads no prompt', got(review.agent)));
  return review.agent;
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** A project that is set up for Claude Code is led by an agent; any other is worked on as the runtime does by itself. */
function defaultAgent(directory: string): string | null {
  return existsSync(join(directory, '.claude')) ? 'jarvis' : null;
}

/** The names in a Host header that mean this server. An address that stands for all of them is none. */
function allowedHosts({ host, allowed_hosts: more }: WorkflowInput['server']): string[] {
  const own = host === '0.0.0.0' || host === '::' ? [] : [host.includes(':') ? `[${host}]` : host];
  return [...new Set([...LOOPBACK_NAMES, ...own, ...more])];
}

/** Makes a decoded front matter into a workflow; what does not hold together is added to `problems`. */
function normalize(
  input: WorkflowInput,
  prompt: string,
  path: string,
  { env, remote }: WorkflowContext,
  problems: Refusal[],
): Workflow {
  const directory = dirname(path);
  const apiUrl = input.tracker.api_url.replace(/\/+$/, '');
  const slug = resolveSlug(input, apiUrl, directory, remote, problems);
  const absolute = (value: string, key: string) => resolve(directory, expandPath(value, env, problems, key));
  const repositories = resolveRepositories(input.tracker, problems);
  const standardDir = repositories === null ? defaultStateDir(slug, apiUrl, env) : hostStateDir(apiUrl, env);
  const stateDir = input.state.dir === undefined ? standardDir : absolute(input.state.dir, 'state.dir');
  const onlyForMany = {
    'agent.max_concurrent_agents_per_repository': input.agent.max_concurrent_agents_per_repository,
    'agent.max_cost_usd_per_day_per_repository': input.agent.max_cost_usd_per_day_per_repository,
  };
  for (const [key, value] of Object.entries(onlyForMany))
    if (repositories === null && value !== null)
      problems.push(wrong(key, 'tracker.repositories beside it', `${value} for one repository`));
  const { labels, priority } = resolveLabels(input, problems);
  const token = resolveSecret('server.token', input.server.token ?? null, env, problems);
  if (!isLoopbackName(input.server.host) && token === null && input.server.port !== 0) {
    const reachable = `nothing, while server.host ${got(input.server.host)} can be reached from other machines`;
    problems.push(wrong('server.token', 'a token', reachable));
  }
  const webhookSecret = resolveSecret('server.webhook_secret', input.server.webhook_secret ?? null, env, problems);
  if (webhookSecret !== null && input.server.port === 0)
    problems.push(wrong('server.port', 'the port of a status server, which server.webhook_secret needs', '0'));
  return {
    path,
    tracker: {
      kind: input.tracker.kind,
      slug,
      repositories,
      topic: input.tracker.topic ?? null,
      apiUrl,
      tokenVariable: input.tracker.token?.slice(1) ?? null,
      app: resolveApp(input.tracker, absolute, problems),
      caFile: input.tracker.ca_file === undefined ? null : absolute(input.tracker.ca_file, 'tracker.ca_file'),
      trust: input.tracker.trust,
      draft: input.tracker.draft,
      questionLabel: input.tracker.question_label,
    },
    labels,
    fromRepository: resolveFromRepository(input, problems),
    polling: { intervalMs: input.polling.interval_ms },
    workspace: {
      root: absolute(input.workspace.root, 'workspace.root'),
      keep: input.workspace.keep,
      savedKeepDays: input.workspace.saved_keep_days,
      branchPrefix: input.workspace.branch_prefix,
      submodules: input.workspace.submodules,
      cloneTimeoutMs: input.workspace.clone_timeout_ms,
      cloneDepth: input.workspace.clone_depth,
    },
    hooks: {
      afterCreate: input.hooks.after_create,
      beforeRun: input.hooks.before_run,
      afterRun: input.hooks.after_run,
      beforeRemove: input.hooks.before_remove,
      timeoutMs: input.hooks.timeout_ms,
    },
    stateDir,
    agent: {
      maxConcurrent: input.agent.max_concurrent_agents,
      maxAttempts: input.agent.max_attempts,
      maxTurns: input.agent.max_turns,
      maxRetryBackoffMs: input.agent.max_retry_backoff_ms,
      maxCostUsd: input.agent.max_cost_usd,
      maxCostPerDayUsd: input.agent.max_cost_usd_per_day,
      perRepository: {
        maxConcurrent: input.agent.max_concurrent_agents_per_repository,
        maxCostPerDayUsd: input.agent.max_cost_usd_per_day_per_repository,
      },
      onQuota: input.agent.on_quota,
      priorityLabels: priority,
      serializePaths: input.agent.serialize_paths,
      workerLabels: input.agent.worker_labels,
    },
    tool: {
      runtime: input.tool.runtime,
      command: resolveCommand(input, problems),
      agent: input.tool.agent === undefined ? defaultAgent(directory) : input.tool.agent,
      mode: resolveMode(input, problems),
      stallTimeoutMs: input.tool.stall_timeout_ms,
      turnTimeoutMs: input.tool.turn_timeout_ms,
      startTimeoutMs: input.tool.start_timeout_ms,
      permissionMode: input.tool.permission_mode,
      allowedTools: input.tool.allowed_tools,
      isolation: input.tool.isolation,
      env: input.tool.env,
    },
    gate: {
      mode: input.gate.mode,
      timeoutMs: input.gate.timeout_ms,
      maxRounds: input.gate.max_rounds,
    },
    review: { agent: resolveReviewer(input, problems) },
    follow: {
      until: input.follow.until,
      maxRounds: input.follow.max_rounds,
      answerTimeoutMs: input.follow.answer_timeout_ms,
    },
    notify: {
      command: input.notify.command,
      webhook: resolveWebhook(input.notify.webhook, env, problems),
    },
    queue: resolveQueue(
      input.queue,
      env,
      {
        port: input.server.port,
        hooksFromRepository: input.hooks.from_repository,
        cloneDepth: input.workspace.clone_depth,
      },
      problems,
    ),
    telemetry: { traces: input.telemetry.traces },
    server: {
      port: input.server.port,
      host: input.server.host,
      allowedHosts: allowedHosts(input.server),
      token,
      webhookSecret,
    },
    prompt: prompt.trim() === '' ? DEFAULT_PROMPT : prompt,
  };
}

/** @param first line of the file on which the prompt begins */
function checkPrompt(prompt: string, first: number): Refusal[] {
  return templateProblems(prompt).map((problem) =>
    refusal(CONFIG_CODES.template_invalid, { key: 'prompt', ...problem, line: first + problem.line - 1 }),
  );
}

function decodeWorkflow(
  { data, content, line }: ReturnType<typeof parseFrontMatter>,
  path: string,
  context: WorkflowContext,
): Workflow {
  const whole = 'front matter';
  if (data === undefined)
    failWithProblems(path, [`${whole}: expected YAML between two lines of --- at the top, got none`]);
  return decode<WorkflowInput, Workflow, string | Refusal>(workflowSchema, data, { path, whole }, (input, problems) => {
    const found: Refusal[] = [];
    const workflow = normalize(input, content, path, context, found);
    // `decode` adds what to do to a wrong value.
    const worded = (one: Refusal) => (one.of === BASE_CODES.config_value ? messageIn(one) : textOf(one));
    // Who reads files of the daemon alone does not need its variables.
    const kept = (one: Refusal) => (one.of === CONFIG_CODES.variable_unset ? one : worded(one));
    problems.push(...[...found, ...checkPrompt(workflow.prompt, line)].map(kept));
    return workflow;
  });
}

/** Decodes the text of a WORKFLOW.md. Throws one ToolError that names every problem. */
export function parseWorkflow(text: string, path: string, context: WorkflowContext): Workflow {
  return decodeWorkflow(parseFrontMatter(text, path), path, context);
}

/** Whether the data of a file names what is worked on, however wrongly. */
function namesRepository(data: unknown): boolean {
  const tracker = typeof data === 'object' && data !== null && 'tracker' in data ? data.tracker : undefined;
  return typeof tracker === 'object' && tracker !== null && ('repo' in tracker || 'repositories' in tracker);
}

/** The text of the file. Throws a ToolError. */
export function readWorkflowText(path: string): string {
  const absolute = resolve(path);
  try {
    return readFileSync(absolute, 'utf8');
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') throw failure(CONFIG_CODES.workflow_missing, { path: absolute }, { cause: error });
    const said = code === 'EISDIR' ? 'expected a file, got a directory' : messageOf(error);
    throw failure(CONFIG_CODES.workflow_unreadable, { path: absolute, said }, { cause: error });
  }
}

/** Decodes the file. The Git remote is asked for when the file names no repository. @param text of the file, where it was read already */
export async function readWorkflow(
  path: string,
  { env, detectRemote }: WorkflowSource,
  text = readWorkflowText(path),
  signal?: AbortSignal,
): Promise<Workflow> {
  const absolute = resolve(path);
  const parts = parseFrontMatter(text, absolute);
  const remote = namesRepository(parts.data) ? null : await detectRemote(dirname(absolute), signal);
  return decodeWorkflow(parts, absolute, { env, remote });
}
