// A Git LFS server on loopback, before the played hosting service: batches, objects, and who asked for them with what.

import { createHash, randomBytes } from 'node:crypto';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { DAEMON_TOKEN, fields } from './forge.ts';
import { type Cleanup, finallyDo } from './temp.ts';

const MEDIA = 'application/vnd.git-lfs+json';
const WANTED = `Basic ${Buffer.from(`x-access-token:${DAEMON_TOKEN}`).toString('base64')}`;

type Seen = { readonly method: string; readonly path: string; readonly authorization: string | undefined };
type Wish = { readonly oid: string; readonly size: number };

export function oidOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The text that git holds in the place of the file. */
export function pointerTo(content: string | Buffer): string {
  const size = Buffer.byteLength(content);
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${oidOf(content)}\nsize ${size}\n`;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function wishes(value: unknown): Wish[] {
  const { objects } = fields(value);
  return Array.isArray(objects)
    ? objects.map(fields).map(({ oid, size }) => ({ oid: String(oid), size: Number(size) }))
    : [];
}

export class LfsServer {
  /** Serves the hosting service as well. */
  readonly url: string;
  readonly objects = new Map<string, Buffer>();
  readonly seen: Seen[] = [];
  /** Answers every request about objects with this status. */
  failsWith: number | null = null;
  /** Answers uploads with this status. */
  refusesWith: number | null = null;
  /** Answers the wish to upload with this code, object by object. */
  declinesWith: number | null = null;
  /** Answers no question about objects before this. */
  holds: Promise<void> = Promise.resolve();
  /** Where it sends clients, when something stands before it. */
  front: string | null = null;
  readonly #tickets = new Map<string, string>();

  private constructor(url: string) {
    this.url = url;
  }

  static async start(t: Cleanup, upstreamUrl: string): Promise<LfsServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const lfs = new LfsServer(`http://127.0.0.1:${port}`);
    server.on('request', (request, response) => {
      if ((request.url ?? '').includes('/info/lfs/')) void lfs.#serve(request, response);
      else {
        const { method = '', url = '', headers } = request;
        if (url.endsWith('/git-receive-pack'))
          lfs.seen.push({ method, path: url, authorization: headers.authorization });
        passOn(upstreamUrl, request, response);
      }
    });
    finallyDo(t, async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    });
    return lfs;
  }

  put(content: string | Buffer): void {
    this.objects.set(oidOf(content), Buffer.from(content));
  }

  /** How often it was asked about objects. */
  get questions(): number {
    return this.seen.filter(({ path }) => path.endsWith('/objects/batch')).length;
  }

  /** How often a file was downloaded. */
  downloads(content: string | Buffer): number {
    const path = `/objects/${oidOf(content)}`;
    return this.seen.filter((one) => one.method === 'GET' && one.path.endsWith(path)).length;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    this.seen.push({ method, path: url, authorization: headers.authorization });
    const body = await bodyOf(request);
    const answer = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': MEDIA }).end(JSON.stringify(value));
    await this.holds;
    if (this.failsWith !== null) return void answer(this.failsWith, { message: 'the object store is away' });
    if (url.endsWith('/objects/batch') && method === 'POST') {
      if (headers.authorization !== WANTED) {
        response.setHeader('lfs-authenticate', 'Basic realm="lfs"');
        return void answer(401, { message: 'Credentials needed' });
      }
      const asked: unknown = JSON.parse(body.toString());
      const base = `${this.front ?? this.url}${url.replace(/\/batch$/, '')}`;
      const isUpload = fields(asked).operation === 'upload';
      const objects = wishes(asked).map((wish) => (isUpload ? this.#upload(wish, base) : this.#download(wish, base)));
      return void answer(200, { transfer: 'basic', objects });
    }
    const oid = url.split('/').at(-1) ?? '';
    const ticket = this.#tickets.get(`${method} ${oid}`);
    if (ticket === undefined || headers.authorization !== ticket) return void answer(403, { message: 'No ticket' });
    const object = this.objects.get(oid);
    if (method === 'GET' && object !== undefined) return void response.writeHead(200).end(object);
    if (method !== 'PUT') return void answer(404, { message: 'Not found' });
    if (this.refusesWith !== null) return void answer(this.refusesWith, { message: 'This file is not taken' });
    if (oidOf(body) !== oid) return void answer(422, { message: 'The content is another one' });
    this.objects.set(oid, body);
    response.writeHead(200).end();
  }

  #ticket(method: string, oid: string, base: string): Record<string, unknown> {
    const ticket = `Ticket ${randomBytes(8).toString('hex')}`;
    this.#tickets.set(`${method} ${oid}`, ticket);
    return { href: `${base}/${oid}`, header: { Authorization: ticket }, expires_in: 3600 };
  }

  #download({ oid, size }: Wish, base: string): Record<string, unknown> {
    if (!this.objects.has(oid)) return { oid, size, error: { code: 404, message: 'Object does not exist' } };
    return { oid, size, authenticated: true, actions: { download: this.#ticket('GET', oid, base) } };
  }

  #upload({ oid, size }: Wish, base: string): Record<string, unknown> {
    if (this.objects.has(oid)) return { oid, size };
    if (this.declinesWith !== null) return { oid, size, error: { code: this.declinesWith, message: 'Too large' } };
    return { oid, size, authenticated: true, actions: { upload: this.#ticket('PUT', oid, base) } };
  }
}

function passOn(upstreamUrl: string, request: IncomingMessage, response: ServerResponse): void {
  const options = { method: request.method, headers: request.headers };
  const upstream = httpRequest(new URL(request.url ?? '/', upstreamUrl), options, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  upstream.on('error', () => response.destroy());
  request.pipe(upstream);
}
