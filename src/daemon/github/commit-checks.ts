// Checks of a commit on GitHub's REST API: check runs and statuses, and why one of them failed.

import * as z from 'zod';
import { type Check, type CheckFailure, LOG_SHOWN } from '../rules/pull-request-status.ts';
import { TrackerError } from '../rules/tracker-error.ts';
import { ConditionalLists } from './conditional-lists.ts';
import { readableEnd } from './log-end.ts';
import { isMissing, type RepositoryClient } from './repository-client.ts';

/** So much of a log's end is read: the times of its lines and the colours are taken out later. */
const LOG_BYTES = 32 * LOG_SHOWN;
/** The check runs of so many commits are known to be refused. */
const KEPT_REFUSALS = 500;

const PASSED = ['success', 'neutral', 'skipped'];

function runState(status: string, conclusion: string | null | undefined): Check['state'] {
  if (status !== 'completed') return 'pending';
  return PASSED.includes(conclusion ?? '') ? 'passed' : 'failed';
}

const words = z.string().nullish();

const runRow = z
  .object({
    id: z.number().int(),
    name: z.string(),
    status: z.string(),
    conclusion: z.string().nullish(),
    html_url: words,
    details_url: words,
    output: z.object({ title: words, summary: words, text: words }).nullish(),
  })
  .transform(({ id, name, status, conclusion, html_url, details_url, output }) => {
    const said = [output?.title, output?.summary, output?.text].filter(Boolean).join('\n\n');
    const [url, summary] = [html_url ?? details_url ?? null, readableEnd(said, LOG_SHOWN)];
    return { name, state: runState(status, conclusion), url, run: id, summary };
  });

const STATES = { success: 'passed', pending: 'pending', failure: 'failed', error: 'failed' } as const;

const statusRow = z
  .object({
    context: z.string(),
    state: z.enum(['success', 'pending', 'failure', 'error']),
    description: words,
    target_url: words,
  })
  .transform(({ context, state, description, target_url }) => {
    const [url, summary] = [target_url ?? null, readableEnd(description ?? '', LOG_SHOWN)];
    return { name: context, state: STATES[state], url, run: null, summary };
  });

const runRows = z.object({ check_runs: z.array(runRow) }).transform(({ check_runs }) => check_runs);
const statusRows = z.object({ statuses: z.array(statusRow) }).transform(({ statuses }) => statuses);
const jobRow = z.object({ steps: z.array(z.object({ name: z.string(), conclusion: z.string().nullish() })).nullish() });

type Run = z.output<typeof runRow>;

/** Of the runs with one name, the newest; a run that is started again has another id. */
function newestOf(runs: readonly Run[]): readonly Run[] {
  const byName = new Map<string, Run>();
  for (const run of runs) {
    const other = byName.get(run.name);
    if (other === undefined || other.run < run.run) byName.set(run.name, run);
  }
  return [...byName.values()];
}

/** The credential may not read it. */
function isForbidden(error: unknown): boolean {
  return error instanceof TrackerError && error.status === 403;
}

export class CommitChecks {
  readonly #repository: RepositoryClient;
  readonly #runs: ConditionalLists<Run>;
  readonly #statuses: ConditionalLists<Check>;
  /** Commits, the last refused one at the end. */
  readonly #refused = new Set<string>();

  constructor(repository: RepositoryClient) {
    this.#repository = repository;
    const commit = '/repos/{owner}/{repo}/commits/{ref}';
    this.#runs = new ConditionalLists(repository, `GET ${commit}/check-runs`, runRows);
    this.#statuses = new ConditionalLists(repository, `GET ${commit}/status`, statusRows);
  }

  async list(commit: string, signal: AbortSignal): Promise<readonly Check[]> {
    const runs = await this.#listRuns(commit, signal);
    const { rows: statuses } = await this.#statuses.read({ ref: commit }, signal);
    return [...newestOf(runs), ...statuses];
  }

  /** A refusal costs quota each time, so it holds for the commit: a permission that is granted counts from the next one on. */
  async #listRuns(commit: string, signal: AbortSignal): Promise<readonly Run[]> {
    if (this.#refused.has(commit)) return [];
    try {
      return (await this.#runs.read({ ref: commit }, signal)).rows;
    } catch (error) {
      if (isMissing(error)) return [];
      if (!isForbidden(error)) throw error;
      this.#refused.add(commit);
      for (const oldest of this.#refused) {
        if (this.#refused.size <= KEPT_REFUSALS) break;
        this.#refused.delete(oldest);
      }
      return [];
    }
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
