// A team's board as lines: all of it, or as much as a screen has room for.

import { CHOSEN_SOLO } from '../../team/rules/fallback.ts';
import type { TeamView } from '../../team/rules/views/view.ts';
import { shellWords } from '../shell-words.ts';
import { paints } from './paint.ts';
import { type Line, lineWidth, type Paint, printed, type Span, spread, tableLines, wrap } from './table.ts';
import { type BoardRow, cell, elapsed, type Section, sectionsOf } from './team-board-sections.ts';

export type ScreenSize = { readonly columns: number; readonly rows: number };

/** From so many columns on, what happened stands beside who does what. */
const TWO_COLUMNS_FROM = 140;
const BESIDE = 3;
const INDENT = 2;

const STATES: Readonly<Partial<Record<TeamView['state'], Paint>>> = {
  working: paints.active,
  spawned: paints.active,
  approved: paints.good,
  complete: paints.good,
  awaiting_approval: paints.waiting,
  gate: paints.waiting,
  fallback: paints.bad,
  none: paints.quiet,
  deleted: paints.quiet,
};

function headLines(view: TeamView, width: number): readonly Line[] {
  const since = view.created_at === null ? '' : elapsed(Date.parse(view.generated_at) - Date.parse(view.created_at));
  const what: readonly Span[] = [
    cell(view.subject, paints.strong),
    ...[view.phase, view.pattern].flatMap((one) =>
      one === null ? [] : [{ text: ' · ', paint: paints.quiet }, cell(one, paints.quiet)],
    ),
  ];
  const { fallback } = view;
  return [
    spread(
      [
        cell(view.team, paints.strong),
        { text: '  ' },
        cell(view.state.replaceAll('_', ' '), STATES[view.state] ?? paints.waiting),
      ],
      [cell(since, paints.quiet)],
      width,
    ),
    what,
    ...(fallback === null
      ? []
      : fallback.trigger === CHOSEN_SOLO
        ? [[cell(`one at a time: ${fallback.reason}`, paints.quiet)]]
        : [[cell(`! fell back (${fallback.trigger}): ${fallback.reason}`, paints.bad)]]),
  ];
}

/** With so few rows, none is spent to say that there are others: the title says it. */
const FEW = 2;
/** So much room that needs, as a rule. */
const REST_COLUMNS = 18;

function indented(line: Line): Line {
  return [{ text: ' '.repeat(INDENT) }, ...line];
}

/** A section with `most` of its rows, those that matter most, in their order; and how many others there are. */
function sectionLines({ section, title, most }: Placed, width: number): readonly Line[] {
  const { rows, columns, cut } = section;
  const isCut = rows.length > most;
  const [head = [], ...more] = title;
  const isInTitle = most <= FEW && (most < FEW || lineWidth(head) + REST_COLUMNS <= width);
  const byRank = [...rows].sort((one, other) => one.rank - other.rank);
  const kept = new Set<BoardRow>(isCut ? byRank.slice(0, isInTitle ? most : most - 1) : rows);
  const cells = rows.filter((row) => kept.has(row)).map((row) => row.cells);
  const shown = tableLines(cells, columns, width - INDENT).map(indented);
  if (!isCut) return [...title, ...shown];
  const rest = cell(`… and ${rows.length - kept.size} ${cut.word}`, paints.quiet);
  if (isInTitle) return [[...head, { text: '  ' }, rest], ...more, ...shown];
  return cut.place === 'before' ? [...title, indented([rest]), ...shown] : [...title, ...shown, indented([rest])];
}

type Placed = { readonly section: Section; readonly title: readonly Line[]; most: number };

/** Sections with as many of their rows as `height` lines hold; the least important ones go when not even one row of each fits. */
function place(sections: readonly Section[], width: number, height: number): readonly Placed[] {
  let placed: readonly Placed[] = sections.map((section) => ({
    section,
    title: section.title(width),
    most: Math.min(1, section.rows.length),
  }));
  const used = () => placed.reduce((sum, { title, most }) => sum + title.length + most, 0);
  while (used() > height && placed.length > 1) {
    const least = Math.max(...placed.map(({ section }) => section.importance));
    placed = placed.filter(({ section }) => section.importance !== least);
  }
  for (let left = height - used(); left > 0; left -= 1) {
    const [poorest] = placed
      .filter(({ section, most }) => most < section.rows.length)
      .sort((one, other) => one.most / one.section.weight - other.most / other.section.weight);
    if (poorest === undefined) break;
    poorest.most += 1;
  }
  return placed;
}

function bodyLines(sections: readonly Section[], width: number, height: number): readonly Line[] {
  const placed = place(sections, width, height);
  const blocks = placed.map((one) => sectionLines(one, width));
  const count = blocks.reduce((sum, block) => sum + block.length, 0);
  const isRoomy = count + blocks.length - 1 <= height;
  return blocks.flatMap((block, index) => (isRoomy && index > 0 ? [[], ...block] : block));
}

/** Everything that a team's board holds, one below the other, at most `width` columns wide. */
export function boardText(view: TeamView, width: number): readonly string[] {
  const { work, news } = sectionsOf(view);
  const lines = [
    ...headLines(view, width),
    [],
    ...bodyLines([...work, ...news], width, Number.MAX_SAFE_INTEGER),
    [],
    ...wrap(cell(shellWords(view.next_step)).text, width).map((text): Line => [{ text }]),
  ];
  return lines.map((line) => printed(line, width));
}

function joined(left: readonly Line[], right: readonly Line[], width: number): readonly Line[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index): Line => {
    const one = left[index] ?? [];
    return [...one, { text: ' '.repeat(Math.max(0, width - lineWidth(one)) + BESIDE) }, ...(right[index] ?? [])];
  });
}

/** The same for a screen: never more than its lines, none wider than it is; `foot` is the last line. */
export function boardScreen(view: TeamView, size: ScreenSize, foot: string): readonly string[] {
  const { columns, rows } = size;
  const { work, news } = sectionsOf(view);
  const head = headLines(view, columns);
  const next = wrap(cell(shellWords(view.next_step)).text, columns);
  const nextLines = (rows < 30 ? [next.join(' ')] : next).map((text): Line => [cell(text, paints.quiet)]);
  const height = Math.max(0, rows - head.length - nextLines.length - 1);
  const half = Math.floor((columns - BESIDE) / 2);
  const body =
    columns < TWO_COLUMNS_FROM || news.length === 0
      ? bodyLines([...work, ...news], columns, height)
      : joined(bodyLines(work, half, height), bodyLines(news, columns - half - BESIDE, height), half);
  const blank = (count: number): readonly Line[] => Array.from({ length: Math.max(0, count) }, () => []);
  const top = [...head, ...blank(body.length < height ? 1 : 0), ...body.slice(0, height)];
  const bottom = [...nextLines, [cell(foot, paints.quiet)]];
  const all = [...top, ...blank(rows - top.length - bottom.length), ...bottom];
  return all.slice(0, rows).map((line) => printed(line, columns));
}
