// Normalized tool output: one line for each finding, beginning with its file relative to the project's root.

import { escapeRegExp } from '../../base/rules/text.ts';

/** Coloured output has escape codes directly before a path. */
const BEFORE = `(?<=^|[^\\w./@~+-]|${String.fromCharCode(27)}\\[[\\d;]*m)`;

/** Makes paths and `file:` URLs below one of these directories relative to it. */
export function withoutRoots(text: string, roots: readonly string[]): string {
  return roots.reduce(
    (left, root) =>
      root === '' || root === '/'
        ? left
        : left.replace(new RegExp(`${BEFORE}(?:file://)?${escapeRegExp(root)}/+(?=[^\\s/])`, 'gm'), ''),
    text,
  );
}

const FILE = String.raw`[^\s:()│|]+\.\w+`;
/** eslint, stylelint, xo: a file, and below it `  3:5  error  …`. */
const HEADING = new RegExp(`^ {0,2}(?:\\./)?(${FILE})(?::\\d+:\\d+)?$`);
const BELOW = /^\s+(?:[×✖⚠!]\s+)?(\d+:\d+)\s+(?:[×✖⚠!]\s+)?(\S.*)$/;
/** biome: `src/a.ts:3:7 lint/… ━━━`, and the message below it. */
const RULE_LINE = new RegExp(`^(?:\\./)?(${FILE}(?::\\d+:\\d+)?) ([\\w/]+)\\b.*━{3,}$`);
const RULE_WORDS = /^\s+[×✖⚠!ℹi]\s+(\S.*)$/;
/** rustc, ruff: the message, and below it ` --> src/a.rs:3:5`. */
const ARROW = new RegExp(`^\\s*--> (?:\\./)?(${FILE}:\\d+(?::\\d+)?)$`);

/** Joins each finding into one line, its place before its message; other lines stay as they are. */
export function withPlaces(lines: readonly string[]): readonly string[] {
  const told: string[] = [];
  let heading: string | null = null;
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const next = lines[index + 1] ?? '';
    const [, place, rule] = RULE_LINE.exec(line) ?? [];
    const [, file] = HEADING.exec(line) ?? [];
    const [, at, words] = BELOW.exec(line) ?? [];
    const [, arrow] = ARROW.exec(next) ?? [];
    if (place !== undefined) {
      heading = null;
      const end = lines.findIndex((one, at) => at > index && (/^\S/.test(one) || RULE_LINE.test(one)));
      const below = lines.slice(index + 1, end === -1 ? lines.length : end);
      const [, said] = below.map((one) => RULE_WORDS.exec(one)).find((one) => one !== null) ?? [];
      told.push(`${place}: ${rule}${said === undefined ? '' : `: ${said}`}`);
      index += below.length;
    } else if (file !== undefined && BELOW.test(next)) heading = file;
    else if (heading !== null && at !== undefined) told.push(`${heading}:${at}: ${words}`);
    else if (arrow !== undefined && /^\S/.test(line)) {
      told.push(`${arrow}: ${line}`);
      index += 1;
    } else {
      heading = null;
      told.push(line);
    }
  }
  return told;
}
