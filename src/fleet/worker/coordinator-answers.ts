// Answers of a coordinator to a worker, as the errors that a request ends with.

import { errorCode, failure, isFailure, messageOf, type ToolError } from '../../base/rules/errors.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { errorSchema } from '../wire.ts';

/** No request reached the coordinator in the time that there was. */
export class Unreachable extends Error {}

/** The attempt is not this worker's any more: nothing that it says counts. */
export class Superseded extends Error {
  readonly refusal: ToolError;

  constructor(refusal: ToolError) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** Another coordinator goes on with the attempt: it gets the work before it is asked. */
export class Moved extends Error {}

/** What a proxy says while the coordinator is away. */
const REPEATED = [425, 429, 502, 503, 504];
/** A busy machine was too slow for its own request. */
const TOO_SLOW = 408;

/** Another try may get an answer. */
export class Unanswered extends Error {}

/** A machine answered in the place of the coordinator, or was too slow. A large body is not sent for ever. */
export class Unserved extends Unanswered {
  readonly why: Error;

  constructor(status: number) {
    super(`status ${status}`);
    this.why = failure(FLEET_CODES.coordinator_refused, { said: `It answers with status ${status}.` });
  }
}

/** So often a file is sent to such machines. */
export const MOST_UPLOADS = 5;

/** A full disk, or a place that cannot be written. */
export const OWN_FAULTS: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EACCES', 'EROFS', 'ENOENT', 'ENOTDIR'];

/** Of the connection's own errors, in words: a coordinator that was cut off shows itself by these. */
const SILENCES: ReadonlyMap<unknown, string> = new Map([
  ['UND_ERR_HEADERS_TIMEOUT', 'no answer in time'],
  ['UND_ERR_BODY_TIMEOUT', 'the answer stopped'],
  ['UND_ERR_SOCKET', 'the connection was closed'],
  ['UND_ERR_DESTROYED', 'the connection was given up'],
]);

/** What a request ends with that got no answer. */
export function asUnanswered(error: unknown): unknown {
  // What this machine cannot do is no silence of the coordinator.
  if (error instanceof Unanswered || OWN_FAULTS.includes(errorCode(error))) return error;
  return new Unanswered(SILENCES.get(errorCode(error)) ?? messageOf(error));
}

/** The coordinator does not act for the repository, or not yet. */
export class NotBegun extends Unanswered {}

export class Refused extends Error {
  readonly why: Error;

  constructor(why: Error) {
    super(why.message);
    this.why = why;
  }
}

/** Code of the coordinator's refusal; undefined: it is none. */
export function reasonOf(error: unknown): unknown {
  const why = error instanceof Superseded ? error.refusal : error;
  return isFailure(why, FLEET_CODES.coordinator_refused) ? why.values.reason : undefined;
}

/** @param body of an answer with another status than 200 */
export function refused(status: number, body: string): Error {
  const { error } = errorSchema.safeParse(parsed(body)).data ?? { error: null };
  if (error?.code === FLEET_CODES.attempt_not_begun.code) return new NotBegun(error.message);
  if (REPEATED.includes(status)) return new Unanswered(error?.message ?? `status ${status}`);
  if (error === null && (status === TOO_SLOW || status >= 500)) return new Unserved(status);
  if (error === null)
    return new Refused(failure(FLEET_CODES.coordinator_refused, { said: `It answers with status ${status}.` }));
  const why = failure(FLEET_CODES.coordinator_refused, { said: error.message, reason: error.code });
  if (error.code === FLEET_CODES.worker_version_wrong.code) return new Refused(why);
  return new Refused(status === 409 ? new Superseded(why) : why);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
