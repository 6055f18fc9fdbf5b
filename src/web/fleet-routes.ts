// Routes of workers on the status server, and the server's limits with and without them.

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';

/** The key of the fleet, or the token of an attempt, stands for the server's own token. */
export type FleetRoutes = {
  readonly handles: (path: string) => boolean;
  readonly serve: (path: string, request: IncomingMessage, response: ServerResponse) => Promise<void>;
};

const REQUEST_MS = 15_000;
/** For a bundle of commits. */
const BUNDLE_MS = 600_000;

export function serverWith(fleet: FleetRoutes | undefined, listener: RequestListener): Server {
  const requestTimeout = fleet === undefined ? REQUEST_MS : BUNDLE_MS;
  const times = { headersTimeout: 10_000, keepAliveTimeout: 5_000, connectionsCheckingInterval: 2_000 };
  const server = createServer({ requestTimeout, ...times }, listener);
  server.maxConnections = fleet === undefined ? 512 : 8_192;
  return server;
}
