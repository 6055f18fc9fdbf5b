// Calls of a lead with all their values: texts quote them, so that a model makes them unchanged.

import { visible } from '../../base/rules/text.ts';
import { agentOf } from './role.ts';

/** Asks every teammate to end. */
export const SHUTDOWN_ALL = 'SendMessage {"recipient":"all","type":"shutdown_request","content":"The work is done."}';

export function deleteCall(team: string): string {
  return `TeamDelete {"team_name":"${team}"}`;
}

/** A path as a value of a call. */
export function quotedPath(path: string): string {
  return JSON.stringify(visible(path));
}

/** Asks for a change of a file: ready to be sent. */
export function changeRequest(owner: string, path: string): string {
  return `SendMessage {"recipient":"${owner}","type":"change_request","content":{"file":${quotedPath(path)},"requestedChange":"…","reason":"…"}}`;
}

export function leaseCall(path: string): string {
  return `FileLease {"path":${quotedPath(path)}}`;
}

/** The two calls that end a team. */
export function endCalls(team: string): string {
  return `${SHUTDOWN_ALL}, then ${deleteCall(team)}`;
}

/** The parameters of `Task` for a role of this team. */
export function spawnParameters(team: string, role: string, prompt: string): Readonly<Record<string, string>> {
  return { subagent_type: agentOf(role), team_name: team, name: role, prompt };
}

/** One line for each role: the call that registers it again. */
export function startLines(team: string, roles: readonly string[]): readonly string[] {
  return roles.map(
    (role) => `- Task ${JSON.stringify(spawnParameters(team, role, `Do the open tasks that are meant for ${role}.`))}`,
  );
}

/** The teammates to start, with the call that starts them. */
export function startWords(names: readonly string[], team: string): string {
  const [name = ''] = names;
  const call = `Task ${JSON.stringify(spawnParameters(team, name, `Do the tasks that are meant for ${name}.`))}`;
  const how =
    names.length === 1
      ? ', then make the call that it returns'
      : ', one call each, then make the calls that they return, all in one message';
  return `${names.join(', ')} with ${call}${how}`;
}
