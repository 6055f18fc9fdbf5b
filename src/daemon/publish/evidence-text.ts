// Evidence of a commit as the pull request and the log show it.

import { fence, oneLine, visibleLines } from '../../base/rules/text.ts';
import type { CommandRun, Evidence, EvidenceCheck } from '../../gate/rules/evidence.ts';
import { coverageWords, outcomeText } from '../rules/evidence-line.ts';
import { withBlock } from './shown-block.ts';

/** Commands that are shown, each with its end. */
const MAX_ROWS = 20;
const SHORT = 12;

/** Text of others in a cell of a table: on one line, and nothing in it is markup or calls anybody. */
function cell(text: string): string {
  return oneLine(text, 200).replaceAll(/[\\`*_[\]<>#|~@&]/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** A command in a cell. */
function code(text: string): string {
  return `\`${oneLine(text, 200).replaceAll('`', "'").replaceAll('|', '\\|')}\``;
}

function outcomeWords({ check, outcome, reason, figure }: EvidenceCheck, coverage: Evidence['coverage']): string {
  const measured = check === 'coverage' ? coverageWords(coverage) : (figure ?? '');
  const first = outcomeText(outcome);
  if (outcome === 'passed') return measured === '' ? first : `${first}: ${cell(measured)}`;
  return `**${first}**: ${[measured, reason]
    .filter((part) => part !== '')
    .map(cell)
    .join(', ')}`;
}

function runRow({ command, exit, timed_out: timedOut, seconds }: CommandRun): string {
  const end = exit === null ? (timedOut ? 'timed out' : 'ended by a signal') : String(exit);
  return `| ${code(command)} | ${end} | ${seconds} |`;
}

function table(head: string, rows: readonly string[]): string {
  const line = `| ${head
    .split('|')
    .map(() => '---')
    .join(' | ')} |`;
  return [`| ${head} |`, line, ...rows].join('\n');
}

/** What the agent said of work that fails. */
export type Claim = {
  /** It ran `tool issue done`. */
  readonly askedDone: boolean;
  /** Last words of its attempt; null: not known. */
  readonly words: string | null;
};

function claimParts({ askedDone, words }: Claim): readonly string[] {
  const done = askedDone ? ' It ran `tool issue done`.' : '';
  // A mark of the daemon's own in them would end the block.
  const said = visibleLines(words ?? '')
    .replaceAll('<!--', '<! --')
    .trim();
  const claimed = `The agent handed this in as finished, and checks fail.${done}`;
  return said === '' ? [claimed] : [`${claimed} The last words of its attempt, as data:`, fence(said)];
}

function parts(evidence: Evidence, claim: Claim): readonly string[] {
  const { commit, base, checks, commands, coverage, ok, unmeasured } = evidence;
  if (unmeasured !== null) return [`Nothing was measured of commit ${commit.slice(0, SHORT)}: ${cell(unmeasured)}`];
  const measured = checks.filter(({ outcome }) => outcome !== 'not_measured');
  const others = checks.filter(({ outcome }) => outcome === 'not_measured').map(({ check }) => check);
  if (measured.length === 0) return [`Commit ${base.slice(0, SHORT)} has no command that measures this work.`];
  return [
    `The daemon ran the commands of commit ${base.slice(0, SHORT)} on commit ${commit.slice(0, SHORT)}.`,
    ...(ok ? [] : claimParts(claim)),
    table(
      'check | result',
      measured.map((one) => `| ${one.check} | ${outcomeWords(one, coverage)} |`),
    ),
    table('command | exit code | seconds', commands.slice(0, MAX_ROWS).map(runRow)),
    ...(others.length === 0 ? [] : [`Not measured: ${others.join(', ')}.`]),
  ];
}

/** The text of a pull request below what was measured. */
export function withEvidence(
  body: string,
  evidence: Evidence,
  claim: Claim = { askedDone: false, words: null },
): string {
  return withBlock(body, 'checks', ['### Checks', ...parts(evidence, claim)]);
}
