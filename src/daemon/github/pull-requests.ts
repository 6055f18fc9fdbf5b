// Pull requests on GitHub's REST API: found by branch, opened, and their text rewritten.

import * as z from 'zod';
import type { NewPullRequest } from '../ports.ts';
import type { PullRequest } from '../rules/record.ts';
import type { Answer } from './client.ts';

const pullRow = z.object({ number: z.number().int(), html_url: z.string() });
const textRow = z.object({ body: z.string().nullish() });

/** One request in the repository. */
type Request = <T>(
  route: string,
  parameters: Readonly<Record<string, unknown>>,
  schema: z.ZodType<T>,
  signal: AbortSignal,
) => Promise<Answer<T>>;

const ONE = '/repos/{owner}/{repo}/pulls/{pull_number}';

export class PullRequests {
  readonly #request: Request;
  readonly #owner: string;

  constructor(owner: string, request: Request) {
    this.#owner = owner;
    this.#request = request;
  }

  async find(branch: string, signal: AbortSignal): Promise<PullRequest | null> {
    const head = `${this.#owner}:${branch}`;
    const parameters = { head, state: 'open', per_page: 1 };
    const { data } = await this.#request('GET /repos/{owner}/{repo}/pulls', parameters, z.array(pullRow), signal);
    const [row] = data;
    return row === undefined ? null : { number: row.number, url: row.html_url };
  }

  async create({ branch, ...request }: NewPullRequest, signal: AbortSignal): Promise<PullRequest> {
    const parameters = { ...request, head: branch };
    const { data } = await this.#request('POST /repos/{owner}/{repo}/pulls', parameters, pullRow, signal);
    return { number: data.number, url: data.html_url };
  }

  async rewrite(number: number, rewrite: (body: string) => string, signal: AbortSignal): Promise<void> {
    const { data } = await this.#request(`GET ${ONE}`, { pull_number: number }, textRow, signal);
    const before = data.body ?? '';
    const body = rewrite(before);
    if (body !== before) await this.#request(`PATCH ${ONE}`, { pull_number: number, body }, z.unknown(), signal);
  }
}
