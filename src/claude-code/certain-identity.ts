// The identity of a caller, where it is certain.

import type { Identity } from '../agents/member-environment.ts';
import { ownNamespaceIdentity } from '../agents/namespace-identity.ts';
import { teammateAbove } from './host-above.ts';

/** Whom a process was started as by what it cannot change: its namespaces, the teammate's program above it. */
export function certainIdentity(main: string): Identity | undefined {
  return ownNamespaceIdentity(main) ?? teammateAbove(main);
}
