// Proofs that somebody has the key of the fleet, without the key: keyed hashes of what is said.

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type FleetJob, signedText } from './rules/job.ts';

/** @param said the parts of it, which cannot be taken for one another */
function proofOf(key: string, said: readonly string[]): string {
  return createHmac('sha256', key).update(JSON.stringify(said)).digest('base64url');
}

export function isSame(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** By the coordinator: a worker sends nothing to an address that somebody else wrote into the queue. */
export function jobProof(key: string, job: FleetJob): string {
  return proofOf(key, [signedText(job)]);
}

/** By the worker that asks for an attempt. */
export function takeProof(key: string, id: string, nonce: string, worker: string): string {
  return proofOf(key, ['take', id, nonce, worker]);
}

/** By the worker whose agent is at work on an attempt of the coordinator before. */
export function goOnProof(key: string, id: string, nonce: string, worker: string): string {
  return proofOf(key, ['go on', id, nonce, worker]);
}

/** By the worker that offers what it keeps of a repository. @param kept JSON */
export function offerProof(key: string, repository: string, nonce: string, kept: string): string {
  return proofOf(key, ['offer', repository.toLowerCase(), nonce, createHash('sha256').update(kept).digest('hex')]);
}

/** By the coordinator that says what becomes of it. @param answer JSON */
export function offerAnswerProof(key: string, repository: string, nonce: string, answer: string): string {
  return proofOf(key, ['fates', repository.toLowerCase(), nonce, createHash('sha256').update(answer).digest('hex')]);
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** By a coordinator that asks another one. @param said the path that is asked for, or the digest of the body */
export function coordinatorProof(key: string, nonce: string, said: string): string {
  return proofOf(key, ['coordinator asks', nonce, said]);
}

/** By the one that answers. @param answer JSON */
export function coordinatorAnswerProof(key: string, nonce: string, answer: string): string {
  return proofOf(key, ['coordinator answers', nonce, digestOf(answer)]);
}

/** By the coordinator that answers: the worker runs nothing that somebody else sent. */
export function orderProof(key: string, id: string, nonce: string, order: string): string {
  return proofOf(key, ['order', id, nonce, createHash('sha256').update(order).digest('hex')]);
}

/** Where workers find the coordinator that acts for a repository: others can write a lease, but no such address. */
export function provenAddress(key: string, repository: string, address: string): string {
  return address === '' ? '' : `${proofOf(key, ['address', repository.toLowerCase(), address])} ${address}`;
}

/** Null: nobody with the key wrote it. */
export function addressFrom(key: string, repository: string, written: string): string | null {
  const at = written.indexOf(' ');
  const address = written.slice(at + 1);
  return at > 0 && isSame(written, provenAddress(key, repository, address)) ? address : null;
}
