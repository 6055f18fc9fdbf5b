// A way between two programs that can be cut: nothing comes through then, no connection ends, and nobody is told.

import { connect, createServer, type Socket } from 'node:net';
import { type Cleanup, finallyDo } from './temp.ts';

type Pair = { readonly from: Socket; readonly to: Socket | null };

export class CutProxy {
  readonly port: number;
  readonly #target: () => number;
  #pairs = new Set<Pair>();
  readonly #dead = new Set<Pair>();
  isCut = false;

  private constructor(port: number, target: () => number) {
    this.port = port;
    this.#target = target;
  }

  /** @param target the port behind it, known at the first connection */
  static async start(t: Cleanup, target: () => number): Promise<CutProxy> {
    const server = createServer({ pauseOnConnect: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const proxy = new CutProxy(typeof address === 'object' && address !== null ? address.port : 0, target);
    server.on('connection', (from) => {
      from.on('error', () => undefined);
      if (proxy.isCut) proxy.#pairs.add({ from, to: null });
      else proxy.#join(from);
    });
    finallyDo(t, async () => {
      for (const { from, to } of [...proxy.#pairs, ...proxy.#dead]) for (const socket of [from, to]) socket?.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    return proxy;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  #join(from: Socket): void {
    const to = connect(this.#target(), '127.0.0.1');
    const pair = { from, to };
    this.#pairs.add(pair);
    to.on('error', () => undefined);
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      one.on('data', (bytes: Buffer) => void other.write(bytes));
      one.once('close', () => {
        // Behind a cut nobody hears of it.
        if (!this.#pairs.has(pair) || this.isCut) return;
        this.#pairs.delete(pair);
        other.destroy();
      });
    }
    from.resume();
  }

  cut(): void {
    this.isCut = true;
    for (const { from, to } of this.#pairs) for (const socket of [from, to]) socket?.pause();
  }

  /** @param forgets as a firewall that was restarted: connections of before stay silent for ever */
  mend({ forgets }: { readonly forgets: boolean }): void {
    this.isCut = false;
    const before = [...this.#pairs];
    this.#pairs = new Set();
    for (const pair of before) {
      const { from, to } = pair;
      if (forgets) this.#dead.add(pair);
      else if (to === null) this.#join(from);
      else if (from.destroyed || to.destroyed) for (const socket of [from, to]) socket.destroy();
      else {
        this.#pairs.add(pair);
        from.resume();
        to.resume();
      }
    }
  }
}
