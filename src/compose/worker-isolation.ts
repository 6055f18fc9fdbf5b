// Isolation of a worker's agents: found out at the first attempt, and again at the next while this machine gives none.

import { type Isolation, notIsolated } from '../agents/isolation.ts';
import type { IsolationMode } from '../agents/rules/runtime.ts';
import type { Logger } from '../base/ports.ts';

/** Attempts that ask at the same time share one probe. The first that finds none is logged. */
export function keptIsolation<T extends Pick<Isolation, 'active' | 'reason'>>(
  probe: (mode: IsolationMode) => Promise<T>,
  log: Logger,
): (mode: IsolationMode) => Promise<T> {
  const probes = new Map<IsolationMode, Promise<T>>();
  let isSaid = false;
  return async (mode) => {
    const asked = probes.get(mode) ?? probe(mode);
    probes.set(mode, asked);
    let isKept = false;
    try {
      const isolation = await asked;
      isKept = isolation.active || mode === 'off';
      if (!isolation.active && !isSaid) log.log('warn', 'serve', notIsolated(isolation.reason));
      isSaid ||= !isolation.active;
      return isolation;
    } finally {
      // Another moment may give another answer.
      if (!isKept && probes.get(mode) === asked) probes.delete(mode);
    }
  };
}
