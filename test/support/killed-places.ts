// Daemons that are killed one after the other on one state. Each goes on with the issue under which the one before was killed.

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentRunning } from './agents.ts';
import { programFile } from './compiled.ts';
import { Daemon } from './daemon.ts';
import { FLEET_KEY, type StoreAddress, startWorker } from './fleet.ts';
import { startForge, type TestForge } from './forge.ts';
import { processesAt } from './processes-at.ts';
import { type Cleanup, finallyDo } from './temp.ts';

export type PlaceOptions = {
  /** Of the repository. */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** A queue whose worker makes the attempts. */
  readonly queue?: StoreAddress;
};

const KILLED = programFile('killed-daemon');

/** A service, and a daemon that ends where `killAt` says. The agent of each issue runs a script of its own. */
export class KilledPlace {
  readonly forge: TestForge;
  readonly daemon: Daemon;

  private constructor(forge: TestForge, daemon: Daemon) {
    this.forge = forge;
    this.daemon = daemon;
  }

  static async start(t: Cleanup, settings: string, { files, queue }: PlaceOptions = {}): Promise<KilledPlace> {
    const forge = await startForge(t, files);
    const daemon = await Daemon.create(t, forge, { env: { FLEET_KEY } });
    const fleet = queue === undefined ? '' : `queue: { url: "${queue.url}", key: $FLEET_KEY, lease_ms: 5000 }\n`;
    daemon.write(`${agentRunning(`. ${daemon.directory}/$TOOL_ISSUE.sh`)}\n${fleet}${settings}`);
    if (queue !== undefined) startWorker(t, 'one', queue);
    const place = new KilledPlace(forge, daemon);
    place.goOn(false);
    return place;
  }

  get #momentFile(): string {
    return join(this.daemon.directory, 'kill-at');
  }

  /** @param moment as KILL_AT_FILE has it */
  killAt(moment: string): void {
    writeFileSync(this.#momentFile, moment);
  }

  /** The machine is gone with all that the daemon had on it. */
  vanish(): void {
    for (const path of [this.daemon.stateDir, this.daemon.root]) rmSync(path, { recursive: true, force: true });
  }

  /** Starts a daemon that nothing kills until `killAt`. @param isLast it is the built command, which nothing kills at all */
  goOn(isLast: boolean): void {
    this.daemon.log = '';
    this.killAt('');
    if (isLast) this.daemon.start();
    else this.daemon.start([], { KILL_AT_FILE: this.#momentFile }, [KILLED]);
  }

  /** Waits until no process of an agent is left. The last daemon is stopped, and nothing is left of it. */
  async left(isLast: boolean): Promise<void> {
    const { daemon } = this;
    if (isLast) {
      assert.equal(await daemon.stop(), 143, daemon.log);
      assert.deepEqual(processesAt(daemon.directory), []);
      return;
    }
    const others = () => processesAt(daemon.directory).filter((pid) => pid !== String(daemon.pid));
    await daemon.until('no agent is left', () => others().length === 0);
  }

  /** A file of one issue. */
  path(issue: number, name: string): string {
    return join(this.daemon.directory, `${issue}.${name}`);
  }
}

/** Keeps places by name. One that is taken and not given back, since its test failed, is not used again. */
export function killedPlaces(t: Cleanup) {
  const places = new Map<string, KilledPlace>();
  // Of the whole file: registered within a test, it would run at its end.
  finallyDo(t, () => places.clear());
  return {
    take: async (name: string, settings: string, options?: PlaceOptions): Promise<KilledPlace> => {
      const known = places.get(name);
      places.delete(name);
      return known ?? KilledPlace.start(t, settings, options);
    },
    giveBack: (name: string, place: KilledPlace): void => {
      places.set(name, place);
    },
  };
}
