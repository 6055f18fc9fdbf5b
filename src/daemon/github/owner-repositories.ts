// The repositories of an owner that a credential can read.

import * as z from 'zod';
import { parseSlug, type RepoSlug } from '../../git/rules/repository.ts';
import { TrackerError } from '../rules/tracker-error.ts';
import { type AnswerCache, etagOf } from './answer-cache.ts';
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

type Rows = z.output<typeof rows>;

export type OwnerClient = {
  readonly client: Pick<HostingClient, 'requestIfChanged'>;
  /** The client has the token of an installation. */
  readonly isApp: boolean;
  readonly pages: RepositoryPages;
};

const PER_PAGE = 100;
/** An owner with more needs names in place of a star. */
const MOST_PAGES = 20;

/** Pages that were read before: one that did not change costs no quota. */
export type RepositoryPages = AnswerCache<Rows>;

type List = {
  readonly route: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly schema: z.ZodType<Rows>;
};

const listOf = (route: string, parameters: List['parameters']): List => ({ route, parameters, schema: rows });
/** Of an App: what its installation was given. */
const INSTALLED: List = {
  route: 'GET /installation/repositories',
  parameters: {},
  schema: z.object({ repositories: rows }).transform(({ repositories }) => repositories),
};

async function readAll(
  client: Pick<HostingClient, 'requestIfChanged'>,
  { route, parameters, schema }: List,
  pages: RepositoryPages,
  signal: AbortSignal,
): Promise<Rows> {
  const all: Rows[] = [];
  for (let page = 1; page <= MOST_PAGES; page++) {
    const key = JSON.stringify([route, parameters, page]);
    const known = pages.get(key);
    const asked = { ...parameters, per_page: PER_PAGE, page };
    const answer = await client.requestIfChanged(route, asked, schema, known?.etag, signal);
    const found = answer === null ? (known?.value ?? []) : answer.data;
    if (answer !== null) pages.set(key, { etag: etagOf(answer.headers), value: found });
    all.push(found);
    if (found.length < PER_PAGE) break;
  }
  return all.flat();
}

/** Those that are not archived, in the order of the service. Throws a TrackerError. */
export async function ownerRepositories(
  { client, isApp, pages }: OwnerClient,
  owner: string,
  topic: string | null,
  signal: AbortSignal,
): Promise<readonly RepoSlug[]> {
  const read = (list: List) => readAll(client, list, pages, signal);
  const found = await read(isApp ? INSTALLED : listOf('GET /orgs/{org}/repos', { org: owner })).catch(
    (error: unknown) => {
      // A person, of whose private repositories only this list tells.
      if (!isApp && error instanceof TrackerError && error.status === 404)
        return read(listOf('GET /user/repos', { affiliation: 'owner,collaborator' }));
      throw error;
    },
  );
  const own = found.filter((one) => one.owner.login.toLowerCase() === owner.toLowerCase());
  const wanted = own.filter(({ archived, disabled, topics }) => {
    const isWanted = topic === null || topics.includes(topic);
    return isWanted && !archived && !disabled;
  });
  return wanted.flatMap((one) => parseSlug(one.full_name) ?? []);
}
