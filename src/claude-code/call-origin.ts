// Caller of a tool call, from the host's transcripts: for hosts whose hooks name no agent.

import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../base/rules/values.ts';

/** The host writes the line up to about a tenth of a second after it raised the event. */
const WAIT_MS = 1_500;
const STEP_MS = 15;
/** A call is near the end of its transcript. */
const TAIL_BYTES = 4 * 1024 * 1024;

/** The last `TAIL_BYTES` of a file as text; empty if it cannot be opened. */
export function readTail(path: string): string {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = fstatSync(fd);
    const start = Math.max(0, size - TAIL_BYTES);
    const bytes = Buffer.alloc(size - start);
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, start));
  } finally {
    closeSync(fd);
  }
}

/** Whether a line of a transcript is the call itself, not only a mention of its id. */
function makes(line: string, toolUseId: string): boolean {
  if (!line.includes(toolUseId)) return false;
  try {
    const entry: unknown = JSON.parse(line);
    const message = isObject(entry) ? entry.message : undefined;
    const content = isObject(message) ? message.content : undefined;
    return (
      Array.isArray(content) &&
      content.some((block: unknown) => isObject(block) && block.type === 'tool_use' && block.id === toolUseId)
    );
  } catch {
    return false;
  }
}

function holds(path: string, toolUseId: string): boolean {
  return readTail(path)
    .split('\n')
    .some((line) => makes(line, toolUseId));
}

/** Ids and transcripts of the session's sub-agents. */
function agentFiles(transcript: string): readonly { readonly id: string; readonly path: string }[] {
  const directory = join(transcript.replace(/\.jsonl$/, ''), 'subagents');
  try {
    return readdirSync(directory).flatMap((name) => {
      const id = /^agent-(.+)\.jsonl$/.exec(name)?.[1];
      return id === undefined ? [] : [{ id, path: join(directory, name) }];
    });
  } catch {
    return [];
  }
}

/**
 * Finds the caller of a tool call; waits up to `WAIT_MS` for the host to write the call.
 * @param transcript path of the main agent's transcript
 * @returns `main` for the main agent; null if no transcript contains the call in time
 */
export async function callerOfToolCall(
  toolUseId: string,
  transcript: string,
): Promise<{ agentId: string } | 'main' | null> {
  for (let waited = 0; ; waited += STEP_MS) {
    const agent = agentFiles(transcript).find(({ path }) => holds(path, toolUseId));
    if (agent !== undefined) return { agentId: agent.id };
    if (holds(transcript, toolUseId)) return 'main';
    if (waited >= WAIT_MS) return null;
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
}
