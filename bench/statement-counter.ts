// A way to PostgreSQL that counts what the clients of the server send: statements, and bytes of both directions.

import { connect, createServer, type Socket } from 'node:net';
import type { Cleanup } from '../test/support/temp.ts';

/** Messages that have the server do something: a simple query, and one that was prepared. */
const STATEMENTS = [...'QE'].map((type) => type.charCodeAt(0));
const HEAD_BYTES = 5;

/** Reads the messages of one client: a type of one byte, and a length of four that counts itself. The first has no type. */
class Messages {
  #rest = Buffer.alloc(0);
  #isFirst = true;

  /** Gives the number of statements in it. */
  take(bytes: Buffer): number {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    let count = 0;
    for (;;) {
      const typeBytes = this.#isFirst ? 0 : 1;
      if (this.#rest.length < HEAD_BYTES) return count;
      const end = typeBytes + this.#rest.readUInt32BE(typeBytes);
      if (this.#rest.length < end) return count;
      if (!this.#isFirst && STATEMENTS.includes(this.#rest[0] ?? 0)) count += 1;
      this.#isFirst = false;
      this.#rest = this.#rest.subarray(end);
    }
  }
}

export class StatementCounter {
  readonly port: number;
  calls = 0;
  bytes = 0;

  private constructor(port: number) {
    this.port = port;
  }

  /** @param target port of the server on this machine, which is spoken to without TLS */
  static async start(t: Cleanup, target: number): Promise<StatementCounter> {
    const sockets = new Set<Socket>();
    const server = createServer({ pauseOnConnect: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const counter = new StatementCounter(typeof address === 'object' && address !== null ? address.port : 0);
    server.on('connection', (from) => {
      const to = connect(target, '127.0.0.1');
      const messages = new Messages();
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const) {
        sockets.add(one);
        one.on('error', () => undefined);
        one.on('data', (bytes: Buffer) => {
          counter.bytes += bytes.length;
          if (one === from) counter.calls += messages.take(bytes);
          other.write(bytes);
        });
        one.once('close', () => {
          sockets.delete(one);
          other.destroy();
        });
      }
      from.resume();
    });
    t.after(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    return counter;
  }
}
