// Effects of the host's version on an installation: refusal, form of the hooks, and limitations.

import { INSTALL_CLAUDE, isBefore } from '../agents/claude.ts';
import { failure } from '../base/rules/errors.ts';
import { ASKS_SERVERS } from '../claude-code/host-version.ts';
import type { HookForm } from './hook-table.ts';
import { INSTALL_CODES } from './rules/install-codes.ts';

const OLDEST = '2.1.32';
/** First version that tells hooks which agent calls. */
const NAMES_CALLERS = '2.1.100';

export type Host = {
  /** Null when no host was found. */
  readonly version: string | null;
  readonly form: HookForm;
  /** Limitations with this version, in whole sentences. */
  readonly limits: readonly string[];
};

/** Throws when the version is older than team mode needs. */
export function hostForm(version: string | null): Host {
  if (version === null)
    return {
      version,
      form: 'script',
      limits: [
        'No Claude Code was found on the PATH: the hooks are written so that every version from 2.1.32 on reads them. Run `tool init` again when it is installed: from 2.1.118 on they are faster.',
      ],
    };
  if (isBefore(version, OLDEST))
    throw failure(INSTALL_CODES.host_too_old, { version, required: OLDEST, fix: INSTALL_CLAUDE });
  const limits: string[] = [];
  if (isBefore(version, NAMES_CALLERS))
    limits.push(
      `Claude Code ${version} tells hooks no caller (from ${NAMES_CALLERS} on it does): who calls is read from the session's transcript, up to 0.1 s a call; where that says nothing, the lead's own writes cannot be told from a teammate's.`,
      `Claude Code ${version} does not wait for agents in the background when it runs with -p.`,
    );
  if (isBefore(version, ASKS_SERVERS))
    limits.push(
      `Below ${ASKS_SERVERS} a program is started before each write, before each call of the team's tools and after each tool call, which takes some 30 ms.`,
    );
  return { version, form: isBefore(version, ASKS_SERVERS) ? 'script' : 'resident', limits };
}
