// Deliveries of webhooks, and their results.

import type { Look } from './look.ts';

/** @property look null: the daemon does not read such events */
export type Delivery = { readonly repository: string | null; readonly look: Look | null };

/** `known`: it came before · `ignored`: of another repository, or about something that the daemon does not read. */
export const DELIVERY_RESULTS = ['accepted', 'ping', 'known', 'ignored', 'forged', 'malformed'] as const;
export type DeliveryResult = (typeof DELIVERY_RESULTS)[number];

export type WebhookStatus = {
  /** When the last valid delivery for this repository came, ms since the epoch; null: none has come. */
  readonly lastAt: number | null;
  /** Since the start of the daemon. */
  readonly counts: Readonly<Record<DeliveryResult, number>>;
};
