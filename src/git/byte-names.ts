// File names as bytes, which need not be valid text: each char of such a string is one byte.

export const BYTES = { encoding: 'latin1' } as const;

export function asBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

export function asText(name: string): string {
  return Buffer.from(name, 'latin1').toString();
}

export function pathBytes(top: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(`${top}/`), Buffer.from(name, 'latin1')]);
}
