// Port of the write guard around shell calls: tickets for calls, and notes about what the calls did.

import type { Lease } from './rules/lease.ts';
import type { GuardNote } from './rules/notes.ts';
import type { CallerRules } from './rules/policy.ts';

/** Whose calls: the directory of a caller's tickets and notes. */
export type TicketOwner = { readonly team: string; readonly caller: string };

export type ShellGuard = {
  /** Whether the guard notes what calls wrote, and what it refused. */
  readonly takesNotes: boolean;
  /**
   * Writes a ticket for one call.
   * @returns the command with the ticket's mark
   * @throws where a ticket cannot be written
   */
  readonly mark: (place: TicketOwner, command: string, callId: string | null, rules: CallerRules) => Promise<string>;
  /** Writes a ticket for one call of a host whose commands carry no mark: our shell finds it by the text of the call. */
  readonly wait: (place: TicketOwner, command: string, callId: string | null, rules: CallerRules) => Promise<void>;
  /** The call has ended: its ticket waits no longer. */
  readonly forget: (place: TicketOwner, command: string) => void;
  /**
   * For a process that runs under the guard from its start to its end.
   * @param id names its log
   * @returns the words before its command line, and the directories that the guard writes to
   */
  readonly whole: (
    place: TicketOwner,
    id: string,
    rules: CallerRules,
  ) => Promise<{ readonly command: readonly string[]; readonly writable: readonly string[] }>;
  /** Notes of the caller's calls, each read once. */
  readonly notes: (place: TicketOwner) => readonly GuardNote[];
};

/** Keeps the files by which the guard knows leases in step with the team's state. */
export type LeaseFiles = (team: string, leases: ReadonlyMap<string, Lease>, now: number) => void;
