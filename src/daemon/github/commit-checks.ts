// Checks of a commit on GitHub's REST API: check runs and statuses, and why one of them failed.

import * as z from 'zod';
import type { Clock } from '../../base/ports.ts';
import {
  CHECK_PERMISSIONS,
  type Check,
  type CheckFailure,
  LOG_SHOWN,
  type ReadChecks,
} from '../rules/pull-request-status.ts';
import { TrackerError } from '../rules/tracker-error.ts';
import { ConditionalLists } from './conditional-lists.ts';
import { readableEnd } from './log-end.ts';
import { isMissing, type RepositoryClient } from './repository-client.ts';

/** So much of a log's end is read: the times of its lines and the colours are taken out later. */
const LOG_BYTES = 32 * LOG_SHOWN;
/** The lists of so many commits are known to be refused, for so long: somebody may grant the permission. */
const KEPT_REFUSALS = 500;
const REFUSED_MS = 600_000;

const PASSED = ['success', 'neutral', 'skipped'];

/** Nobody knows whether these would pass. */
const CUT_OFF = ['cancelled', 'stale'];

/** Said of an outcome that this program does not know: it counts as failed, and people see the service's word. */
function strange(word: unknown): string {
  return `Unknown outcome: ${JSON.stringify(word ?? null)}`;
}

const KNOWN = [...PASSED, ...CUT_OFF, 'failure', 'timed_out', 'startup_failure', 'action_required'];

function runState(status: string, conclusion: string | null | undefined): Check['state'] {
  // A deployment waits for its approval, a run of a stranger's workflow for its release.
  if (status === 'waiting' || conclusion === 'action_required') return 'waiting';
  if (status !== 'completed') return 'pending';
  if (CUT_OFF.includes(conclusion ?? '')) return 'cancelled';
  return PASSED.includes(conclusion ?? '') ? 'passed' : 'failed';
}

/** Something to read for each permission that following needs. */
const NEEDED = {
  ...{ Checks: '/commits/HEAD/check-runs', 'Commit statuses': '/commits/HEAD/status' },
  ...{ Actions: '/actions/runs', 'Pull requests': '/pulls' },
};

const words = z.string().nullish();

const runRow = z
  .object({
    id: z.number().int(),
    name: z.string(),
    status: z.string(),
    conclusion: z.string().nullish(),
    html_url: words,
    details_url: words,
    app: z.object({ slug: words }).nullish(),
    check_suite: z.object({ id: z.number().int() }).nullish(),
    output: z.object({ title: words, summary: words, text: words }).nullish(),
  })
  .transform(({ id, name, status, conclusion, html_url, details_url, app, check_suite, output }) => {
    const unknown = status !== 'completed' || KNOWN.includes(conclusion ?? '') ? null : strange(conclusion);
    const said = [output?.title, output?.summary, output?.text, unknown].filter(Boolean).join('\n\n');
    const [url, summary] = [html_url ?? details_url ?? null, readableEnd(said, LOG_SHOWN)];
    const check = { name, state: runState(status, conclusion), url, run: id, summary };
    return { id, check, app: app?.slug ?? '', suite: check_suite?.id ?? 0 };
  });

const STATES = new Map<string, Check['state']>([
  ['success', 'passed'],
  ['pending', 'pending'],
  ['failure', 'failed'],
  ['error', 'failed'],
]);

const statusRow = z
  .object({
    context: z.string(),
    state: z.string(),
    description: words,
    target_url: words,
  })
  .transform(({ context, state, description, target_url }) => {
    const said = [description, STATES.has(state) ? null : strange(state)].filter(Boolean).join('\n\n');
    const [url, summary] = [target_url ?? null, readableEnd(said, LOG_SHOWN)];
    return { name: context, state: STATES.get(state) ?? 'failed', url, run: null, summary };
  });

const runRows = z.object({ check_runs: z.array(runRow) }).transform(({ check_runs }) => check_runs);
const statusRows = z.object({ statuses: z.array(statusRow) }).transform(({ statuses }) => statuses);
const workflowRow = z.object({ check_suite_id: z.number().int(), workflow_id: z.number().int(), event: z.string() });
const workflowRows = z.object({ workflow_runs: z.array(workflowRow) }).transform(({ workflow_runs }) => workflow_runs);
const jobRow = z.object({ steps: z.array(z.object({ name: z.string(), conclusion: z.string().nullish() })).nullish() });

type Run = z.output<typeof runRow>;

const ACTIONS = 'github-actions';

/** Of the runs with one key, the newest; a run that is started again has another id. */
function newestOf(runs: readonly Run[], keyOf: (run: Run) => string): readonly Run[] {
  const byKey = new Map<string, Run>();
  for (const run of runs) {
    const other = byKey.get(keyOf(run));
    if (other === undefined || other.id < run.id) byKey.set(keyOf(run), run);
  }
  return [...byKey.values()];
}

/** Whether jobs of one name stand in several suites: of several workflows, or of one that ran again. */
function areAmbiguous(runs: readonly Run[]): boolean {
  const jobs = runs.filter(({ app }) => app === ACTIONS);
  return newestOf(jobs, ({ check }) => check.name).length < jobs.length;
}

