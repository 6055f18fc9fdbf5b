// `tool spec`: SPEC documents, looked at and approved by the person at the terminal.

import { failure, ToolError } from '../base/rules/errors.ts';
import { nearest } from '../base/rules/nearest.ts';
import { got, visible } from '../base/rules/text.ts';
import { findProject } from '../git/project.ts';
import { FileTeams } from '../team/log/teams.ts';
import { changeInTheWay, hasWritten } from '../team/rules/planning.ts';
import { checkSpec, readSpecTexts, type SpecTexts } from '../team/rules/spec-documents/check.ts';
import { completedAlready, isSpecId, type SpecStatus, statusOfSpec } from '../team/rules/spec-documents/spec.ts';
import { approvalOf, approveSpec } from '../team/spec-documents/spec-approvals.ts';
import { listSpecs, readTexts, readWarnings } from '../team/spec-documents/specs.ts';
import { failedText, warn } from './failed-command.ts';
import { refuseAgents } from './refuse-agents.ts';
import { CLI_CODES } from './rules/cli-codes.ts';
import { NOTICE_CODES } from './rules/notice-codes.ts';

type Row = {
  readonly id: string;
  readonly status: SpecStatus | null;
  readonly title: string;
  readonly requirements: number;
  /** Whether somebody approved it as it stands. */
  readonly counts: boolean;
  readonly why: string;
};

async function rowOf(root: string, texts: SpecTexts): Promise<Row> {
  const { spec } = readSpecTexts(texts);
  const { status, counts, why } = await approvalOf(root, texts.id, process.env);
  return { id: texts.id, status, title: visible(spec.title), requirements: spec.requirements.length, counts, why };
}

/** The SPEC of that id; throws with those that there are. */
function mustBe(root: string, id: string): SpecTexts {
  const known = listSpecs(root);
  const texts = readTexts(root, id);
  if (texts !== null) return texts;
  const close = nearest(id, known);
  const near = close === undefined ? {} : { near: close };
  if (isSpecId(id))
    throw failure(CLI_CODES.spec_unknown, { spec: id, ...(known.length === 0 ? {} : { known }), ...near });
  throw failure(CLI_CODES.option_invalid, {
    option: 'spec_id',
    expected: 'an id like SPEC-AUTH-001',
    got: got(id),
    ...(close === undefined
      ? { instead: known.length === 0 ? 'There is no SPEC yet.' : `There is ${known.join(', ')}.` }
      : near),
  });
}

/** What a status is worth: nothing is said of one that claims no approval. */
function worth({ id, status, counts, why }: Row): string {
  if (status !== 'approved' && status !== 'completed') return status ?? 'no status';
  return counts ? `${status} (${why})` : `${status}, but that does not count: ${why}; tool spec approve ${id}`;
}

export async function listSpecsCommand(options: { readonly json?: boolean }): Promise<void> {
  const { main } = findProject(process.cwd());
  const rows: Row[] = [];
  for (const id of listSpecs(main)) rows.push(await rowOf(main, mustBe(main, id)));
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return;
  }
  if (rows.length === 0) process.stdout.write('no SPEC yet: /tool:1-plan "<feature>" makes one\n');
  for (const row of rows)
    process.stdout.write(`${row.id}  ${worth(row)}  ${row.requirements} requirements  ${row.title}\n`);
}

export async function checkSpecCommand(id: string, options: { readonly json?: boolean }): Promise<void> {
  const { main } = findProject(process.cwd());
  const texts = mustBe(main, id);
  const problems = checkSpec(texts);
  const warnings = await readWarnings(main, texts);
  if (options.json === true)
    process.stdout.write(`${JSON.stringify({ ...(await rowOf(main, texts)), problems, warnings }, null, 2)}\n`);
  else {
    for (const { file, line, words } of problems) process.stdout.write(`${file}:${line}: ${visible(words)}\n`);
    for (const { file, line, words } of warnings) process.stdout.write(`${file}:${line}: warning: ${visible(words)}\n`);
    if (problems.length === 0)
      process.stdout.write(`${id} has no problems (${statusOfSpec(texts.spec ?? '') ?? ''})\n`);
  }
  if (problems.length > 0) process.exitCode = 1;
}

export async function approveSpecCommand(id: string): Promise<void> {
  const { main } = findProject(process.cwd());
  const teams = new FileTeams({ root: main, now: Date.now });
  await refuseAgents(teams, main);
  const problems = checkSpec(mustBe(main, id));
  const logs = teams.list().flatMap((name) => {
    try {
      return teams.open(name) ?? [];
    } catch (error) {
      process.stderr.write(`${failedText(error)}\n`);
      return [];
    }
  });
  try {
    const change = changeInTheWay(
      logs.map(({ state }) => state),
      id,
    );
    if (change !== null) throw new ToolError(change);
    const approval = await approvalOf(main, id, process.env);
    const { status, counts, why } = approval;
    const isNew = status !== 'approved' || !counts;
    const problem = completedAlready(id, approval) ?? (isNew ? approveSpec(main, id, process.env, Date.now()) : null);
    if (problem !== null) throw new ToolError(problem);
    for (const log of logs)
      if (log.state.session === 'awaiting_approval' && hasWritten(log.state, id))
        await log.append({ type: 'moved', event: 'approved', reason: `${id} was approved at a terminal`, by: 'user' });
    if (problems.length > 0) warn(NOTICE_CODES.approved_with_problems, { id, count: problems.length });
    process.stdout.write(`${id} is approved${isNew ? '' : ` already (${why})`}\n`);
  } finally {
    for (const log of logs) await log.close();
  }
  process.stdout.write(`Next, in a fresh context: /tool:2-run ${id} --team\n`);
}
