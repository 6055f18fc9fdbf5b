// `tool spec`: SPEC documents, looked at and approved by the person at the terminal.

import { FileTeams } from '../adapters/event-log/teams.ts';
import { findProject } from '../adapters/project.ts';
import { approveSpec, listSpecs, readDocument, readSpec } from '../adapters/specs.ts';
import { ToolError } from '../domain/errors.ts';
import { nearest } from '../domain/nearest.ts';
import { isSpecId, specDirectory, statusOfSpec } from '../domain/spec/spec.ts';
import { readAsked } from '../domain/team/requirement.ts';
import { got, visible } from '../domain/text.ts';

import { isAskedByAgent } from '../host/asked-by-agent.ts';

type Row = {
  readonly id: string;
  readonly status: string | null;
  readonly title: string;
  readonly requirements: number;
};

function rowOf(root: string, id: string): Row {
  const text = readSpec(root, id) ?? '';
  const { title, requirements } = readAsked(text);
  return {
    id,
    status: statusOfSpec(text),
    title: visible(title.split('\n')[0] ?? ''),
    requirements: requirements.length,
  };
}

/** The SPEC of that id; throws with those that there are. */
function mustBe(root: string, id: string): string {
  const known = listSpecs(root);
  const text = readSpec(root, id);
  if (text !== null) return text;
  const close = nearest(id, known);
  const there = known.length === 0 ? 'there is none yet' : `there is ${known.join(', ')}`;
  throw new ToolError(
    'usage',
    isSpecId(id)
      ? `there is no ${specDirectory(id)}/spec.md; ${close === undefined ? there : `did you mean ${close}?`}`
      : `spec_id: expected an id like SPEC-AUTH-001, got ${got(id)}; ${close === undefined ? there : `did you mean ${close}?`}`,
  );
}

async function refuseAgents(teams: FileTeams): Promise<void> {
  if ((await isAskedByAgent(teams, process.env)) || process.env.TOOL_TEAMMATE !== undefined)
    throw new ToolError(
      'refused',
      'only a person approves a SPEC, at a terminal of their own: this shell belongs to an agent',
    );
}

export function listSpecsCommand(options: { readonly json?: boolean }): void {
  const { main } = findProject(process.cwd());
  const rows = listSpecs(main).map((id) => rowOf(main, id));
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return;
  }
  if (rows.length === 0) process.stdout.write('no SPEC yet: /tool:1-plan "<feature>" makes one\n');
  for (const { id, status, title, requirements } of rows)
    process.stdout.write(`${id}  ${status ?? 'no status'}  ${requirements} requirements  ${title}\n`);
}

/** What keeps a SPEC from being worked on, one line each. */
function problemsOf(root: string, id: string, text: string): readonly string[] {
  const { requirements } = readAsked(text);
  const documents = ['plan.md', 'acceptance.md'].filter((name) => readDocument(root, id, name) === null);
  return [
    ...(statusOfSpec(text) === null
      ? ['spec.md: expected a status (draft, approved or completed) in its front matter, got none']
      : []),
    ...(requirements.length === 0 ? ['spec.md: expected requirement lines, got none'] : []),
    ...documents.map((name) => `${name}: expected beside spec.md, got nothing`),
  ];
}

export function checkSpecCommand(id: string, options: { readonly json?: boolean }): void {
  const { main } = findProject(process.cwd());
  const text = mustBe(main, id);
  const problems = problemsOf(main, id, text);
  if (options.json === true) process.stdout.write(`${JSON.stringify({ ...rowOf(main, id), problems }, null, 2)}\n`);
  else if (problems.length === 0) process.stdout.write(`${id} is complete (${statusOfSpec(text) ?? ''})\n`);
  else for (const problem of problems) process.stdout.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}

export async function approveSpecCommand(id: string): Promise<void> {
  const { main } = findProject(process.cwd());
  const teams = new FileTeams({ root: main, now: Date.now });
  await refuseAgents(teams);
  mustBe(main, id);
  const problem = approveSpec(main, id);
  if (problem !== null) throw new ToolError('refused', problem);
  for (const name of teams.list()) {
    const log = teams.open(name);
    if (log?.state.session === 'awaiting_approval')
      await log.append({ type: 'moved', event: 'approved', reason: `${id} was approved at a terminal`, by: 'user' });
    await log?.close();
  }
  process.stdout.write(`${id} is approved\nNext, in a fresh context: /tool:2-run ${id} --team\n`);
}
