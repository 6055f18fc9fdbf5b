// Messages between coordinators, decoded: JSON over HTTP, with proofs of the key of the fleet.

import * as z from 'zod';
import type { Look } from '../daemon/rules/look.ts';
import { STEERS, type Steer } from '../daemon/rules/record.ts';
import type { PlacedView } from '../daemon/view.ts';
import { LIMIT_MAX, LISTS, type Page } from '../daemon/view-page.ts';

/** Where a coordinator asks another one, and below which it has pages of that one. */
export const COORDINATORS_PATH = '/fleet/v1/coordinators';
export const PAGES_PATH = '/fleet/v1/pages';
/** With a page: the nonce, its proof, and whether commands are offered. */
export const PAGE_HEADERS = { nonce: 'x-nonce', proof: 'x-proof', commands: 'x-commands' } as const;

const word = z.string().max(400);
const count = z.number().int().nonnegative();
/** `<host>/<owner>/<repo>`. */
const repository = word;

export const askedSchema = z.object({ nonce: word, said: z.string(), proof: word });

const look = z.object({
  list: z.boolean(),
  blockers: z.boolean(),
  issues: z.array(count).max(1_000),
  pulls: z.array(count).max(1_000),
  allPulls: z.boolean(),
  commits: z.array(word).max(1_000),
});

export type Said =
  | { readonly kind: 'view'; readonly repositories: readonly string[]; readonly page: Page }
  | { readonly kind: 'steer'; readonly repository: string; readonly issue: number; readonly command: Steer }
  | { readonly kind: 'tell'; readonly repository: string; readonly issue: number; readonly text: string }
  | { readonly kind: 'delivery'; readonly repository: string; readonly event: string; readonly look: Look }
  | { readonly kind: 'refresh' };

export const saidSchema: z.ZodType<Said> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('view'),
    repositories: z.array(repository).max(10_000),
    page: z.object({
      limit: z.int().min(1).max(LIMIT_MAX),
      after: z.object({ list: z.enum(LISTS), place: z.tuple([z.number(), z.number()]) }).nullable(),
    }),
  }),
  z.object({ kind: z.literal('steer'), repository, issue: count, command: z.enum(STEERS) }),
  z.object({ kind: z.literal('tell'), repository, issue: count, text: z.string() }),
  z.object({ kind: z.literal('delivery'), repository, event: word, look }),
  z.object({ kind: z.literal('refresh') }),
]);

/** `view`: JSON of the same version of this program. */
export const viewAnswerSchema = z.object({ version: word, repositories: z.array(repository), view: z.unknown() });

/** What a coordinator shows of the repositories that it acts for. */
export type SharedView = { readonly repositories: readonly string[]; readonly view: PlacedView };
