// The slash commands as a person types them: command, words and flags out of the raw prompt, which no shell ever sees.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { nearest } from '../../base/rules/nearest.ts';
import { got, visible } from '../../base/rules/text.ts';
import { PATTERNS } from '../../team/rules/role.ts';
import type { CommandName, FlagName, Flags } from '../../team/rules/select/command.ts';
import { runTeamName } from '../../team/rules/team-name.ts';
import { HOOK_CODES } from './hook-codes.ts';

export const NO_FLAGS: Flags = { wish: null, force: false, pattern: null };

type Command = { readonly typed: string; readonly flags: readonly FlagName[]; readonly words: WordsKind };

/** What the words of a command are, and whether it goes without. */
type WordsKind = 'feature' | 'spec' | 'failure?' | 'team?';

export const COMMANDS: Readonly<Record<CommandName, Command>> = {
  plan: { typed: '/tool:1-plan', flags: ['team', 'solo', 'force'], words: 'feature' },
  run: { typed: '/tool:2-run', flags: ['team', 'solo', 'force', 'pattern'], words: 'spec' },
  sync: { typed: '/tool:3-sync', flags: [], words: 'spec' },
  'build-fix': { typed: '/tool:build-fix', flags: ['team', 'solo', 'force'], words: 'failure?' },
  'team-restart': { typed: '/tool:team-restart', flags: [], words: 'team?' },
};

export type ParsedCommand =
  | { readonly kind: 'none' }
  | { readonly kind: 'command'; readonly command: CommandName; readonly words: string; readonly flags: Flags }
  | { readonly kind: 'invalid'; readonly command: CommandName; readonly problems: readonly Refusal[] };

const NAMES: readonly CommandName[] = ['plan', 'run', 'sync', 'build-fix', 'team-restart'];

/**
 * Reads a prompt; any that is none of the commands is `none`. Flags count anywhere outside of quotes. A lone `--`
 * before all words ends them; one among words is a word, behind which they count at the very end alone. Words that stand in
 * one pair of quotes are what is between them; all other text is kept as it was typed.
 * @param patterns names that `--pattern` may have
 */
export function parseCommand(prompt: string, patterns: readonly string[] = Object.keys(PATTERNS)): ParsedCommand {
  const text = prompt.trim();
  const typed = /^\S+/.exec(text)?.[0] ?? '';
  const command = NAMES.find((name) => COMMANDS[name].typed === typed);
  if (command === undefined) return { kind: 'none' };
  const { flags: given, words } = split(text.slice(typed.length), COMMANDS[command].flags);
  const flags = readFlags(command, given, patterns);
  const problems = [...flags.problems, ...wordProblems(command, words)];
  if (problems.length > 0) return { kind: 'invalid', command, problems };
  return { kind: 'command', command, words, flags: flags.flags };
}

export type ParsedFlags =
  | { readonly ok: true; readonly flags: Flags; readonly words: readonly string[] }
  | { readonly ok: false; readonly problems: readonly Refusal[] };

/** The same flags among the words of a command line, which a shell has split: each word is a flag or is none. */
export function parseFlags(
  command: CommandName,
  words: readonly string[],
  patterns: readonly string[] = Object.keys(PATTERNS),
): ParsedFlags {
  const end = words.indexOf('--');
  const before = end === -1 ? words : words.slice(0, end);
  const after = end === -1 ? [] : words.slice(end + 1);
  const { flags, problems } = readFlags(command, before.filter(isFlag), patterns);
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, flags, words: [...before.filter((word) => !isFlag(word)), ...after] };
}

/**
 * Whether the words fit the command: for a command line, whose shell has taken the quotes away.
 * @param typed the command as it was typed
 */
export function wordProblems(command: CommandName, words: string, typed = COMMANDS[command].typed): readonly Refusal[] {
  const hidden = [...words.matchAll(FORBIDDEN)].map(([char]) => visible(char));
  if (hidden.length > 0) return [invalid(command, 'text without control characters', [...new Set(hidden)].join(', '))];
  const { words: kind } = COMMANDS[command];
  switch (kind) {
    case 'feature':
      return /[\p{L}\p{N}]/u.test(words)
        ? []
        : [invalid('feature', `words after ${typed}, like ${typed} "users can reset their password"`, got(words))];
    case 'spec':
      return specProblems(typed, words);
    case 'failure?':
      return [];
    case 'team?':
      return words === '' || /^tool-(plan|run|debug)-[a-z0-9-]+$/.test(words)
        ? []
        : [invalid('team', 'the name of one team, like tool-run-spec-auth-001', got(words))];
    default:
      return kind satisfies never;
  }
}

function invalid(argument: string, expected: string, got: string, near?: string): Refusal {
  return refusal(HOOK_CODES.argument_invalid, { argument, expected, got, ...(near === undefined ? {} : { near }) });
}

function specProblems(typed: string, words: string): readonly Refusal[] {
  if (runTeamName(words) !== undefined) return [];
  const expected = 'an id like SPEC-AUTH-001';
  if (words === '') return [invalid('spec_id', `${expected} after ${typed}`, 'nothing')];
  const meant = words.toUpperCase().replaceAll(/[\s_]+/g, '-');
  const isMeant = meant !== words && runTeamName(meant) !== undefined;
  return [invalid('spec_id', expected, got(words), isMeant ? meant : undefined)];
}

