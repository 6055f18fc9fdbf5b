// The repository itself: what the credential may do with it, and whether it is still called so.

import * as z from 'zod';
import { refusal } from '../../base/rules/codes.ts';
import { formatSlug, type RepoSlug } from '../../git/rules/repository.ts';
import { branchesInTheWay } from '../rules/branch-prefix.ts';
import { GITHUB_CODES } from '../rules/codes/github-codes.ts';
import { TrackerError } from '../rules/tracker-error.ts';
import { type HostingClient, MovedError } from './client.ts';

const repository = z.object({
  archived: z.boolean().default(false),
  permissions: z.object({ push: z.boolean() }).optional(),
});
const anyRef = z.object({ ref: z.string() });
const named = z.object({ full_name: z.string() });

/** Throws a TrackerError that says so when the repository was renamed or transferred. */
export async function readRepository(
  client: HostingClient,
  slug: RepoSlug,
  signal: AbortSignal,
): Promise<{ readonly mayPush: boolean; readonly archived: boolean }> {
  try {
    const { data } = await client.request('GET /repos/{owner}/{repo}', { ...slug }, repository, signal);
    return { mayPush: data.permissions?.push === true, archived: data.archived };
  } catch (error) {
    if (!(error instanceof MovedError)) throw error;
    const now = await nameAt(client, error.location, signal);
    const named = { old: formatSlug(slug), ...(now === undefined ? {} : { new: now }) };
    throw new TrackerError('refused', refusal(GITHUB_CODES.repository_renamed, named), { cause: error });
  }
}

/** Whether the repository has a branch of exactly this name. */
async function hasBranch(client: HostingClient, slug: RepoSlug, branch: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.request(
      'GET /repos/{owner}/{repo}/git/ref/{+ref}',
      { ...slug, ref: `heads/${branch}` },
      anyRef,
      signal,
    );
    return true;
  } catch (error) {
    // 409: the repository is empty.
    if (error instanceof TrackerError && (error.status === 404 || error.status === 409)) return false;
    throw error;
  }
}

/** Which branch of the repository makes branches of issues impossible; undefined when none does. */
export async function takenPrefix(
  client: HostingClient,
  slug: RepoSlug,
  prefix: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const branch of branchesInTheWay(prefix)) if (await hasBranch(client, slug, branch, signal)) return branch;
  return undefined;
}

/** The name of the repository that an address of this service's API leads to. */
async function nameAt(client: HostingClient, location: string, signal: AbortSignal): Promise<string | undefined> {
  const id = /\/repositories\/(\d+)\/?$/.exec(location)?.[1];
  if (id === undefined) return /\/repos\/([^/]+\/[^/]+?)\/?$/.exec(location)?.[1];
  try {
    const { data } = await client.request('GET /repositories/{id}', { id }, named, signal);
    return data.full_name;
  } catch (error) {
    if (error instanceof TrackerError) return undefined;
    throw error;
  }
}
