// `tool sync`: a SPEC held against what was built.

import { ToolError } from '../base/rules/errors.ts';
import { visible } from '../base/rules/text.ts';
import { composeOperations } from '../compose/team.ts';
import type { SyncOutcome } from '../team/phases/sync.ts';

const SHOWN = 5;

type Done = Extract<SyncOutcome, { kind: 'done' }>;

function linesOf({ id, status, judged, since, uncommitted, written }: Done): readonly string[] {
  const met = judged.filter(({ missing }) => missing.length === 0).length;
  const more = uncommitted.length > SHOWN ? ` and ${uncommitted.length - SHOWN} more` : '';
  return [
    ...judged.map(({ id: one, test, missing }) =>
      missing.length === 0 ? `${one}  met      ${test}` : `${one}  not met  ${missing.join('; ')}`,
    ),
    `${id}: ${met} of ${judged.length} met since ${since}; status: ${status}`,
    ...(uncommitted.length === 0
      ? []
      : [`not looked at, since they are not committed: ${uncommitted.slice(0, SHOWN).join(', ')}${more}`]),
    ...written.map((path) => `wrote ${path}`),
  ];
}

export async function syncCommand(
  id: string,
  options: { readonly base?: string; readonly json?: boolean },
): Promise<void> {
  const { project } = composeOperations(process.cwd(), process.env);
  const outcome = await project.sync(id, options.base ?? null);
  if (outcome.kind === 'refused') throw new ToolError(outcome.refusal);
  if (options.json === true) process.stdout.write(`${JSON.stringify(outcome, null, 2)}\n`);
  else process.stdout.write(`${linesOf(outcome).map(visible).join('\n')}\n`);
  if (!outcome.met) process.exitCode = 1;
}
