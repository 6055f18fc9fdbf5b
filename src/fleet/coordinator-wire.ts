// Messages between coordinators, decoded: JSON over HTTP, with proofs of the key of the fleet.

import * as z from 'zod';
import type { Look } from '../daemon/rules/look.ts';
import { STEERS, type Steer } from '../daemon/rules/record.ts';
import type { PlacedView } from '../daemon/view.ts';
import { LIMIT_MAX, LISTS, type Page } from '../daemon/view-page.ts';

/** Where a coordinator asks another one, and below which it has pages of that one. */
export const COORDINATORS_PATH = '/fleet/v1/coordinators';
export const PAGES_PATH = '/fleet/v1/pages';
/** `said`: what the proof is of, in a form that a header can have. `commands`: whether the reader has shown a token. */
export const ASK_HEADERS = { nonce: 'x-nonce', proof: 'x-proof', said: 'x-said', commands: 'x-commands' } as const;
/** On each answer of a page: nothing between the two wrote it. */
export const PAGE_MARK = 'x-coordinator-page';

const word = z.string().max(400);
const count = z.number().int().nonnegative();
/** `<host>/<owner>/<repo>`. */
const repository = word;

const look = z.object({
  list: z.boolean(),
  blockers: z.boolean(),
  issues: z.array(count).max(1_000),
  pulls: z.array(count).max(1_000),
  allPulls: z.boolean(),
  commits: z.array(word).max(1_000),
});

/** `rank`: its place among those of whoever asks, by which rows of several coordinators are put in one order. */
export type Wanted = { readonly name: string; readonly rank: number };

/** `session`: of the coordinator that is asked, as it said with its view; an order to an earlier one is not carried out. */
type Told = { readonly repository: string; readonly issue: number; readonly session: string };

export type Said =
  | { readonly kind: 'view'; readonly repositories: readonly Wanted[]; readonly page: Page }
  | (Told & { readonly kind: 'steer'; readonly command: Steer })
  | (Told & { readonly kind: 'tell'; readonly text: string })
  | { readonly kind: 'delivery'; readonly repository: string; readonly event: string; readonly look: Look }
  | { readonly kind: 'refresh' };

export const saidSchema: z.ZodType<Said> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('view'),
    repositories: z.array(z.object({ name: repository, rank: count })).max(10_000),
    page: z.object({
      limit: z.int().min(1).max(LIMIT_MAX),
      after: z.object({ list: z.enum(LISTS), place: z.tuple([z.number(), z.number()]) }).nullable(),
    }),
  }),
  z.object({ kind: z.literal('steer'), repository, issue: count, session: word, command: z.enum(STEERS) }),
  z.object({ kind: z.literal('tell'), repository, issue: count, session: word, text: z.string() }),
  z.object({ kind: z.literal('delivery'), repository, event: word, look }),
  z.object({ kind: z.literal('refresh') }),
]);

/** Of an answer of any version. */
export const versionSchema = z.object({ version: word });

/** `view`: JSON of the same version of this program. */
export const viewAnswerSchema = z.object({
  version: word,
  session: word,
  isAlone: z.boolean(),
  needsToken: z.boolean(),
  repositories: z.array(repository),
  view: z.unknown(),
});

/** What a coordinator shows of the repositories that it acts for. */
export type SharedView = {
  readonly repositories: readonly string[];
  readonly view: PlacedView;
  /** Whether its file names one repository. */
  readonly isAlone: boolean;
};
