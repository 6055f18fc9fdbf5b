// Report of an installation plan: a line for each file, and a dry run with diffs of the files that people read.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { visible, visibleLines } from '../base/rules/text.ts';
import type { InstallPlan } from './install.ts';
import { MANIFEST, PERSONAL_RECORD } from './manifest.ts';
import type { Outcome } from './outcome.ts';
import { lengthText, unifiedDiff } from './text-diff.ts';

/** Outcomes to report: changed files, and files with a note. */
export function reportedOutcomes(plan: InstallPlan): Outcome[] {
  return plan.outcomes.filter(({ did, note }) => did !== 'unchanged' || note !== undefined);
}

function line({ path, did, note }: Outcome): string {
  return visible(`  ${did.padEnd(9)}  ${path}${note === undefined ? '' : ` (${note})`}`);
}

export function outcomeLines(outcomes: readonly Outcome[]): string[] {
  return outcomes.map(line);
}

/** Files that people edit: always shown line by line. */
const EDITED: ReadonlySet<string> = new Set([
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.mcp.json',
  '.tool/.gitignore',
  '.tool/config/workflow.yaml',
]);

/** First two segments of a path: `.claude/agents`, `.tool/hooks`. */
function placeOf(path: string): string {
  return path.split('/').slice(0, 2).join('/');
}

/** Short report: files that nobody edits, and without a note, share one line for each directory, with their number. */
export function outcomeSummary(outcomes: readonly Outcome[]): string[] {
  const groups = new Map<string, Outcome[]>();
  for (const outcome of outcomes) {
    const { path, did, note } = outcome;
    const key = EDITED.has(path) || note !== undefined ? path : `${did} ${placeOf(path)}`;
    groups.set(key, [...(groups.get(key) ?? []), outcome]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    return line(
      group.length === 1 ? first : { ...first, path: `${placeOf(first.path)}/`, note: `${group.length} files` },
    );
  });
}

/** A part of a compiled program: its name says nothing to anybody. */
function isBundle(path: string): boolean {
  return path.startsWith('.tool/hooks/');
}

/** Hashes and bundles, which are unreadable line by line. */
function isGenerated(path: string): boolean {
  return path === MANIFEST || path === PERSONAL_RECORD || isBundle(path);
}

type Change = {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly length: string;
};

/** Whether the diff is shown. A file of ours that is new or removed as a whole is reported by its length. */
function isShown({ path, before, after }: Change): boolean {
  return EDITED.has(path) || (before !== null && after !== null && !isGenerated(path));
}

/** Maximum length of a readable line. */
const ONE_LINE = 120;

function isOneLine(text: string): boolean {
  const whole = text.trim();
  return whole.length > ONE_LINE && !whole.includes('\n');
}

/** JSON with line breaks; other text unchanged. */
function spread(text: string): string {
  try {
    return `${JSON.stringify(JSON.parse(text.replace(/^\uFEFF/, '')), null, 2)}\n`;
  } catch {
    return text;
  }
}

/** JSON on one long line is shown with line breaks: this diff is for reading, not for applying. */
function diffOf({ path, before, after }: Change): string {
  const isSpread = path.endsWith('.json') && [before, after].some((text) => text !== null && isOneLine(text));
  if (!isSpread) return unifiedDiff(path, before, after);
  const [from, to] = [before, after].map((text) => (text === null ? null : spread(text)));
  return `(${path} stands on one line, and stays so; here it has line breaks)\n${unifiedDiff(path, from ?? null, to ?? null)}`;
}

/** Preview of a plan: a line for each file, and the diffs worth reading. Call it before the plan is carried out. */
export function dryRun(root: string, plan: InstallPlan): { readonly lines: string[]; readonly diff: string } {
  const all = plan.operations.flatMap((operation): Change[] => {
    if (operation.kind !== 'write' && operation.kind !== 'remove') return [];
    const path = join(root, operation.path);
    const before = existsSync(path) ? readFileSync(path) : null;
    const after = operation.kind === 'write' ? operation.bytes : null;
    const length = lengthText(after ?? before ?? Buffer.alloc(0));
    return [
      {
        path: operation.path,
        before: before?.toString('utf8') ?? null,
        after: after?.toString('utf8') ?? null,
        length,
      },
    ];
  });
  const shown = all.filter(isShown);
  const lengths = new Map(all.filter((one) => !isShown(one)).map(({ path, length }) => [path, length]));
  const outcomes = reportedOutcomes(plan);
  const told = outcomes
    .filter(({ path }) => !isBundle(path))
    .map(({ note, ...outcome }) => {
      const notes = [lengths.get(outcome.path), note].filter((one) => one !== undefined);
      return line(notes.length === 0 ? outcome : { ...outcome, note: notes.join('; ') });
    });
  const diffs = shown.map(diffOf);
  return {
    lines: [...told, ...outcomeSummary(outcomes.filter(({ path }) => isBundle(path)))],
    diff: diffs.length === 0 ? '' : `\n${visibleLines(diffs.join(''))}`,
  };
}
