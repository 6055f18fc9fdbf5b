// The packed form of the guard's program in an installation: what brotli makes of it, then its length in four bytes, little-endian.

import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';

const LENGTH_BYTES = 4;

/** @returns the same bytes for the same program */
export function packProgram(program: Uint8Array): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(program.length);
  return Buffer.concat([brotliCompressSync(program), length]);
}

/** @throws where bytes are missing or changed */
export function unpackProgram(packed: Buffer): Buffer {
  const program = brotliDecompressSync(packed.subarray(0, -LENGTH_BYTES));
  if (program.length !== packed.readUInt32LE(packed.length - LENGTH_BYTES))
    throw new Error('the packed program is cut');
  return program;
}
