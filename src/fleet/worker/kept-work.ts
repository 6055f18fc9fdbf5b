// Work on a worker's disk: a record of each attempt at work, and the bundle of what is not published yet.

import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { jobSchema, orderSchema, workSchema } from '../wire.ts';

const recordSchema = z.object({
  job: jobSchema,
  /** By which the coordinator knows the worker of the attempt. */
  token: z.string(),
  order: orderSchema,
  /** Commits of the bundle; null: there is none. */
  work: workSchema.nullable(),
  /** A coordinator has taken it: it is kept until it is published. */
  handed: z.literal(true).optional(),
});
export type KeptRecord = z.infer<typeof recordSchema>;

export class KeptWork {
  readonly #directory: string;

  /** @param directory no agent may read it */
  constructor(directory: string) {
    this.#directory = directory;
  }

  bundleOf(id: string): string {
    return join(this.#directory, `${id}.bundle`);
  }

  async note(id: string, record: KeptRecord): Promise<void> {
    const path = join(this.#directory, `${id}.json`);
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await writeFile(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
    await rename(`${path}.new`, path);
  }

  /** Takes a bundle. Gives its path. */
  async keep(id: string, record: KeptRecord, bundle: string): Promise<string> {
    const path = this.bundleOf(id);
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await rename(bundle, path);
    await this.note(id, record);
    return path;
  }

  /** Throws where the record cannot be read. */
  async read(id: string): Promise<KeptRecord> {
    return recordSchema.parse(JSON.parse(await readFile(join(this.#directory, `${id}.json`), 'utf8')));
  }

  has(id: string): boolean {
    return existsSync(join(this.#directory, `${id}.json`));
  }

  hasBundle(id: string): boolean {
    return existsSync(this.bundleOf(id));
  }

  /** Bundles with their bytes, and since when they are kept, ms since the epoch. */
  async bundles(): Promise<readonly { readonly id: string; readonly size: number; readonly since: number }[]> {
    const ids = (await this.ids()).filter((id) => this.hasBundle(id));
    return Promise.all(
      ids.map(async (id) => {
        const { size, mtimeMs } = await stat(this.bundleOf(id));
        return { id, size, since: mtimeMs };
      }),
    );
  }

  /** Ids of all attempts with a record. */
  async ids(): Promise<readonly string[]> {
    const names = await readdir(this.#directory).catch(() => []);
    return names.flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : [])).sort();
  }

  async forget(id: string): Promise<void> {
    await rm(this.bundleOf(id), { force: true });
    await rm(join(this.#directory, `${id}.json`), { force: true });
  }
}
