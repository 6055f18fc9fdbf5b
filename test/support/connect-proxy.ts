// A company's proxy on loopback: CONNECT tunnels and plain forwarding, for one user with a password.

import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { type Cleanup, finallyDo } from './temp.ts';

const USER = 'worker';
const PASSWORD = 'p@ss:word';

export class ConnectProxy {
  /** With user and password, as people put it into HTTPS_PROXY. */
  readonly url: string;
  /** `CONNECT host:port` and `GET http://…`, in order of arrival. */
  readonly seen: string[] = [];
  /** Requests without the right user and password. */
  turnedAway = 0;

  private constructor(port: number) {
    this.url = `http://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`;
  }

  static async start(t: Cleanup): Promise<ConnectProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const proxy = new ConnectProxy(typeof address === 'object' && address !== null ? address.port : 0);
    const sockets = new Set<{ destroy(): void }>();
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    server.on('request', (request, response) => proxy.#forward(request, response));
    server.on('connect', (request, client, head) => {
      client.on('error', () => client.destroy());
      if (!proxy.#admits(request)) {
        client.end(
          'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="proxy"\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
        );
        return;
      }
      const target = new URL(`http://${request.url ?? ''}`);
      proxy.seen.push(`CONNECT ${target.host}`);
      // Names that no resolver has: nobody gets there without the proxy.
      const host = target.hostname.endsWith('.test') ? '127.0.0.1' : target.hostname;
      const upstream = connect(Number(target.port || 80), host, () => {
        client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        upstream.write(head);
        upstream.pipe(client);
        client.pipe(upstream);
      });
      upstream.on('error', () => client.destroy());
      client.on('close', () => upstream.destroy());
    });
    finallyDo(t, async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    });
    return proxy;
  }

  #admits(request: IncomingMessage): boolean {
    const wanted = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`;
    if (request.headers['proxy-authorization'] === wanted) return true;
    this.turnedAway += 1;
    return false;
  }

  #forward(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#admits(request)) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic realm="proxy"' }).end();
      return;
    }
    this.seen.push(`${request.method ?? 'GET'} ${request.url ?? ''}`);
    const { 'proxy-authorization': _, ...headers } = request.headers;
    const upstream = httpRequest(request.url ?? '', { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    upstream.on('error', () => response.destroy());
    request.pipe(upstream);
  }
}
