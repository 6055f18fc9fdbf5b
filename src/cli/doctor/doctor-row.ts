// One line of `tool doctor`.

import { helpIn, messageIn, type Refusal } from '../../base/rules/codes.ts';
import { messageOf, ToolError } from '../../base/rules/errors.ts';

/** `warn`: the daemon runs all the same. */
export type DoctorCheck = {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly says: string;
  /** What mends it; null when nothing needs to be mended. */
  readonly mend: string | null;
  /** Of the error table; absent: the row warns of nothing, or tells an error of something else. */
  readonly code?: string;
};

type Trouble = (name: string, says: Refusal, mend: string) => DoctorCheck;

function row(name: string, status: 'warn' | 'fail', says: Refusal, mend: string): DoctorCheck {
  return { name, status, says: messageIn(says), mend, code: says.of.code };
}

export const ok = (name: string, says: string): DoctorCheck => ({ name, status: 'ok', says, mend: null });
export const warn: Trouble = (name, says, mend) => row(name, 'warn', says, mend);
export const fail: Trouble = (name, says, mend) => row(name, 'fail', says, mend);

/**
 * A row of an error that something else threw.
 * @param mend null: as the error table says
 * @param about stands before its message
 */
export function failedBy(name: string, error: unknown, mend: string | null, about = ''): DoctorCheck {
  if (!(error instanceof ToolError)) return { name, status: 'fail', says: `${about}${messageOf(error)}`, mend };
  const { refusal } = error;
  return {
    name,
    status: 'fail',
    says: `${about}${messageIn(refusal)}`,
    mend: mend ?? helpIn(refusal),
    code: refusal.of.code,
  };
}
