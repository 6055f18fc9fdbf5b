// A delivery of a webhook: its signature, and its payload as far as it says what changed.

import * as z from 'zod';
import type { Delivery } from '../rules/delivery.ts';
import { type Look, NO_LOOK } from '../rules/look.ts';

/** @param text exactly what was sent */
export async function isSigned(secret: string, text: string, signature: string): Promise<boolean> {
  // An ES module for `import` alone.
  const { verify } = await import('@octokit/webhooks-methods');
  return text !== '' && (await verify(secret, text, signature));
}

/** What is of another shape than expected counts as missing: the next poll finds what it would have said. */
const numbered = z.object({ number: z.int().positive() }).optional().catch(undefined);
const measured = z.object({ head_sha: z.string(), status: z.string().nullish() }).optional().catch(undefined);
const word = z.string().optional().catch(undefined);

const payload = z.object({
  action: word,
  repository: z.object({ full_name: z.string(), default_branch: word }).optional().catch(undefined),
  issue: z.object({ number: z.int().positive(), pull_request: z.unknown().optional() }).optional().catch(undefined),
  pull_request: numbered,
  check_run: measured,
  check_suite: measured,
  ref: word,
  sha: word,
  state: word,
  parent_issue: numbered,
  sub_issue: numbered,
  blocked_issue: numbered,
  blocking_issue: numbered,
});

type Payload = z.output<typeof payload>;

function numbersOf(...all: readonly ({ readonly number: number } | undefined)[]): readonly number[] {
  return all.flatMap((one) => (one === undefined ? [] : [one.number]));
}

function ofPull({ pull_request: pull }: Payload): Look {
  return { ...NO_LOOK, pulls: numbersOf(pull) };
}

/** A check that begins or runs starts no work. */
function ofCheck(check: Payload['check_run']): Look {
  const isRunning = check === undefined || (check.status ?? 'completed') !== 'completed';
  return isRunning ? NO_LOOK : { ...NO_LOOK, commits: [check.head_sha] };
}

function ofLinks({ parent_issue, sub_issue, blocked_issue, blocking_issue }: Payload): Look {
  const issues = numbersOf(parent_issue, sub_issue, blocked_issue, blocking_issue);
  return { ...NO_LOOK, list: true, blockers: true, issues };
}

/** What is merged or pushed to the base may conflict with every pull request. */
function ofPush({ ref, repository }: Payload): Look {
  const base = repository?.default_branch;
  return { ...NO_LOOK, allPulls: base !== undefined && ref === `refs/heads/${base}` };
}

/** Actions after which another issue may wait no longer, or wait again. */
const BLOCKER_ACTIONS = ['closed', 'reopened', 'deleted', 'transferred'];

function changesBlockers({ action = '' }: Payload): boolean {
  return BLOCKER_ACTIONS.includes(action);
}

const LOOKS: Readonly<Record<string, (payload: Payload) => Look>> = {
  issues: (it) => ({ ...NO_LOOK, list: true, blockers: changesBlockers(it), issues: numbersOf(it.issue) }),
  issue_comment: ({ issue }) =>
    issue?.pull_request === undefined || issue.pull_request === null
      ? { ...NO_LOOK, issues: numbersOf(issue) }
      : { ...NO_LOOK, pulls: numbersOf(issue) },
  // An issue may wait for a pull request, too.
  pull_request: (it) => ({
    ...ofPull(it),
    list: changesBlockers(it),
    blockers: changesBlockers(it),
    allPulls: it.action === 'closed',
  }),
  push: ofPush,
  pull_request_review: ofPull,
  pull_request_review_comment: ofPull,
  pull_request_review_thread: ofPull,
  check_run: ({ check_run: run }) => ofCheck(run),
  check_suite: ({ check_suite: suite }) => ofCheck(suite),
  status: ({ sha, state }) => (sha === undefined || state === 'pending' ? NO_LOOK : { ...NO_LOOK, commits: [sha] }),
  sub_issues: ofLinks,
  issue_dependencies: ofLinks,
};

/** Undefined when it is no JSON object. */
export function decodeDelivery(event: string, text: string): Delivery | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const decoded = payload.safeParse(value);
  if (!decoded.success) return undefined;
  const repository = decoded.data.repository?.full_name ?? null;
  const look = Object.hasOwn(LOOKS, event) ? LOOKS[event] : undefined;
  return { repository, look: look?.(decoded.data) ?? null };
}
