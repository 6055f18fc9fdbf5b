// Node's cryptography, loaded on first use: most hooks do not need it, and loading takes a tenth of their time.

/** The module itself. */
export function lazyCrypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto');
}
