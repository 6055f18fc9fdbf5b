// Markdown report of a team's work, for a pull request and beside the team's log.

import { headAndTail, oneLine } from '../../../base/rules/text.ts';
import { percentText } from '../../../gate/rules/coverage.ts';
import { beforeAndAfter } from '../../../gate/rules/old-failures.ts';
import { ruleFiles } from '../../../gate/rules/rule-files.ts';
import { trust5Lines } from '../../../gate/rules/trust5.ts';
import { BUDGET, type Cost, costOfTeam } from '../cost.ts';
import { messageContent } from '../log/content-line.ts';
import { isRefusal, type TeamState } from '../log/state.ts';
import { asksForWork } from '../mail.ts';
import { LEAD, MESSAGES } from '../message.ts';
import { UNCHECKED } from '../quality-verdict.ts';
import { noteOf } from '../task.ts';

export type ReportInput = {
  readonly state: TeamState;
  /** Null when the work was done in the checkout itself. */
  readonly branch: string | null;
  /** Changed files with their line counts; null where lines were not counted. */
  readonly changed: readonly {
    readonly path: string;
    readonly added: number | null;
    readonly removed: number | null;
  }[];
  /** Refs that keep work outside the branch. */
  readonly kept: readonly string[];
};

const LINE_MAX = 160;

/** Foreign text for a table or list: one line, with its Markdown escaped. */
function cell(text: string, max = LINE_MAX): string {
  return oneLine(text, max).replaceAll(/[\\`*_{}[\]<>#|@]/g, '\\$&');
}

function seconds(from: number | null, to: number | null): string {
  return from === null || to === null ? '–' : ((to - from) / 1000).toFixed(1);
}

function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

function percent(value: number | null): string {
  return value === null ? 'not measured' : percentText(value);
}

function reasonLines({ proposal }: TeamState): readonly string[] {
  if (proposal === null || proposal.reasons.length === 0) return [];
  return ['## Decided on', '', ...proposal.reasons.map((reason) => `- ${cell(reason)}`)];
}

function taskLines({ tasks }: TeamState): readonly string[] {
  const rows = [...tasks.values()].map((task) => {
    const { id, subject, owner, claim, status, startedAt, endedAt } = task;
    const outcome = [status.replace('_', ' '), noteOf(task) ?? []].flat().join(', ');
    return `| ${id} | ${cell(subject)} | ${cell(claim?.member ?? owner ?? '–')} | ${cell(outcome)} | ${seconds(startedAt, endedAt)} |`;
  });
  return ['## Tasks', '', '| | what | who | outcome | s |', '| --- | --- | --- | --- | --- |', ...rows];
}

function messageLines({ messages }: TeamState): readonly string[] {
  const lines = messages
    .filter(({ type }) => MESSAGES[type].isReported)
    .map((message) => {
      const { from, to, type } = message;
      const isUnread = asksForWork(type) && to !== LEAD && message.receipts.get(to)?.readAt === null;
      const unread = isUnread ? ', never read' : '';
      return `- ${cell(from)} → ${cell(to)}, ${type.replaceAll('_', ' ')}${unread}: ${cell(messageContent(message))}`;
    });
  return lines.length === 0 ? [] : ['## Messages', '', ...lines];
}

function gateLines({ gate, before, decisions }: TeamState, changed: ReportInput['changed']): readonly string[] {
  const unchecked = decisions.filter(({ decision, reason }) => decision === 'accept' && reason === UNCHECKED).length;
  const words = [
    ...(unchecked === 0
      ? []
      : [`Accepted ${UNCHECKED}: ${unchecked} ${unchecked === 1 ? 'completion' : 'completions'}.`]),
    ...ruleFiles(changed.map(({ path }) => path)).map(
      (path) => `Changed, and decides what is measured: ${cell(path)}.`,
    ),
  ].flatMap((line) => ['', line]);
  if (gate === null) return ['## Gate', '', 'Nothing was measured.', ...words];
  const checks = gate.checks.map(
    ({ check, outcome, figure, reason }) =>
      `- ${check} ${outcome.replace('_', ' ')}${figure === null ? '' : ` (${cell(figure)})`}: ${cell(reason)}`,
  );
  const scores = gate.trust5 === undefined ? [] : ['', '```', ...trust5Lines(gate.trust5), '```'];
  return [
    '## Gate',
    '',
    `${gate.ok ? 'Passed' : 'Not passed'}. Coverage: ${percent(before?.coverage ?? null)} before, ${percent(gate.coverage)} after.`,
    ...beforeAndAfter(before, gate.checks).flatMap(([name, said]) => [
      '',
      `${capital(name)}: ${cell(said, 2 * LINE_MAX)}.`,
    ]),
    '',
    ...checks,
    ...words,
    ...scores,
  ];
}

function rejectionLines({ decisions }: TeamState): readonly string[] {
  const lines = decisions
    .filter(isRefusal)
    .map(
      ({ member, about, decision, reason }) => `- ${cell(member ?? '–')}, ${cell(about)}, ${decision}: ${cell(reason)}`,
    );
  return lines.length === 0 ? [] : ['## Rejected on the way', '', ...lines];
}

function costRow([who, task]: readonly [string, string], cost: Cost): string {
  const { turns, input_tokens: input, output_tokens: output, cost_usd: usd } = cost;
  return `| ${cell(who)} | ${cell(task)} | ${turns} | ${input + output} | ${usd.toFixed(4)} |`;
}

function keptLines(kept: readonly string[]): readonly string[] {
  if (kept.length === 0) return [];
  return ['## Not on the branch, and kept', '', ...kept.map((ref) => `- \`${ref}\``)];
}

/** Costs by teammate and task, and the budget limits that were reached. */
function costLines(state: TeamState): readonly string[] {
  const total = costOfTeam(state);
  if (total === null) return [];
  const { costs, tasks, decisions } = state;
  const byMember = [...costs.values()].sort((one, other) => one.member.localeCompare(other.member));
  const rows = byMember.map(({ member, task, ...cost }) => {
    const subject = task === null ? '–' : `${task} ${tasks.get(task)?.subject ?? ''}`;
    return costRow([member, subject], cost);
  });
  const passed = decisions
    .filter(({ hook }) => hook === BUDGET)
    .map(({ about, reason }) => `- ${cell(about)}: ${cell(reason)}`);
  return [
    '## Cost',
    '',
    '| who | task | turns | tokens | US dollars |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    costRow(['all', ''], total),
    ...(passed.length === 0 ? [] : ['', ...passed]),
  ];
}

/** Report of a team as Markdown that ends in a newline. */
export function teamReport(input: ReportInput): string {
  const { state, branch, changed, kept } = input;
  const sum = (key: 'added' | 'removed') => changed.reduce((total, one) => total + (one[key] ?? 0), 0);
  const where = branch === null ? 'in the checkout' : `on \`${branch}\`, +${sum('added')} −${sum('removed')} lines`;
  const done = [...state.tasks.values()].filter(({ status }) => status === 'completed').length;
  const parts = [
    [`# ${cell(state.purpose?.subject ?? state.team)}`],
    [
      `${done} of ${state.tasks.size} tasks by ${state.members.size} teammates (${state.team}); ${changed.length} files ${where}.`,
      ...(state.fallback === null
        ? []
        : [
            '',
            `One at a time: ${cell(state.fallback.trigger)} (${cell(headAndTail(state.fallback.reason, LINE_MAX))}).`,
          ]),
    ],
    reasonLines(state),
    taskLines(state),
    messageLines(state),
    gateLines(state, changed),
    rejectionLines(state),
    keptLines(kept),
    costLines(state),
  ];
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}