/** The credential may not read it. */
function isForbidden(error: unknown): boolean {
  return error instanceof TrackerError && error.status === 403;
}

export class CommitChecks {
  readonly #repository: RepositoryClient;
  readonly #runs: ConditionalLists<Run>;
  readonly #statuses: ConditionalLists<Check>;
  readonly #workflows: ConditionalLists<z.output<typeof workflowRow>>;
  readonly #clock: Clock;
  /** When lists of commits were refused, in elapsed time; the last refused one at the end. */
  readonly #refused = new Map<string, number>();

  constructor(repository: RepositoryClient, clock: Clock) {
    this.#repository = repository;
    this.#clock = clock;
    const commit = '/repos/{owner}/{repo}/commits/{ref}';
    this.#runs = new ConditionalLists(repository, `GET ${commit}/check-runs`, runRows);
    this.#statuses = new ConditionalLists(repository, `GET ${commit}/status`, statusRows);
    this.#workflows = new ConditionalLists(repository, 'GET /repos/{owner}/{repo}/actions/runs', workflowRows);
  }

  async list(commit: string, signal: AbortSignal): Promise<ReadChecks> {
    const runs = await this.#unlessRefused('Checks', this.#runs, { ref: commit }, signal);
    const statuses = await this.#unlessRefused('Commit statuses', this.#statuses, { ref: commit }, signal);
    const last = runs === null ? [] : newestOf(runs, await this.#keysFor(commit, runs, signal));
    const read = { Checks: runs, 'Commit statuses': statuses };
    return {
      checks: [...last.map(({ check }) => check), ...(statuses ?? [])],
      unread: CHECK_PERMISSIONS.filter((permission) => read[permission] === null),
    };
  }

  /**
   * What makes two runs the same check: app and name. Jobs have the name that their workflow gives them, so they are the
   * same in runs of one workflow for one event only.
   */
  async #keysFor(commit: string, runs: readonly Run[], signal: AbortSignal): Promise<(run: Run) => string> {
    const rows = areAmbiguous(runs)
      ? await this.#unlessRefused('Actions', this.#workflows, { head_sha: commit }, signal)
      : [];
    const suites = new Map(rows?.map((row) => [row.check_suite_id, `workflow ${row.workflow_id} ${row.event}`]));
    const group = ({ app, suite }: Run) => (app === ACTIONS ? (suites.get(suite) ?? `suite ${suite}`) : '');
    return (run) => JSON.stringify([run.app, group(run), run.check.name]);
  }

  /** Null: the credential may not read it. A refusal costs quota each time, so it holds for a while. */
  async #unlessRefused<T>(
    permission: string,
    lists: ConditionalLists<T>,
    parameters: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<readonly T[] | null> {
    const list = JSON.stringify([permission, parameters]);
    const now = this.#clock.elapsed();
    if (now - (this.#refused.get(list) ?? Number.NEGATIVE_INFINITY) < REFUSED_MS) return null;
    this.#refused.delete(list);
    try {
      return (await lists.read(parameters, signal)).rows;
    } catch (error) {
      // A list that the credential may not see may be called missing as well.
      if (!isMissing(error) && !isForbidden(error)) throw error;
      this.#refused.set(list, now);
      for (const oldest of this.#refused.keys()) {
        if (this.#refused.size <= KEPT_REFUSALS) break;
        this.#refused.delete(oldest);
      }
      return null;
    }
  }

  async lacks(signal: AbortSignal): Promise<readonly string[]> {
    const lacking: string[] = [];
    for (const [permission, path] of Object.entries(NEEDED))
      try {
        await this.#repository.request(`GET /repos/{owner}/{repo}${path}`, { per_page: 1 }, z.unknown(), signal);
      } catch (error) {
        if (!isMissing(error) && !isForbidden(error)) throw error;
        lacking.push(permission);
      }
    return lacking;
  }

  async explain(check: Check, signal: AbortSignal): Promise<CheckFailure> {
    const { run, summary } = check;
    if (run === null) return { step: null, log: summary };
    try {
      // The check run of a job of GitHub Actions has the id of the job; those of other apps have none.
      const route = 'GET /repos/{owner}/{repo}/actions/jobs/{job_id}';
      const { data } = await this.#repository.request(route, { job_id: run }, jobRow, signal);
      const step = data.steps?.find(({ conclusion }) => conclusion === 'failure')?.name ?? null;
      return { step, log: (await this.#log(run, signal)) ?? summary };
    } catch (error) {
      if (isMissing(error) || isForbidden(error)) return { step: null, log: summary };
      throw error;
    }
  }

  /** Null: there is none, not any more, or not for this credential. */
  async #log(job: number, signal: AbortSignal): Promise<string | null> {
    const route = 'GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs';
    let location: string | null;
    try {
      location = await this.#repository.locate(route, { job_id: job }, signal);
    } catch (error) {
      if (isMissing(error) || isForbidden(error)) return null;
      throw error;
    }
    const end = location === null ? null : await this.#repository.client.readEnd(location, LOG_BYTES, signal);
    return end === null ? null : readableEnd(end, LOG_SHOWN);
  }
}
