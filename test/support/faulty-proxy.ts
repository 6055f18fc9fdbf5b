// An honest proxy that sometimes fails: every fault it plays is counted, so that a test can prove it happened.

import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline, type Transform } from 'node:stream';
import { type Cleanup, finallyDo } from './temp.ts';

export type Fault =
  | 'status502'
  | 'notFound'
  | 'html'
  | 'truncated'
  | 'cut'
  | 'hang'
  | 'retryAfter'
  | 'primary'
  | 'secondary'
  | 'unauthorized'
  | 'forbidden'
  | 'badShape'
  | 'empty';

export type Seen = {
  readonly method: string;
  readonly path: string;
  readonly etag: boolean;
  readonly status: number;
  /** The header with the token. */
  readonly from: string;
};

export class FaultyProxy {
  readonly url: string;
  readonly seen: Seen[] = [];
  /** How often each fault was played. */
  readonly played = new Map<Fault, number>();
  /** Chooses the fault for a request; undefined: passed on as it is. */
  choose: (method: string, path: string) => Fault | undefined = () => undefined;

  /** What an answer goes through on its way; undefined: nothing. An error in there cuts the connection. */
  through: (method: string, path: string) => Transform | undefined = () => undefined;

  private constructor(url: string) {
    this.url = url;
  }

  static async start(t: Cleanup, target: string): Promise<FaultyProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const proxy = new FaultyProxy(
      `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    );
    server.on('request', (request, response) => proxy.#serve(request, response, target));
    finallyDo(t, () => {
      server.closeAllConnections();
      server.close();
    });
    return proxy;
  }

  times(fault: Fault): number {
    return this.played.get(fault) ?? 0;
  }

  #serve(request: IncomingMessage, response: ServerResponse, target: string): void {
    const method = request.method ?? 'GET';
    const path = request.url ?? '/';
    const fault = this.choose(method, path);
    const note = (status: number) =>
      this.seen.push({
        ...{ method, path, status, etag: request.headers['if-none-match'] !== undefined },
        from: request.headers.authorization ?? '',
      });
    if (fault !== undefined) {
      this.played.set(fault, this.times(fault) + 1);
      note(0);
      request.resume();
      play(fault, response);
      return;
    }
    const { host: _, ...headers } = request.headers;
    const sent = httpRequest(target + path, { method, headers }, (answer) => {
      note(answer.statusCode ?? 0);
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      const through = this.through(method, path);
      if (through === undefined) answer.pipe(response);
      else
        pipeline(answer, through, response, (error) => {
          if (error) response.destroy();
        });
    });
    sent.once('error', () => response.destroy());
    request.pipe(sent);
  }
}

function play(fault: Fault, response: ServerResponse): void {
  const json = { 'content-type': 'application/json' };
  switch (fault) {
    case 'status502':
      response.writeHead(502, json).end('{"message":"Bad Gateway"}');
      return;
    case 'notFound':
      response.writeHead(404, json).end('{"message":"Not Found"}');
      return;
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><html><body>Unicorn!</body></html>');
      return;
    case 'truncated':
      response.writeHead(200, json).end('[{"number": 1, "title": "cut off in the mid');
      return;
    case 'cut':
      response.writeHead(200, { ...json, 'content-length': '1000' });
      response.write('[{"number"');
      setImmediate(() => response.destroy());
      return;
    case 'hang':
      return;
    case 'retryAfter':
      response.writeHead(429, { ...json, 'retry-after': '7' }).end('{"message":"slow down"}');
      return;
    case 'primary':
      response
        .writeHead(403, {
          ...json,
          'x-ratelimit-limit': '5000',
          'x-ratelimit-remaining': '0',
          'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 600),
        })
        .end('{"message":"API rate limit exceeded"}');
      return;
    case 'secondary':
      response.writeHead(403, json).end('{"message":"You have exceeded a secondary rate limit. Please wait."}');
      return;
    case 'unauthorized':
      response.writeHead(401, json).end('{"message":"Bad credentials"}');
      return;
    case 'forbidden':
      response.writeHead(403, json).end('{"message":"Resource protected by organization SAML enforcement."}');
      return;
    case 'badShape':
      response.writeHead(200, json).end('{"rows": []}');
      return;
    case 'empty':
      response.writeHead(200, json).end('');
      return;
    default: {
      const never: never = fault;
      throw new Error(`unknown fault ${String(never)}`);
    }
  }
}
