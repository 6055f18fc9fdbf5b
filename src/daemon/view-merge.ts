// The views of several coordinators as one: rows by their places, sums, and what is worst among them.

import type { PlacedView, StateView } from './view.ts';
import { cut, type ListName, nextOf, type Page, type RowPosition } from './view-page.ts';
import type { CoordinatorRow } from './view-queue.ts';
import { type PollView, scarcest } from './view-repositories.ts';

const NOWHERE: RowPosition = [0, 0];

function summed<Key extends string>(all: readonly Readonly<Record<Key, number>>[]): Record<Key, number> {
  const sums: Partial<Record<Key, number>> = {};
  for (const one of all)
    for (const key of Object.keys(one) as Key[]) sums[key] = Math.round(((sums[key] ?? 0) + one[key]) * 1e6) / 1e6;
  return sums as Record<Key, number>;
}

/** Null where one has none yet. */
function least(times: readonly (string | null)[]): string | null {
  const known = times.flatMap((time) => time ?? []);
  return known.length < times.length ? null : (known.sort()[0] ?? null);
}

function pollOfAll(own: StateView, acting: readonly StateView[]): PollView {
  const all = [own, ...acting.filter((one) => one !== own)];
  const errors = all.flatMap(({ poll }) => poll.last_error ?? []);
  return {
    interval_ms: own.poll.interval_ms,
    last_at: least(acting.map(({ poll }) => poll.last_at)),
    next_at: acting.flatMap(({ poll }) => poll.next_at ?? []).sort()[0] ?? null,
    last_error: errors.join('; ') || null,
    ...summed(all.map(({ poll: { requests, not_modified } }) => ({ requests, not_modified }))),
  };
}

function webhookOfAll(all: readonly StateView[]): StateView['webhook'] {
  const hooks = all.flatMap(({ webhook }) => webhook ?? []);
  if (hooks.length === 0) return null;
  return {
    last_delivery_at:
      hooks
        .flatMap(({ last_delivery_at: at }) => at ?? [])
        .sort()
        .at(-1) ?? null,
    deliveries: summed(hooks.map(({ deliveries }) => deliveries)),
  };
}

/** Each counts the sets of labels that it has handed out attempts for. */
function queueOfAll(own: StateView, others: readonly StateView[]): StateView['queue'] {
  if (own.queue === undefined) return undefined;
  const most = (of: 'waiting' | 'active') => Math.max(...[own, ...others].map(({ queue }) => queue?.[of] ?? 0));
  return { ...own.queue, waiting: most('waiting'), active: most('active') };
}

/**
 * One view of all: its own, and those of other coordinators, which show none of its repositories.
 * @param isAlone the file names one repository: whoever acts for it shows all
 * @param actsFor how many repositories this coordinator acts for
 */
export function mergedView(
  { view: own, places }: PlacedView,
  others: readonly PlacedView[],
  coordinators: readonly CoordinatorRow[],
  page: Page,
  { isAlone, actsFor }: { readonly isAlone: boolean; readonly actsFor: number },
): StateView {
  if (coordinators.length === 0) return own;
  const [first] = others;
  const { generated_at, version, workflow, webhook } = own;
  if (isAlone && first !== undefined)
    return {
      ...first.view,
      ...{ generated_at, version, workflow, coordinators },
      webhook: webhook ?? first.view.webhook,
    };
  const queue = queueOfAll(
    own,
    others.map(({ view }) => view),
  );
  const placed: readonly PlacedView[] = [{ view: own, places }, ...others];
  const views = placed.map(({ view }) => view);
  const listOf = <T>(name: ListName, rowsOf: (view: StateView) => readonly T[]) => {
    const all = placed.flatMap((one) =>
      rowsOf(one.view).map((row, index) => ({ row, place: one.places[name][index] ?? NOWHERE })),
    );
    const shown = cut(name, all, ({ place }) => place, page);
    const more = views.reduce((sum, view) => sum + view.more[name], shown.more);
    return { rows: shown.rows.map(({ row }) => row), next: nextOf(name, more, shown.rows.at(-1)?.place), more };
  };
  const running = listOf('running', (view) => view.running);
  const retrying = listOf('retrying', (view) => view.retrying);
  const asking = listOf('asking', (view) => view.asking);
  const following = listOf('following', (view) => view.following);
  const queued = listOf('queued', (view) => view.queued);
  const completed = listOf('completed', (view) => view.completed);
  const acting = actsFor === 0 ? views.slice(1) : views;
  const repositories = views.flatMap((view) => view.repositories ?? []);
  const ownFiles = views.flatMap((view) => view.workflow.own_files ?? []);
  return {
    ...own,
    repository: repositories.length === 1 ? '1 repository' : `${repositories.length} repositories`,
    repositories,
    workflow: { ...workflow, ...(ownFiles.length > 0 && { own_files: ownFiles }) },
    counts: summed(views.map((view) => view.counts)),
    waiting: {
      reasons: summed(views.map((view) => view.waiting.reasons)),
      postponed: views.reduce((sum, view) => sum + view.waiting.postponed, 0),
    },
    ...(queue && { queue }),
    slots: acting.length === 0 ? own.slots : acting.reduce((sum, view) => sum + view.slots, 0),
    coordinators,
    running: running.rows,
    retrying: retrying.rows,
    asking: asking.rows,
    following: following.rows,
    queued: queued.rows,
    completed: completed.rows,
    next: {
      ...{ running: running.next, retrying: retrying.next, asking: asking.next },
      ...{ following: following.next, queued: queued.next, completed: completed.next },
    },
    more: {
      ...{ running: running.more, retrying: retrying.more, asking: asking.more },
      ...{ following: following.more, queued: queued.more, completed: completed.more },
    },
    poll: pollOfAll(own, acting),
    totals: summed(views.map((view) => view.totals)),
    // Each has a budget of its own.
    budget: acting[0]?.budget ?? own.budget,
    rate_limit: scarcest(acting.map((view) => view.rate_limit)),
    webhook: webhookOfAll(views),
  };
}
