// Identity of a teammate from what its process cannot change: its namespaces, or the program above it.

import type { Identity } from '../agents/member-environment.ts';
import { ownNamespaceIdentity } from '../agents/namespace-identity.ts';
import { teammateAbove } from './host-above.ts';

/** The teammate as which this process was started; undefined: neither source names one. Variables alone prove nothing. */
export function certainIdentity(main: string): Identity | undefined {
  return ownNamespaceIdentity(main) ?? teammateAbove(main);
}
