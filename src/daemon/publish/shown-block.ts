// A block of the daemon's own in the text of a pull request, in the place of what it showed there before.

import { cutBody, MAX_BODY } from './tracker-texts.ts';

/** The text below the block: nothing that it leaves open can hide that. Marks that others wrote are taken out. */
export function withBlock(body: string, name: string, parts: readonly string[]): string {
  const begin = `<!-- toolcrew:${name} -->`;
  const end = `<!-- /toolcrew:${name} -->`;
  const shown = [begin, ...parts, end].join('\n\n');
  const rest = body
    .split(new RegExp(`${begin}[\\s\\S]*?${end}`))
    .map((part) => part.replaceAll(begin, '').replaceAll(end, '').trim())
    .filter((part) => part !== '')
    .join('\n\n');
  const own = cutBody(rest, MAX_BODY - shown.length - 2);
  return own === '' ? shown : `${shown}\n\n${own}`;
}
