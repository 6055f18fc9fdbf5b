// The pages that people read, and the commands that they show.

import { readdirSync, readFileSync } from 'node:fs';

/** From the repository's root. */
export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .sort(),
];

export function pageText(page: string): string {
  return readFileSync(page, 'utf8');
}

export type Fence = { readonly language: string; readonly text: string; readonly line: number };

/** The blocks of a page, without what they are indented by. */
export function fencesOf(page: string): readonly Fence[] {
  const fences: { language: string; lines: string[]; line: number; indent: number }[] = [];
  let open = false;
  for (const [index, line] of pageText(page).split('\n').entries()) {
    const [, indent = '', language = ''] = /^( *)```(\S*)$/.exec(line) ?? [];
    if (/^ *```/.test(line)) {
      open = !open;
      if (open) fences.push({ language, lines: [], line: index + 1, indent: indent.length });
    } else if (open) {
      const fence = fences.at(-1);
      fence?.lines.push(line.slice(fence.indent));
    }
  }
  return fences.map(({ language, lines, line }) => ({ language, line, text: lines.join('\n') }));
}

/** A command as a page shows it, with the lines that it is said to print. */
export type Shown = { readonly page: string; readonly line: number; readonly command: string; readonly prints: string };

function commandsIn(page: string, { language, text, line }: Fence): readonly Shown[] {
  const found: { line: number; command: string[]; prints: string[] }[] = [];
  let isOpen = false;
  for (const [index, row] of text.split('\n').entries()) {
    const begins: boolean = language === 'console' ? row.startsWith('$ ') : !isOpen;
    if (begins) found.push({ line: line + 1 + index, command: [row.replace(/^\$ /, '')], prints: [] });
    else if (isOpen) found.at(-1)?.command.push(row);
    else found.at(-1)?.prints.push(row);
    const quotes = found.at(-1)?.command.join('\n').split('"').length ?? 1;
    // A text in quotes, or a line that ends so, goes on.
    isOpen = quotes % 2 === 0 || (begins && row.endsWith('\\'));
  }
  return found
    .map((one) => ({
      page,
      line: one.line,
      command: one.command
        .join('\n')
        .replace(/ {2,}#.*$/, '')
        .trim(),
      prints: one.prints.join('\n'),
    }))
    .filter(({ command }) => command !== '');
}

/** All commands of a page's blocks, in their order. */
export function commandsOf(page: string): readonly Shown[] {
  return fencesOf(page)
    .filter(({ language }) => language === 'sh' || language === 'console')
    .flatMap((fence) => commandsIn(page, fence));
}
