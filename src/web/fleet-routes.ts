// Routes of workers on the status server, and the server's limits with and without them.

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';

/** `known`: it shows the token of an attempt · `bundle`: and brings a bundle of commits. */
export type FleetStanding = 'unknown' | 'known' | 'bundle';

/** The key of the fleet, or the token of an attempt, stands for the server's own token. */
export type FleetRoutes = {
  readonly handles: (path: string) => boolean;
  /** By its path and headers. */
  readonly standingOf: (path: string, request: IncomingMessage) => FleetStanding;
  readonly serve: (path: string, request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly close?: () => Promise<void>;
};

const REQUEST_MS = 15_000;
/** For a bundle of commits. */
const BUNDLE_MS = 600_000;
/** Connections without a fleet, and with one requests at a time that show no token of an attempt. */
const MOST_OTHERS = 512;
const MOST_CONNECTIONS = 8_192;
const TIMES = { headersTimeout: 10_000, keepAliveTimeout: 5_000, connectionsCheckingInterval: 2_000 };

/** @param mostOthers requests at a time that show no token of an attempt */
export function serverWith(
  fleet: FleetRoutes | undefined,
  listener: RequestListener,
  mostOthers = MOST_OTHERS,
): Server {
  if (fleet === undefined) {
    const server = createServer({ requestTimeout: REQUEST_MS, ...TIMES }, listener);
    server.maxConnections = MOST_OTHERS;
    return server;
  }
  let others = 0;
  const server = createServer({ requestTimeout: BUNDLE_MS, ...TIMES }, (request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const isOurs = fleet.handles(path);
    const standing = isOurs ? fleet.standingOf(path, request) : 'unknown';
    if (standing !== 'bundle') endLate(request, response);
    if (standing === 'unknown') {
      if (others >= mostOthers) {
        response.writeHead(503, { connection: 'close', 'retry-after': '1', 'content-length': 0 }).end();
        return;
      }
      others += 1;
      response.once('close', () => {
        others -= 1;
      });
    }
    if (isOurs) void fleet.serve(path, request, response);
    else listener(request, response);
  });
  server.maxConnections = MOST_CONNECTIONS;
  return server;
}

/** The server's own limit is that of a bundle. The limit is for a request on its way, never for its answer. */
function endLate(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  const late = setTimeout(() => {
    if (request.complete) return;
    if (!response.headersSent) socket.write('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n');
    socket.destroySoon();
  }, REQUEST_MS);
  const isThere = () => clearTimeout(late);
  request.once('end', isThere);
  request.once('close', isThere);
}
