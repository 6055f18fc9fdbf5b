// `tool team`: the team operations from a shell.

import { readFileSync } from 'node:fs';
import type { Environment } from '../base/rules/environment.ts';
import { failure, messageOf, ToolError } from '../base/rules/errors.ts';
import { visibleLines } from '../base/rules/text.ts';
import { operateInHost } from '../claude-code/answers/operate-in-host.ts';
import { callerAtShell } from '../claude-code/shell-caller.ts';
import { composeOperations } from '../compose/team.ts';
import { findProject } from '../git/project.ts';
import type { Answer } from '../team/operations/context.ts';
import type { Teams } from '../team/ports.ts';
import type { Evidence } from '../team/rules/caller.ts';
import type { OperationName } from '../team/rules/operation.ts';
import { CLI_CODES } from './rules/cli-codes.ts';
import { shellWords } from './shell-words.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Who sits at this shell: the teammate whose program it belongs to, else the lead; inside a host anybody may have typed it. */
async function shellEvidence(teams: Teams, env: Environment, main: string): Promise<Evidence> {
  const asker = await callerAtShell(teams, env, main);
  if (asker === null)
    return {
      kind: 'nothing',
      why: "this shell belongs to an agent of the host, and does not tell which: use the team server's tools (mcp__team__…)",
    };
  return { kind: 'environment', ...asker };
}

function lines(value: unknown, indent: string): string[] {
  if (Array.isArray(value)) {
    if (value.length === 0) return [`${indent}none`];
    return value.flatMap((item: unknown) => {
      const [first = '', ...rest] = lines(item, `${indent}  `);
      return [`${indent}- ${first.trimStart()}`, ...rest];
    });
  }
  if (typeof value !== 'object' || value === null)
    return [`${indent}${visibleLines(String(value ?? '-')).replaceAll('\n', `\n${indent}`)}`];
  return Object.entries(value).flatMap(([key, item]: [string, unknown]) =>
    typeof item === 'object' && item !== null
      ? [`${indent}${key}:`, ...lines(item, `${indent}  `)]
      : [`${indent}${key}: ${visibleLines(String(item ?? '-'))}`],
  );
}

/** Resolves when all of it is written. Nobody reading on is no fault, but where it has to be read. */
function print(text: string, mustArrive: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error == null || (!mustArrive && 'code' in error && error.code === 'EPIPE')) resolve();
      else {
        const left = mustArrive ? { left: 'The messages stay unread.' } : {};
        reject(failure(CLI_CODES.stdout_closed, { said: messageOf(error), ...left }, { cause: error }));
      }
    });
  });
}

function toldAtShell(answer: Answer): Answer {
  return typeof answer.note === 'string' ? { ...answer, note: shellWords(answer.note) } : answer;
}

/** What became of the worktrees that a lead that is code left of it; the team is deleted, whatever that comes to. */
async function closed(team: string): Promise<Answer> {
  const { closeDeleted } = await import('../compose/lead.ts');
  try {
    return (await closeDeleted(findProject(process.cwd()), process.env, team)) ?? {};
  } catch (error) {
    return {
      left: `.tool/worktrees/${team} is not closed: ${messageOf(error)}. The next \`tool run\` of it closes it`,
    };
  }
}

/** The same refusal with the commands of a shell in place of calls. */
function atShell(error: ToolError): ToolError {
  const { of, values } = error.refusal;
  const { code, kind } = of;
  const shown = { code, kind, message: '{shown}', values: { shown: 'text' } } as const;
  return new ToolError({ of: shown, values: { ...values, shown: shellWords(error.message) } }, { cause: error });
}

/** Carries out one operation for this shell and prints its answer. */
export async function teamCommand(
  name: OperationName,
  given: Fields,
  options: { readonly json?: boolean },
): Promise<void> {
  const input = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const context = composeOperations(process.cwd(), process.env);
  const { main } = findProject(process.cwd());
  const isMail = name === 'Inbox';
  const show = (answer: Answer) =>
    print(
      options.json === true ? `${JSON.stringify(answer, null, 2)}\n` : `${lines(toldAtShell(answer), '').join('\n')}\n`,
      isMail,
    );
  const who = await shellEvidence(context.teams, process.env, main);
  const answer = await operateInHost(context, name, input, who, show).catch((error: unknown) => {
    if (!(error instanceof ToolError) || error.kind !== 'refused') throw error;
    throw atShell(error);
  });
  if (!isMail) await show(name === 'TeamDelete' ? { ...answer, ...(await closed(String(answer.team))) } : answer);
}

/** A message's content: JSON where it is an object, text otherwise; `-` stands for standard input. */
export function contentOf(text: string): unknown {
  let words: string;
  try {
    words = text === '-' ? readFileSync(0, 'utf8') : text;
  } catch (error) {
    const values = { option: 'content', path: 'standard input', said: messageOf(error) };
    throw failure(CLI_CODES.input_unreadable, values, { cause: error });
  }
  if (!words.trimStart().startsWith('{')) return words;
  try {
    const value: unknown = JSON.parse(words);
    return value;
  } catch (error) {
    const values = {
      option: 'content',
      expected: 'a JSON object or text',
      got: `text that begins like an object but is not one: ${messageOf(error)}`,
    };
    throw failure(CLI_CODES.option_invalid, values, { cause: error });
  }
}
