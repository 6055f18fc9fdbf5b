// The command of each part of the gate: as the settings name it, else as the detector proposes it.

import type { Commanded, QualitySettings } from '../rules/quality.ts';
import { detect } from './detect.ts';
import { type DetectionInput, type Proposal, propose } from './proposal.ts';

/** Throws a ToolError where a manifest of the project is needed and cannot be read. */
export async function planCommands<Name extends Commanded>(
  names: readonly Name[],
  { commands }: Pick<QualitySettings, 'commands'>,
  around: DetectionInput,
): Promise<Readonly<Record<Name, Proposal>>> {
  const proposed = names.every((name) => commands[name] !== null) ? null : await detect(around);
  const rows = names.map((name) => {
    const given = commands[name];
    return [name, given === null ? proposed?.[name] : propose(given, `quality.commands.${name}`)] as const;
  });
  return Object.fromEntries(rows) as Record<Name, Proposal>;
}
