// A certificate that nobody known signed: how it shows, and what to do about it.

import { BASE_CODES } from './base-codes.ts';
import { refusal, textOf } from './codes.ts';

/** OpenSSL's names, as Node gives them: an authority is missing. */
const CODES: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_UNTRUSTED',
]);

/** Whether a connection failed since no known authority signed the certificate. */
export function isCertificateProblem(error: unknown): boolean {
  return error instanceof Error && 'code' in error && CODES.has(String(error.code));
}

/** The words of OpenSSL or GnuTLS about it, from git. */
export function saysCertificateProblem(words: string): boolean {
  return /SSL certificate problem|server certificate verification failed/i.test(words);
}

export function explainCertificate(words: string): string {
  return textOf(refusal(BASE_CODES.certificate_untrusted, { said: words.replace(/\.$/, '') }));
}
