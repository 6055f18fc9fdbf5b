// TLS before the played hosting service, with a certificate that an authority of its own signs.

import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { execaSync } from 'execa';
import { type Cleanup, finallyDo, tempDir } from './temp.ts';

function openssl(cwd: string, ...args: string[]): void {
  execaSync({ cwd })`openssl ${args}`;
}

/** An authority and a certificate that it signs, for 127.0.0.1, localhost and two names that only a proxy knows. */
export function makeCertificates(directory: string): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const authority = ['-subj', '/CN=Company authority', '-days', '2', '-addext', 'keyUsage=critical,keyCertSign'];
  openssl(directory, 'req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', ...authority);
  openssl(directory, 'req', ...key, '-keyout', 'leaf.key', '-out', 'leaf.csr', '-subj', '/CN=localhost');
  writeFileSync(
    join(directory, 'leaf.ext'),
    'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:forge.test,DNS:objects.test\n',
  );
  const signer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'leaf.ext'];
  openssl(directory, 'x509', '-req', '-in', 'leaf.csr', '-out', 'leaf.pem', ...signer);
}

export class TlsFront {
  /** `https://127.0.0.1:<port>`. */
  readonly url: string;
  /** The authority's certificate. */
  readonly caFile: string;
  /** Connections that finished the handshake. */
  connections = 0;

  private constructor(port: number, caFile: string) {
    this.url = `https://127.0.0.1:${port}`;
    this.caFile = caFile;
  }

  static async start(t: Cleanup, upstreamUrl: string): Promise<TlsFront> {
    const directory = tempDir(t);
    makeCertificates(directory);
    const [key, cert] = ['leaf.key', 'leaf.pem'].map((name) => readFileSync(join(directory, name)));
    const server = createServer({ key, cert });
    const sockets = new Set<{ destroy(): void }>();
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    // A client that knows no such authority hangs up.
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const address = server.address();
    const front = new TlsFront(
      typeof address === 'object' && address !== null ? address.port : 0,
      join(directory, 'ca.pem'),
    );
    const { port } = new URL(upstreamUrl);
    server.on('secureConnection', (socket) => {
      front.connections += 1;
      const upstream = connect(Number(port), '127.0.0.1');
      socket.on('error', () => upstream.destroy());
      upstream.on('error', () => socket.destroy());
      socket.on('close', () => upstream.destroy());
      upstream.on('close', () => socket.destroy());
      socket.pipe(upstream).pipe(socket);
    });
    finallyDo(t, async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((done) => server.close(() => done()));
    });
    return front;
  }
}
