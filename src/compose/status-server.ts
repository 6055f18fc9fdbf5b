// Starts the status server, with what takes deliveries of webhooks.

import type { Logger } from '../base/ports.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';
import { formatSlug } from '../git/rules/repository.ts';
import type { FleetRoutes } from '../web/fleet-routes.ts';
import { StatusServer } from '../web/server.ts';
import type { Source } from '../web/source.ts';
import type { Webhook, WebhookOptions } from '../web/webhook.ts';

/** Null: no deliveries are taken. */
export async function webhookFor(
  { server, tracker }: Workflow,
  options: Pick<WebhookOptions, 'clock' | 'log' | 'takes'>,
): Promise<Webhook | null> {
  const secret = server.webhookSecret;
  if (secret === null) return null;
  const { Webhook } = await import('../web/webhook.ts');
  const { decodeDelivery: decode, isSigned } = await import('../daemon/github/delivery.ts');
  const ours =
    tracker.repositories === null ? formatSlug(tracker.slug) : tracker.repositories.map(formatSlug).join(', ');
  return new Webhook({ secret, ours, isSigned, decode, ...options });
}

export async function startServer(
  { server }: Workflow,
  webhook: Webhook | null,
  source: Source,
  log: Logger,
  fleet?: FleetRoutes,
): Promise<StatusServer | undefined> {
  if (server.port === 0) return undefined;
  const status = new StatusServer({
    source,
    log,
    host: server.host,
    port: server.port,
    allowedHosts: server.allowedHosts,
    token: server.token,
    webhook,
    ...(fleet && { fleet }),
  });
  await status.listen();
  return status;
}
