// The repositories of an owner that a credential can read.

import * as z from 'zod';
import { refusal } from '../../base/rules/codes.ts';
import { parseSlug, type RepoSlug } from '../../git/rules/repository.ts';
import { GITHUB_CODES } from '../rules/codes/github-codes.ts';
import { TrackerError } from '../rules/tracker-error.ts';
import type { HostingClient } from './client.ts';

const rows = z.array(
  z.object({
    full_name: z.string(),
    archived: z.boolean().default(false),
    disabled: z.boolean().default(false),
    topics: z.array(z.string()).default([]),
    owner: z.object({ login: z.string() }),
  }),
);

const PER_PAGE = 100;
/** An owner with more needs names in place of a star. */
const MOST_PAGES = 20;

async function readAll(
  client: HostingClient,
  route: string,
  parameters: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<z.output<typeof rows>> {
  const all: z.output<typeof rows> = [];
  for (let page = 1; page <= MOST_PAGES; page++) {
    const { data } = await client.request(route, { ...parameters, per_page: PER_PAGE, page }, rows, signal);
    all.push(...data);
    if (data.length < PER_PAGE) break;
  }
  return all;
}

/** Those that are not archived, in the order of the service. Throws a TrackerError; also when there are none. */
export async function ownerRepositories(
  client: HostingClient,
  owner: string,
  topic: string | null,
  signal: AbortSignal,
): Promise<readonly RepoSlug[]> {
  const found = await readAll(client, 'GET /orgs/{org}/repos', { org: owner }, signal).catch((error: unknown) => {
    // A person, of whose private repositories only this list tells.
    if (error instanceof TrackerError && error.status === 404)
      return readAll(client, 'GET /user/repos', { affiliation: 'owner,collaborator' }, signal);
    throw error;
  });
  const own = found.filter((one) => one.owner.login.toLowerCase() === owner.toLowerCase());
  const wanted = own.filter(({ archived, disabled, topics }) => {
    const isWanted = topic === null || topics.includes(topic);
    return isWanted && !archived && !disabled;
  });
  if (wanted.length === 0)
    throw new TrackerError(
      'refused',
      refusal(GITHUB_CODES.owner_without_repositories, { owner, ...(topic !== null && { topic }) }),
    );
  return wanted.flatMap((one) => parseSlug(one.full_name) ?? []);
}
