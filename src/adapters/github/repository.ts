// What the credential may do with the repository.

import * as z from 'zod';
import type { RepoSlug } from '../../domain/repository.ts';
import type { HostingClient } from './client.ts';

const repository = z.object({
  archived: z.boolean().default(false),
  permissions: z.object({ push: z.boolean() }).optional(),
});

export async function readRepository(
  client: HostingClient,
  slug: RepoSlug,
  signal: AbortSignal,
): Promise<{ readonly mayPush: boolean; readonly archived: boolean }> {
  const { data } = await client.request('GET /repos/{owner}/{repo}', { ...slug }, repository, signal);
  return { mayPush: data.permissions?.push === true, archived: data.archived };
}
