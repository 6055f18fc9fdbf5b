// A client of the team server: for programs of ours that play a teammate.

import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import * as z from 'zod';
import { packageRoot } from '../../base/package-root.ts';
import { packageVersion } from '../../base/package-version.ts';

/** What an operation answers: its text, whether it was carried out or refused. */
export type OperationAnswer = { readonly text: string; readonly isError: boolean };

export type TeamClient = {
  call(name: string, input: Readonly<Record<string, unknown>>): Promise<OperationAnswer>;
  close(): Promise<void>;
};

/** As long as hosts wait for a hook: a completion waits for the checks of the project. */
const CALL_MS = 600_000;

const resultSchema = z.object({ content: z.array(z.object({ text: z.string() })), isError: z.boolean().optional() });

/** Starts a team server of its own in this directory, with this environment, which tells whose it is. */
export async function connectTeam(env: Readonly<Record<string, string>>): Promise<TeamClient> {
  const client = new Client({ name: 'toolcrew-teammate', version: packageVersion() });
  const args = [join(packageRoot(), 'dist', 'hooks', 'team-server.js')];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: { ...env }, stderr: 'inherit' }),
  );
  return {
    call: async (name, input) => {
      const call = { name, arguments: { ...input } };
      const { content, isError } = resultSchema.parse(await client.callTool(call, undefined, { timeout: CALL_MS }));
      return { text: content[0]?.text ?? '', isError: isError === true };
    },
    close: () => client.close(),
  };
}
