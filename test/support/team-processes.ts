// The living processes of a project's teams, as the kernel shows them.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { PhaseProject } from './phase-project.ts';

export type TeamProcess = { readonly pid: number; readonly parent: number; readonly member: string | null };

/** Those that were started for this project. */
export function processesOf({ root }: PhaseProject): readonly TeamProcess[] {
  const place = dirname(root);
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) return [];
    try {
      const variables = readFileSync(`/proc/${name}/environ`, 'latin1').split('\0');
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      // The name in parentheses may hold spaces.
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z' || !variables.some((one) => one.includes(place))) return [];
      const member = variables.find((one) => one.startsWith('TOOL_TEAMMATE='));
      return [{ pid, parent: Number(parent), member: member?.split('=')[1] ?? null }];
    } catch {
      return [];
    }
  });
}

/** The teammates' own processes, as a lead started them. */
export function matesOf(project: PhaseProject, lead: number): readonly TeamProcess[] {
  return processesOf(project).filter(({ parent, member }) => member !== null && parent === lead);
}
