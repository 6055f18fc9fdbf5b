// The optional packages of a queue, which are loaded when one is opened and not before.

import { packageRoot } from '../../base/package-root.ts';
import { isPackageMissing, peerInstall } from '../../base/peer-install.ts';
import { failure } from '../../base/rules/errors.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';

/** The manifest names the same versions. */
const QUEUE = 'bullmq@6.7';

async function required<T>(driver: string, command: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!isPackageMissing(error, ['bullmq', 'ioredis', 'pg'])) throw error;
    const packages = [QUEUE, driver];
    const how = peerInstall(packageRoot(), packages, command);
    const values = { packages: packages.join(' and '), command: how };
    throw failure(FLEET_CODES.queue_package_missing, values, { cause: error });
  }
}

/** Both throw where a package is not installed. @param command that npx runs, for the advice */
export function loadRedis(command: string) {
  return required('ioredis@5', command, async () => ({
    bullmq: await import('bullmq'),
    Redis: (await import('ioredis')).Redis,
  }));
}

export function loadPostgres(command: string) {
  return required('pg@8', command, async () => ({ bullmq: await import('bullmq'), pg: await import('pg') }));
}
