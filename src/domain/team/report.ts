// What a team did, as Markdown for people: in a pull request, beside its log.

import type { Usage } from '../daemon/record.ts';
import { oneLine } from '../text.ts';
import { trust5Lines } from '../trust5.ts';
import { contentLine } from './content-line.ts';
import type { MessageType } from './message.ts';
import type { TeamState } from './state.ts';

export type ReportInput = {
  readonly state: TeamState;
  /** Null: it was done in the checkout itself. */
  readonly branch: string | null;
  /** Files that were changed, and by how many lines; null where nobody counted. */
  readonly changed: readonly {
    readonly path: string;
    readonly added: number | null;
    readonly removed: number | null;
  }[];
  /** Percent of the lines that the tests reached before; null: it was not measured. */
  readonly coverageBefore: number | null;
  /** By teammate what its runtime says that it used; none for programs that say nothing. */
  readonly usage: ReadonlyMap<string, Pick<Usage, 'cost_usd' | 'input_tokens' | 'output_tokens' | 'turns'>>;
};

/** What others acted on; how far somebody is, and that all is over, is not among it. */
const MATTERED: readonly MessageType[] = [
  'api_ready',
  'component_ready',
  'tests_passed',
  'change_request',
  'change_completed',
  'bug_report',
  'coverage_required',
  'quality_gate_passed',
];

/** Hooks that keep somebody from stopping: no work was rejected. */
const KEPT_GOING: readonly string[] = ['teammate_idle', 'lead_stop'];

const LINE_MAX = 160;

/** Text of others as part of a table or list: one line, and no Markdown of its own. */
function cell(text: string): string {
  return oneLine(text, LINE_MAX).replaceAll(/[\\`*_{}[\]<>#|@]/g, '\\$&');
}

function seconds(from: number | null, to: number | null): string {
  return from === null || to === null ? '–' : ((to - from) / 1000).toFixed(1);
}

function percent(value: number | null): string {
  return value === null ? 'not measured' : `${value} %`;
}

function taskLines({ tasks }: TeamState): readonly string[] {
  const rows = [...tasks.values()].map(
    ({ id, subject, owner, claim, status, startedAt, endedAt }) =>
      `| ${id} | ${cell(subject)} | ${cell(claim?.member ?? owner ?? '–')} | ${status.replace('_', ' ')} | ${seconds(startedAt, endedAt)} |`,
  );
  return ['## Tasks', '', '| | what | who | outcome | s |', '| --- | --- | --- | --- | --- |', ...rows];
}

function messageLines({ messages }: TeamState): readonly string[] {
  const lines = messages
    .filter(({ type }) => MATTERED.includes(type))
    .map(
      ({ from, to, type, content }) =>
        `- ${cell(from)} → ${cell(to)}, ${type.replaceAll('_', ' ')}: ${cell(contentLine(type, content))}`,
    );
  return lines.length === 0 ? [] : ['## Messages', '', ...lines];
}

function gateLines({ gate }: TeamState, before: number | null): readonly string[] {
  if (gate === null) return ['## Gate', '', 'Nothing was measured.'];
  const checks = gate.checks.map(
    ({ check, outcome, figure, reason }) =>
      `- ${check} ${outcome.replace('_', ' ')}${figure === null ? '' : ` (${cell(figure)})`}: ${cell(reason)}`,
  );
  const scores = gate.trust5 === undefined ? [] : ['', '```', ...trust5Lines(gate.trust5), '```'];
  return [
    '## Gate',
    '',
    `${gate.ok ? 'Passed' : 'Not passed'}. Coverage: ${percent(before)} before, ${percent(gate.coverage)} after.`,
    '',
    ...checks,
    ...scores,
  ];
}

function rejectionLines({ decisions }: TeamState): readonly string[] {
  const lines = decisions
    .filter(({ hook, decision }) => decision !== 'accept' && !KEPT_GOING.includes(hook))
    .map(
      ({ member, about, decision, reason }) => `- ${cell(member ?? '–')}, ${cell(about)}, ${decision}: ${cell(reason)}`,
    );
  return lines.length === 0 ? [] : ['## Rejected on the way', '', ...lines];
}

function costLines({ usage }: ReportInput): readonly string[] {
  const rows = [...usage].map(
    ([name, { turns, input_tokens: input, output_tokens: output, cost_usd: cost }]) =>
      `| ${cell(name)} | ${turns} | ${input + output} | ${cost.toFixed(4)} |`,
  );
  const total = [...usage.values()].reduce((sum, { cost_usd: cost }) => sum + cost, 0);
  return rows.length === 0
    ? []
    : [
        '## Cost',
        '',
        '| who | turns | tokens | US dollars |',
        '| --- | --- | --- | --- |',
        ...rows,
        `| all | | | ${total.toFixed(4)} |`,
      ];
}

/** The report of a team, from its state and what is known beside it. */
export function teamReport(input: ReportInput): string {
  const { state, branch, changed, coverageBefore } = input;
  const sum = (key: 'added' | 'removed') => changed.reduce((total, one) => total + (one[key] ?? 0), 0);
  const where = branch === null ? 'in the checkout' : `on \`${branch}\`, +${sum('added')} −${sum('removed')} lines`;
  const done = [...state.tasks.values()].filter(({ status }) => status === 'completed').length;
  const parts = [
    [`# ${cell(state.purpose?.subject ?? state.team)}`],
    [
      `${done} of ${state.tasks.size} tasks by ${state.members.size} teammates (${state.team}); ${changed.length} files ${where}.`,
      ...(state.fallback === null
        ? []
        : ['', `One at a time: ${cell(state.fallback.trigger)} (${cell(state.fallback.reason)}).`]),
    ],
    taskLines(state),
    messageLines(state),
    gateLines(state, coverageBefore),
    rejectionLines(state),
    costLines(input),
  ];
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}
