// The doctor's rows of a queue: its address, TLS, versions, permissions, and the workers that are there.

import { packageVersion } from '../../base/package-version.ts';
import { helpIn, refusal } from '../../base/rules/codes.ts';
import { ToolError } from '../../base/rules/errors.ts';
import { isVersionAtLeast } from '../../base/rules/version.ts';
import { hostOf } from '../../daemon/github/clone-url.ts';
import {
  isLoopbackName,
  isPostgresUrl,
  LEAST_KEY,
  shownQueueUrl,
  sslModeOf,
} from '../../daemon/rules/queue-settings.ts';
import { slugKey } from '../../daemon/rules/repositories.ts';
import type { Workflow } from '../../daemon/rules/workflow.ts';
import { addressFrom } from '../../fleet/proofs.ts';
import { FLEET_CODES } from '../../fleet/rules/fleet-codes.ts';
import type { Store } from '../../fleet/store/store.ts';
import { DOCTOR_CODES } from '../rules/doctor-codes.ts';
import { type DoctorCheck, fail, failedBy, ok, warn } from './doctor-row.ts';

type IsOwn = (repository: string) => boolean;

function checkTls(url: string): DoctorCheck {
  const { protocol, hostname } = new URL(url);
  const mode = isPostgresUrl(url) ? sslModeOf(url) : null;
  const [isEncrypted, advice] =
    mode === null
      ? [protocol === 'rediss:', 'use rediss:// outside of a network that is yours']
      : [mode !== 'disable', 'use ?sslmode=verify-full outside of a network that is yours'];
  if (isEncrypted && mode === 'require' && !url.includes('sslrootcert='))
    return warn('queue TLS', refusal(DOCTOR_CODES.queue_certificate_unchecked, {}), advice);
  if (isEncrypted) return ok('queue TLS', 'the connection is encrypted');
  // A name that begins so is the directory of a socket.
  return isLoopbackName(hostname) || hostname.toLowerCase().startsWith('%2f')
    ? ok('queue TLS', 'not needed on this machine')
    : warn('queue TLS', refusal(DOCTOR_CODES.queue_not_encrypted, {}), advice);
}

/** Whether a coordinator with this workflow acts for a repository, `<host>/<owner>/<repo>`. */
export function actsFor({ tracker }: Pick<Workflow, 'tracker'>): IsOwn {
  const host = hostOf(tracker.apiUrl);
  const names = (tracker.repositories ?? [tracker.slug]).map((slug) => `${host}/${slugKey(slug)}`.toLowerCase());
  return (repository) =>
    names.some((name) => name === repository || (name.endsWith('/*') && repository.startsWith(name.slice(0, -1))));
}

/** So many repositories of others are named. */
const MOST_NAMED = 3;

/** A coordinator proves its address with its key. Other fleets may have theirs in the same store. */
async function checkKey(store: Store, key: string, isOwn: IsOwn | null): Promise<DoctorCheck> {
  const advice = 'export TOOL_FLEET_KEY=…, the value that queue.key names on the coordinator';
  if (key.length < LEAST_KEY)
    return fail('fleet key', refusal(FLEET_CODES.fleet_key_missing, { least: LEAST_KEY, got: key.length }), advice);
  // What the store refuses is the row of the permissions.
  const written = [...(await store.heldAddresses().catch(() => new Map<string, string>()))];
  const [shared, others]: [string[], string[]] = [[], []];
  for (const [repository, address] of written)
    if (address !== '') (addressFrom(key, repository, address) === null ? others : shared).push(repository);
  const differs = others.find((repository) => isOwn?.(repository));
  const oneKey = 'give queue.key of its coordinators, and TOOL_FLEET_KEY of their workers, one value';
  if (differs !== undefined)
    return fail('fleet key', refusal(DOCTOR_CODES.fleet_key_differs, { repository: differs }), oneKey);
  const repositories = others.slice(0, MOST_NAMED).join(', ');
  const beside = others.length === 0 ? '' : `; coordinators of other fleets are there, such as ${repositories}`;
  if (shared[0] !== undefined) return ok('fleet key', `the coordinator of ${shared[0]} has the same${beside}`);
  return others.length > 0 && isOwn === null
    ? warn('fleet key', refusal(DOCTOR_CODES.fleet_key_unmatched, { repositories }), advice)
    : ok('fleet key', `${key.length} characters; no coordinator of this fleet acts now that could compare it${beside}`);
}

async function checkWorkers(store: Store): Promise<DoctorCheck> {
  const [workers, version] = [await store.workers(), packageVersion()];
  const others = workers.filter((one) => one.version !== version);
  const [first] = others;
  if (first !== undefined)
    return warn(
      'workers',
      refusal(DOCTOR_CODES.workers_of_other_version, {
        count: others.length,
        worker: first.name,
        version: first.version,
        own: version,
      }),
      `npm install --global toolcrew@${version} on these machines`,
    );
  if (workers.length === 0) return ok('workers', 'none was heard of in the last 15 s');
  const slots = workers.reduce((sum, one) => sum + one.slots, 0);
  return ok('workers', `${workers.length} with ${slots} ${slots === 1 ? 'slot' : 'slots'}, all of version ${version}`);
}

export function withoutQueue(path: string): DoctorCheck {
  return fail('queue', refusal(DOCTOR_CODES.queue_not_set, { path }), 'set queue.url, or TOOL_QUEUE_URL on a worker');
}

/** @param isOwn of a coordinator; null: a worker, which knows no repositories */
export async function checkQueue(url: string, key: string, isOwn: IsOwn | null): Promise<DoctorCheck[]> {
  const advice = 'correct queue.url, or TOOL_QUEUE_URL of a worker';
  let store: Store;
  try {
    const { openStore } = await import('../../fleet/store/open-store.ts');
    store = await openStore(url, 'tool doctor --queue');
  } catch (error) {
    // It names the command for a package that is missing.
    return [failedBy('queue', error, (error instanceof ToolError ? helpIn(error.refusal) : null) ?? advice)];
  }
  try {
    const { product, version, oldest, evicts } = await store.about();
    const rows = [
      ok('queue', `${shownQueueUrl(url)} answers`),
      isVersionAtLeast(version, oldest)
        ? ok('queue versions', `${product} ${version}`)
        : fail(
            'queue versions',
            refusal(DOCTOR_CODES.program_too_old, { version: `${product} ${version}`, required: oldest }),
            `install a newer ${product}`,
          ),
      evicts === null
        ? ok('queue memory', 'nothing is evicted')
        : warn('queue memory', refusal(DOCTOR_CODES.queue_evicts, { policy: evicts }), 'maxmemory-policy noeviction'),
      checkTls(url),
      await checkKey(store, key, isOwn),
    ];
    try {
      await store.probe();
      rows.push(ok('queue permissions', 'a job went through'), await checkWorkers(store));
    } catch (error) {
      const rights = 'give this user the rights that docs/scaling.md lists';
      rows.push(failedBy('queue permissions', error, rights));
    }
    return rows;
  } finally {
    store.close();
  }
}
