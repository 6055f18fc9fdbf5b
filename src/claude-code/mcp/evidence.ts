// Evidence of the caller of a team server's tool, independent of the call's own claims.

import { callerInTranscripts } from '../../team/operations/event-caller.ts';
import type { Evidence, HookCaller } from '../../team/rules/caller.ts';
import type { JoinedCalls } from '../joined-calls.ts';
import { evidenceOfSignature } from '../older/caller-signature.ts';
import type { Resident } from '../resident.ts';
import { isCalledByAgent } from '../shell-caller.ts';

/** The host's name as a client of its servers. */
export const HOST_CLIENT = 'claude-code';

export type ToolCall = {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** null: it is no call of a model. */
  readonly toolUseId: string | null;
};

function nothing(why: string, takesKey = true): Evidence {
  return { kind: 'nothing', takesKey, why };
}

/** A call inside the host: by its hook, else by the signature of a compiled hook, else by the transcripts. */
async function ofHost({ input, toolUseId }: ToolCall, resident: Resident, calls: JoinedCalls): Promise<Evidence> {
  const joined = toolUseId === null ? undefined : calls.take(toolUseId);
  if (joined !== undefined) return { kind: 'stamp', caller: joined };
  const signed = evidenceOfSignature(input, toolUseId, resident.state);
  if (signed !== undefined) return signed;
  // Hooks reach this server, so the transcripts are not asked about a call that none has named.
  if (resident.isReached()) return nothing('no hook named the caller of this call. Make the call again', false);
  const found = toolUseId === null ? undefined : await ofKilledServer(toolUseId, resident);
  return found === undefined
    ? nothing('the host does not name its callers, and no hook of this project did (`tool doctor` tells why)')
    : { kind: 'stamp', caller: found };
}

/** Up to 2.1.177 at least, no hook reaches a second server of a session. The first one's mark names the transcript. */
async function ofKilledServer(toolUseId: string, { context, left }: Resident): Promise<HookCaller | undefined> {
  const found = await Promise.all(
    left().map(({ session, transcript }) => callerInTranscripts(context, toolUseId, session, transcript)),
  );
  return found.find((caller) => caller !== null) ?? undefined;
}

/** Evidence from the environment of this server, else from the host's data about the call. */
export async function evidenceOfCall(
  call: ToolCall,
  clientName: string,
  resident: Resident,
  calls: JoinedCalls,
): Promise<Evidence> {
  const { team, teammate, epoch } = resident.identity;
  // An agent of a host can start a server itself: the environment proves no more than that of its shell.
  const { context, project, isCertain } = resident;
  if (clientName !== HOST_CLIENT && !isCertain && (await isCalledByAgent(context.teams, process.env, project.main)))
    return nothing(
      "an agent of the host started this server itself, and nothing tells which: use the team server's tools (mcp__team__…)",
    );
  if (teammate !== null)
    return { kind: 'environment', team, teammate, isServer: true, ...(epoch === undefined ? {} : { epoch }) };
  if (clientName === HOST_CLIENT) return ofHost(call, resident, calls);
  return (
    evidenceOfSignature(call.input, call.toolUseId, resident.state) ?? {
      kind: 'environment',
      team,
      teammate: null,
      isServer: true,
    }
  );
}
