// `tool team select`: how a piece of work would be done, and why.

import { findVariable } from '../adapters/host-settings.ts';
import { findProject } from '../adapters/project.ts';
import { composeOperations } from '../compose-team.ts';
import { ToolError } from '../domain/errors.ts';
import { isSpecId } from '../domain/spec/spec.ts';
import { decideMode } from '../domain/team/activation.ts';
import { parseFlags } from '../domain/team/arguments.ts';
import { select } from '../domain/team/selection.ts';
import { visible } from '../domain/text.ts';

export type SelectOptions = {
  readonly team?: boolean;
  readonly solo?: boolean;
  readonly force?: boolean;
  readonly pattern?: string;
  readonly json?: boolean;
};

export async function selectCommand(words: string, options: SelectOptions): Promise<void> {
  const context = composeOperations(process.cwd(), process.env);
  const { main } = findProject(process.cwd());
  const settings = await context.settings();
  const isSpec = isSpecId(words);
  const text = isSpec ? context.project.spec(words) : words;
  if (text === null) throw new ToolError('usage', `there is no .tool/specs/${words}/spec.md`);
  if (text.trim() === '')
    throw new ToolError('usage', 'expected what is to be built, or the id of a SPEC, got an empty text');
  const command = isSpec ? 'run' : options.pattern === undefined ? 'plan' : 'run';
  const given = [
    ...(options.team === true ? ['--team'] : []),
    ...(options.solo === true ? ['--solo'] : []),
    ...(options.force === true ? ['--force'] : []),
    ...(options.pattern === undefined ? [] : [`--pattern=${options.pattern}`]),
  ];
  const parsed = parseFlags(command, given, Object.keys(settings.patterns));
  if (!parsed.ok) throw new ToolError('usage', parsed.problems.join('\n'));
  const selection = select({ text, files: await context.project.files(), settings });
  const decision = decideMode({
    command,
    flags: parsed.flags,
    settings,
    problem: context.problems()[0],
    hostVersion: await context.project.hostVersion(),
    environment: findVariable(main, process.env),
    selection,
  });
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify({ decision, selection }, null, 2)}\n`);
    return;
  }
  const lines = [
    `${decision.mode}${decision.pattern === null ? '' : `, pattern ${decision.pattern}: ${decision.roles.join(', ')}`}`,
    ...decision.reasons.map((reason) => `  ${reason}`),
    `domains: ${selection.domains.map(({ name, files }) => `${name} (${files.length})`).join(', ') || 'none'}`,
    ...selection.domains.map(({ name, why }) => `  ${name}: ${why}`),
    `files: ${selection.fileCount}${selection.isEstimate ? ' (an estimate)' : ''}`,
    `complexity: ${selection.score} of 10`,
    ...selection.scoreLines.map(({ points, why }) => `  ${points >= 0 ? '+' : ''}${points}  ${why}`),
    ...(selection.critical === null ? [] : [`critical: ${selection.critical.feature}: ${selection.critical.why}`]),
    `a team for it: ${selection.pattern} (${selection.roles.join(', ')})`,
    ...selection.reasons.map((reason) => `  ${reason}`),
  ];
  process.stdout.write(`${lines.map(visible).join('\n')}\n`);
}
