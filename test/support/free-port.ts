// Ports for servers of tests. No other test process gets the same one, also before the server listens or between two of its starts.

import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PLACE = join(tmpdir(), 'toolcrew-test-ports');
const taken: string[] = [];

process.once('exit', () => {
  for (const path of taken) rmSync(path, { force: true });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** 0, which means this process itself, where it cannot be read: it is being written. */
function holderOf(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8'));
  } catch {
    return 0;
  }
}

/** Whether this process has the port to itself from now on. A file holds the process that has it. */
function reserve(port: number): boolean {
  const path = join(PLACE, String(port));
  mkdirSync(PLACE, { recursive: true });
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
  } catch {
    // That of a process which was killed is left to later ones: there are enough ports.
    if (!isAlive(holderOf(path))) rmSync(path, { force: true });
    return false;
  }
  taken.push(path);
  return true;
}

/** Below the ports that the kernel gives to connections and to servers on port 0: nobody takes it meanwhile by chance. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_768);
    if (!reserve(port)) continue;
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
