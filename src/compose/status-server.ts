// Starts the status server, with what takes deliveries of webhooks.

import type { Logger } from '../base/ports.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';
import { formatSlug } from '../git/rules/repository.ts';
import { Answers } from '../web/answers.ts';
import type { FleetRoutes } from '../web/fleet-routes.ts';
import { StatusServer } from '../web/server.ts';
import type { Source } from '../web/source.ts';
import type { Webhook, WebhookOptions } from '../web/webhook.ts';
import type { Fleet } from './fleet.ts';
import type { OwnSource } from './shared-source.ts';

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

/** Of workers, and of other coordinators. */
function routesOf({ workerRequests, answers }: Fleet, own: OwnSource, log: Logger): FleetRoutes {
  const pages = new Answers({ source: own, log });
  const requests = answers({
    needsToken: own.hasToken,
    view: own.shared,
    steer: (command, issue, repository) => own.steer(command, issue, own.shortNameOf(repository)),
    tell: (issue, text, repository) => own.tell(issue, text, own.shortNameOf(repository)),
    deliver: own.deliver,
    refresh: () => void own.refresh(),
    answer: (request, response, hasToken) => pages.answerPath(request, response, hasToken),
  });
  return {
    ...workerRequests,
    close: () => pages.close(),
    serve: (path, request, response) =>
      requests.handles(path) ? requests.serve(path, request, response) : workerRequests.serve(path, request, response),
  };
}

export async function startServer(
  { server }: Workflow,
  webhook: Webhook | null,
  own: OwnSource,
  log: Logger,
  shared?: { readonly fleet: Fleet; readonly source: Source },
): Promise<StatusServer | undefined> {
  if (server.port === 0) return undefined;
  const status = new StatusServer({
    source: shared?.source ?? own,
    log,
    host: server.host,
    port: server.port,
    allowedHosts: server.allowedHosts,
    token: server.token,
    webhook,
    ...(shared && { fleet: routesOf(shared.fleet, own, log) }),
  });
  await status.listen();
  return status;
}
