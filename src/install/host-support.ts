// Effects of the host's version on an installation: refusal, form of the hooks, and limitations.

import { INSTALL_CLAUDE } from '../agents/claude.ts';
import { type Refusal, refusal } from '../base/rules/codes.ts';
import { failure } from '../base/rules/errors.ts';
import { isVersionAtLeast } from '../base/rules/version.ts';
import { RESIDENT_HOOKS_SINCE } from '../claude-code/host-version.ts';
import type { HookForm } from './hook-table.ts';
import { INSTALL_CODES } from './rules/install-codes.ts';

const OLDEST = '2.1.32';
/** First version that tells hooks which agent calls. */
const NAMES_CALLERS = '2.1.100';

export type HostSupport = {
  /** Null when no host was found. */
  readonly version: string | null;
  readonly form: HookForm;
  /** Limitations with this version. */
  readonly limits: readonly Refusal[];
};

/** Throws when the version is older than team mode needs. */
export function hostSupport(version: string | null): HostSupport {
  if (version === null)
    return {
      version,
      form: 'script',
      limits: [refusal(INSTALL_CODES.host_missing, { oldest: OLDEST, faster: RESIDENT_HOOKS_SINCE })],
    };
  if (!isVersionAtLeast(version, OLDEST))
    throw failure(INSTALL_CODES.host_too_old, { version, required: OLDEST, fix: INSTALL_CLAUDE });
  const limits: Refusal[] = [];
  if (!isVersionAtLeast(version, NAMES_CALLERS))
    limits.push(
      refusal(INSTALL_CODES.host_names_no_callers, { version, from: NAMES_CALLERS }),
      refusal(INSTALL_CODES.host_does_not_wait, { version }),
    );
  if (!isVersionAtLeast(version, RESIDENT_HOOKS_SINCE))
    limits.push(refusal(INSTALL_CODES.host_starts_programs, { from: RESIDENT_HOOKS_SINCE }));
  return { version, form: !isVersionAtLeast(version, RESIDENT_HOOKS_SINCE) ? 'script' : 'resident', limits };
}
