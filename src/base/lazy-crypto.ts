// Node's cryptography, loaded when it is needed: most hooks end without, and it would be a tenth of what they take.

/** The module itself. */
export function lazyCrypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto');
}