// What no person types and a terminal would obey: control characters but line breaks and tabs, and marks that turn text round.
const FORBIDDEN = /(?![\n\r\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

const CLOSING: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '“': '”',
  '‘': '’',
  '«': '»',
  '„': '“',
};

type Token = { readonly start: number; readonly end: number; readonly quoted: string | null };

/**
 * A quote opens at the beginning of a word and closes at the end of one; without an end it is a character like others.
 * @param open gathers the quotes that no end was found for, which are not looked for again
 */
function tokenAt(text: string, start: number, open: Set<string>): Token {
  const close = CLOSING[text.charAt(start)];
  if (close !== undefined && !open.has(close)) {
    for (let at = text.indexOf(close, start + 1); at !== -1; at = text.indexOf(close, at + 1))
      if (at + 1 === text.length || /\s/.test(text.charAt(at + 1)))
        return { start, end: at + 1, quoted: text.slice(start + 1, at) };
    open.add(close);
  }
  let end = start;
  while (end < text.length && !/\s/.test(text.charAt(end))) end++;
  return { start, end, quoted: null };
}

/** At the end of words that were typed for another program: `--force` alone is a flag of many. */
function trailingFlags(behind: readonly string[], known: readonly FlagName[]): number {
  const isOwn = (word: string) =>
    known.some((flag) => (flag === 'pattern' ? word.startsWith('--pattern=') : word === `--${flag}`));
  const count = behind.length - 1 - behind.findLastIndex((word) => !isOwn(word));
  const isMeant = behind.slice(behind.length - count).some((word) => word !== '--force');
  return isMeant && count < behind.length ? count : 0;
}

function split(
  text: string,
  known: readonly FlagName[],
): { readonly flags: readonly string[]; readonly words: string } {
  const flags: string[] = [];
  const kept: Token[] = [];
  const open = new Set<string>();
  const textOf = ({ start, end }: Token) => text.slice(start, end);
  let words = '';
  let from = 0;
  /** How many words there are up to a lone `--` among them. */
  let before: number | null = null;
  for (let at = 0; at < text.length; ) {
    if (/\s/.test(text.charAt(at))) {
      at++;
      continue;
    }
    const token = tokenAt(text, at, open);
    at = token.end;
    const typed = textOf(token);
    const isEnd = token.quoted === null && typed === '--' && before === null;
    if (before === null && token.quoted === null && ((isEnd && kept.length === 0) || isFlag(typed))) {
      words += text.slice(from, token.start);
      from = token.end;
      // The blanks of one side are enough for the words that close up.
      if (words.trim() !== '') while (/\s/.test(text.charAt(from))) from++;
      if (isEnd) break;
      flags.push(typed);
    } else {
      kept.push(token);
      if (isEnd) before = kept.length;
    }
  }
  const behind = before === null ? [] : kept.slice(before);
  const trailing = kept.splice(kept.length - trailingFlags(behind.map(textOf), known));
  flags.push(...trailing.map(textOf));
  words += text.slice(from, trailing[0]?.start);
  const [only] = kept;
  const isOneQuote =
    kept.length === 1 &&
    only !== undefined &&
    only.quoted !== null &&
    words.trim() === text.slice(only.start, only.end);
  return { flags, words: isOneQuote ? (only.quoted ?? '').trim() : words.trim() };
}

const ALL_FLAGS: readonly FlagName[] = ['team', 'solo', 'force', 'pattern'];

// One hyphen, or the dash that some keyboards make of two, before a flag's name is a flag mistyped and no word.
const MISTYPED = new RegExp(`^(-|[\\u2013\\u2014]+)(${ALL_FLAGS.join('|')})(=.*)?$`, 'iu');

function isFlag(word: string): boolean {
  return /^--[^\s-]/.test(word) || MISTYPED.test(word);
}

type ReadFlags = { readonly flags: Flags; readonly problems: readonly Refusal[] };

function readFlags(command: CommandName, given: readonly string[], patterns: readonly string[]): ReadFlags {
  const { typed, flags: known } = COMMANDS[command];
  const problems: Refusal[] = [];
  const seen = new Set<FlagName>();
  const named = new Set<string>();
  for (const word of given) {
    const [, name = '', value] = /^[-\u2013\u2014]+([^=]*)=?([\s\S]*)$/u.exec(word) ?? [];
    const hasValue = word.includes('=');
    const flag = ALL_FLAGS.find((one) => `--${one}` === (hasValue ? word.slice(0, word.indexOf('=')) : word));
    if (flag === undefined || !known.includes(flag)) {
      problems.push(unknown(typed, known, word, name));
      continue;
    }
    seen.add(flag);
    if (flag === 'pattern') {
      if (value === undefined || value === '')
        problems.push(invalid('--pattern', `a name, like --pattern=${patterns[0] ?? 'NAME'}`, 'nothing after it'));
      else if (patterns.includes(value)) named.add(value);
      else problems.push(invalid('--pattern', `one of ${patterns.join(', ')}`, got(value), nearest(value, patterns)));
    } else if (hasValue) problems.push(invalid(`--${flag}`, 'no value', got(value ?? '')));
  }
  if (seen.has('team') && seen.has('solo')) problems.push(invalid('--team, --solo', 'one of them', 'both'));
  if (named.size > 1) problems.push(invalid('--pattern', 'one name', [...named].join(', ')));
  const wish = seen.has('team') ? 'team' : seen.has('solo') ? 'solo' : null;
  return { flags: { wish, force: seen.has('force'), pattern: [...named][0] ?? null }, problems };
}

function unknown(command: string, known: readonly FlagName[], word: string, name: string): Refusal {
  const flag = got(word).slice(1, -1);
  if (known.length === 0) return refusal(HOOK_CODES.flag_not_taken, { flag, command });
  const close = nearest(name, known);
  const near = close === undefined ? {} : { near: `--${close}` };
  return refusal(HOOK_CODES.flag_unknown, { flag, command, known: known.map((one) => `--${one}`), ...near });
}
