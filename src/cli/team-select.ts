// `tool team select`: the mode and the team for a piece of work, with the figures that decide and their sources.

import { asData, lineWithCode } from '../base/rules/codes.ts';
import { failure, ToolError } from '../base/rules/errors.ts';
import { visible } from '../base/rules/text.ts';
import { findVariable } from '../claude-code/host-settings.ts';
import { parseFlags } from '../claude-code/rules/arguments.ts';
import { composeOperations } from '../compose/team.ts';
import { findProject } from '../git/project.ts';
import type { SpecStore } from '../team/operations/context-parts.ts';
import { decideMode } from '../team/rules/select/activation.ts';
import { type FigureName, type PlannedTask, type Selection, select } from '../team/rules/select/selection.ts';
import { isSpecId } from '../team/rules/spec-documents/spec.ts';
import { unreadable } from '../team/select/work-decision.ts';
import { CLI_CODES } from './rules/cli-codes.ts';

export type SelectOptions = {
  readonly team?: boolean;
  readonly solo?: boolean;
  readonly force?: boolean;
  readonly pattern?: string;
  readonly files?: number;
  readonly domains?: number;
  readonly complexity?: number;
  readonly json?: boolean;
};

type Asked = { readonly text: string; readonly plan: readonly PlannedTask[] | null };

/** The text, and the tasks of the plan where the words are the id of a SPEC that has one. */
async function readAsked(words: string, { project }: { readonly project: SpecStore }): Promise<Asked> {
  if (!isSpecId(words)) return { text: words, plan: null };
  const text = project.spec(words);
  if (text === null) throw failure(CLI_CODES.spec_unknown, { spec: words });
  const planned = await project.planned(words);
  if (planned !== null && planned.problems.length > 0) throw new ToolError(unreadable(words, planned.problems));
  return { text, plan: planned?.data.plan.tasks ?? null };
}

const FIGURES: readonly FigureName[] = ['domains', 'files', 'complexity'];

function figureLine(name: FigureName, { figures }: Selection): string {
  const { value, source } = figures[name];
  return `${name}: ${value ?? 'unknown'} (${source})`;
}

export async function selectCommand(words: string, options: SelectOptions): Promise<void> {
  const context = composeOperations(process.cwd(), process.env);
  const { main } = findProject(process.cwd());
  const settings = await context.settings();
  const { files, domains, complexity } = options;
  const set = {
    ...(files === undefined ? {} : { files }),
    ...(domains === undefined ? {} : { domains }),
    ...(complexity === undefined ? {} : { complexity }),
  };
  const isSet = Object.keys(set).length > 0;
  const { text, plan } = await readAsked(words, context);
  if (text.trim() === '' && !isSet)
    throw failure(CLI_CODES.option_invalid, {
      option: 'text',
      expected: 'the text of a feature, the id of a SPEC, or one of --files, --domains and --complexity',
      got: 'an empty text',
    });
  const command = isSpecId(words) || options.pattern !== undefined || text.trim() === '' ? 'run' : 'plan';
  const given = [
    ...(options.team === true ? ['--team'] : []),
    ...(options.solo === true ? ['--solo'] : []),
    ...(options.force === true ? ['--force'] : []),
    ...(options.pattern === undefined ? [] : [`--pattern=${options.pattern}`]),
  ];
  const parsed = parseFlags(command, given, Object.keys(settings.patterns));
  if (!parsed.ok) throw failure(CLI_CODES.arguments_invalid, { problems: parsed.problems });
  const selection = select({ text, files: await context.project.files(), settings, plan, set });
  const [problem] = context.problems();
  const decision = decideMode({
    command,
    flags: parsed.flags,
    settings,
    problem,
    hostVersion: await context.project.hostVersion(),
    environment: findVariable(main, process.env),
    selection,
  });
  if (options.json === true) {
    const data = problem === undefined ? null : asData(problem);
    const shown = decision.mode === 'refused' ? { ...decision, refusal: asData(decision.refusal) } : decision;
    process.stdout.write(`${JSON.stringify({ decision: shown, selection, problem: data }, null, 2)}\n`);
    return;
  }
  const { critical } = selection;
  const lines = [
    `${decision.mode}${decision.pattern === null ? '' : `, pattern ${decision.pattern}: ${decision.roles.join(', ')}`}`,
    ...decision.reasons.map((reason) => `  ${reason}`),
    ...(decision.mode === 'refused' ? [`  refused: ${lineWithCode(decision.refusal)}`] : []),
    ...FIGURES.map((name) => figureLine(name, selection)),
    ...(critical === null ? [] : [`critical: ${critical.feature} (${critical.source})`]),
    `a team for it: ${selection.pattern}: ${selection.roles.join(', ')} (${selection.patternWhy})`,
  ];
  process.stdout.write(`${lines.map(visible).join('\n')}\n`);
}
