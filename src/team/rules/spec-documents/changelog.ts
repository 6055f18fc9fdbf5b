// A line in a CHANGELOG.md of the usual form: below [Unreleased], below what was added.

import { oneLine } from '../../../base/rules/text.ts';

const UNRELEASED = /^##\s+\[?unreleased\]?\s*$/i;

/**
 * The text with a line for `key` under `[Unreleased]`; null when it names `key` already, or has no such section.
 * @param key what the line is known by, at its end
 */
export function withAdded(text: string, words: string, key: string): string | null {
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text.split(/\r?\n/);
  const from = lines.findIndex((line) => UNRELEASED.test(line));
  if (from === -1 || text.includes(`(${key})`)) return null;
  const next = lines.findIndex((line, index) => index > from && /^##\s/.test(line));
  const to = next === -1 ? lines.length : next;
  const added = `- ${oneLine(words)} (${key})`;
  const head = lines.findIndex((line, index) => index > from && index < to && /^###\s+added\s*$/i.test(line));
  if (head === -1) return [...lines.slice(0, from + 1), '', '### Added', '', added, ...lines.slice(from + 1)].join(end);
  // After the last entry below that heading.
  const after = lines.findIndex((line, index) => index > head && /^#{2,3}\s/.test(line));
  let at = after === -1 ? lines.length : after;
  while (at > head + 1 && lines[at - 1]?.trim() === '') at -= 1;
  const gap = at === head + 1 ? [''] : [];
  return [...lines.slice(0, at), ...gap, added, ...lines.slice(at)].join(end);
}
