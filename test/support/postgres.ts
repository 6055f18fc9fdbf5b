// A PostgreSQL on a port of its own, in a temporary directory, with databases for the tests.

import { chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa, type Subprocess } from 'execa';
import { Client } from 'pg';
import { freePort } from './free-port.ts';
import { type Cleanup, finallyDo, tempDir } from './temp.ts';
import { makeCertificates } from './tls-front.ts';

/** Found nowhere in the store. */
const PASSWORD = 'canary-postgres-password-0123456789';
/** Debian's `nobody`: PostgreSQL does not run as root. */
const NOBODY = 65_534;
const DEBIAN = '/usr/lib/postgresql';

/** Those of the newest version that is installed. */
function installed(): string {
  const newest = readdirSync(DEBIAN)
    .sort((a, b) => Number(a) - Number(b))
    .at(-1);
  return join(DEBIAN, newest ?? '', 'bin');
}

/** The server may be of another version, whose programs are in `$POSTGRES_PROGRAMS`. */
function programs(): string {
  return process.env.POSTGRES_PROGRAMS ?? installed();
}

const asOther = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

export class PostgresServer {
  readonly port: number;
  readonly #directory: string;
  #child: Subprocess | undefined;
  #databases = 0;

  private constructor(port: number, directory: string) {
    this.port = port;
    this.#directory = directory;
  }

  /** With a certificate for 127.0.0.1. */
  static async start(t: Cleanup): Promise<PostgresServer> {
    const directory = tempDir(t);
    makeCertificates(directory);
    const [password, data] = [join(directory, 'password'), join(directory, 'data')];
    writeFileSync(password, PASSWORD);
    mkdirSync(data);
    if (asOther.uid !== undefined)
      for (const name of ['', ...readdirSync(directory)]) chownSync(join(directory, name), asOther.uid, asOther.gid);
    const init = ['-D', data, '-U', 'admin', '--pwfile', password, '--auth=scram-sha-256', '--locale=C', '-E', 'UTF8'];
    await execa(join(programs(), 'initdb'), [...init, '--no-sync'], { ...asOther, cwd: directory });
    const server = new PostgresServer(await freePort(), directory);
    finallyDo(t, () => server.stop());
    await server.begin();
    return server;
  }

  /** The certificate of the authority. */
  get caFile(): string {
    return join(this.#directory, 'ca.pem');
  }

  /** Address of a database. */
  urlOf(database: string, user = 'admin', password = PASSWORD): string {
    return `postgres://${user}:${password}@127.0.0.1:${this.port}/${database}`;
  }

  /** A new database. Gives its name. */
  async database(): Promise<string> {
    this.#databases += 1;
    const name = `fleet${this.#databases}`;
    await this.run('postgres', `CREATE DATABASE ${name}`);
    return name;
  }

  /** Runs statements in a database, and gives the rows of the last one. */
  async run(database: string, text: string): Promise<readonly Record<string, unknown>[]> {
    const client = new Client(this.urlOf(database));
    await client.connect();
    try {
      const results = [await client.query(text)].flat();
      return results.at(-1)?.rows ?? [];
    } finally {
      await client.end();
    }
  }

  /** Everything that a database holds, as text. */
  async dump(database: string): Promise<string> {
    const args = ['--dbname', this.urlOf(database), '--inserts'];
    return (await execa(join(installed(), 'pg_dump'), args, { maxBuffer: 1e9 })).stdout;
  }

  /** @param tls setting of it */
  async begin(tls = 'ssl=on'): Promise<void> {
    const certificate = ['ssl_cert_file=../leaf.pem', 'ssl_key_file=../leaf.key', tls];
    const place = ['listen_addresses=127.0.0.1,127.0.0.2', `port=${this.port}`, 'unix_socket_directories='];
    const settings = ['fsync=off', 'full_page_writes=off', ...place, ...certificate];
    const args = ['-D', join(this.#directory, 'data'), ...settings.flatMap((one) => ['-c', one])];
    const child = execa(join(programs(), 'postgres'), args, {
      ...{ stdio: ['ignore', 'ignore', 'pipe'], cwd: this.#directory, buffer: false, reject: false, ...asOther },
    });
    this.#child = child;
    let said = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (/ready to accept connections/.test(said)) resolve();
      });
      child.once('exit', () => reject(new Error(`postgres ended: ${said}`)));
    });
  }

  /** At once, as in a crash; what was committed is there afterwards. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGQUIT');
    await ended;
  }
}
