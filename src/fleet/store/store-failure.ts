// Failures of a store, as errors of the table.

import { errorCode, failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { shownQueueUrl } from '../../daemon/rules/queue-settings.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';

/** The words of an error, with its code where PostgreSQL gave one: a server may speak any language. */
export function saidBy(error: unknown): string {
  const code = errorCode(error);
  const isState = typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code);
  return isState ? `${messageOf(error)} (${code})` : messageOf(error);
}

/** Of Redis, and of PostgreSQL: no such user, wrong password, no right. */
const REFUSED = /\b(NOAUTH|WRONGPASS|NOPERM)\b|no password is set|\((28000|28P01|42501)\)/i;

/** What the store said, as an error of the table. @param error may be the words alone */
export function queueFailure(url: string, error: unknown): ToolError {
  if (error instanceof ToolError) return error;
  const said = saidBy(error).replace(/\.$/, '');
  const of = REFUSED.test(said) ? FLEET_CODES.queue_permission_missing : FLEET_CODES.queue_unreachable;
  return failure(of, { url: shownQueueUrl(url), said }, { cause: error });
}
