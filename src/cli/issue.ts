// `tool issue` and `tool pr`: what an agent asks of the daemon, over the socket of its attempt.

import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { Environment } from '../base/rules/environment.ts';
import { failure, messageOf, type ToolError } from '../base/rules/errors.ts';
import { oneLine, visibleLines } from '../base/rules/text.ts';
import { isObject } from '../base/rules/values.ts';
import { CLI_CODES } from './rules/cli-codes.ts';

type Fields = Readonly<Record<string, unknown>>;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function daemonSocketIn(env: Environment): { readonly socket: string; readonly key: string } {
  const { TOOL_SOCKET: socket, TOOL_KEY: key } = env;
  if (socket === undefined || key === undefined) {
    throw failure(CLI_CODES.agent_command_misused, { missing: 'TOOL_SOCKET and TOOL_KEY in the environment' });
  }
  return { socket, key };
}

/**
 * Sends one request to the daemon; a refusal is thrown with the daemon's words.
 * @param env where the way to it is told
 */
export async function requestDaemon(body: Fields, env: Environment = process.env): Promise<Fields> {
  const { socket, key } = daemonSocketIn(env);
  const text = JSON.stringify(body);
  const unreachable = (error: unknown) =>
    failure(CLI_CODES.daemon_unreachable, { address: socket, said: messageOf(error) }, { cause: error });
  const answer = await new Promise<{ readonly status: number; readonly body: string }>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    };
    const sent = httpRequest({ socketPath: socket, method: 'POST', path: '/v1', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
      );
      response.once('error', (error) => reject(unreachable(error)));
    });
    sent.once('error', (error) => reject(unreachable(error)));
    sent.end(text);
  });
  const value = parsed(answer.body);
  if (!isObject(value))
    throw failure(CLI_CODES.daemon_unreachable, {
      address: socket,
      said: `expected a JSON object, got ${oneLine(answer.body, 100) || 'nothing'}`,
    });
  if (answer.status === 200) return value;
  const error = isObject(value.error) ? value.error : {};
  throw failure(CLI_CODES.daemon_refused, {
    said: String(error.message ?? `status ${answer.status}`),
    status: answer.status,
    ...(typeof error.code === 'string' ? { code: error.code } : {}),
  });
}

/** The issue that is asked about: the argument, else this attempt's own. */
function issueNumber(given: number | undefined): number {
  const own = Number(process.env.TOOL_ISSUE);
  return given ?? (Number.isInteger(own) ? own : 0);
}

function bodyInvalid(expected: string, got: string, option = '--body'): ToolError {
  return failure(CLI_CODES.option_invalid, { option, expected, got });
}

function bodyOf(options: { readonly body?: string; readonly bodyFile?: string }, required: boolean): string {
  const { body, bodyFile } = options;
  if (body !== undefined && bodyFile !== undefined) throw bodyInvalid('only one of --body and --body-file', 'both');
  if (body === undefined && bodyFile === undefined) {
    if (required) throw bodyInvalid('--body <text> or --body-file <file>', 'neither');
    return '';
  }
  if (bodyFile === undefined) return body ?? '';
  try {
    return readFileSync(bodyFile === '-' ? 0 : bodyFile, 'utf8');
  } catch (error) {
    const values = { option: '--body-file', path: bodyFile, said: messageOf(error) };
    throw failure(CLI_CODES.input_unreadable, values, { cause: error });
  }
}

function print(value: Fields): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

export async function showIssue(number: number | undefined, options: { readonly json?: boolean }): Promise<void> {
  const issue = await requestDaemon({ type: 'show', issue: issueNumber(number) });
  if (options.json === true) {
    print(issue);
    return;
  }
  const comments = Array.isArray(issue.comments) ? issue.comments.filter(isObject) : [];
  const parts = [
    `#${String(issue.number)} ${visibleLines(String(issue.title))}`,
    `by ${String(issue.author ?? 'nobody known')} · attempt ${String(issue.attempt)} · branch ${String(issue.branch)}`,
    '',
    visibleLines(String(issue.body)),
    ...comments.flatMap((comment) => [
      '',
      `--- ${String(comment.author)}, ${String(comment.created_at)}`,
      visibleLines(String(comment.body)),
    ]),
  ];
  process.stdout.write(`${parts.join('\n')}\n`);
}

export async function commentOnIssue(
  number: number | undefined,
  options: { readonly body?: string; readonly bodyFile?: string },
): Promise<void> {
  const issue = issueNumber(number);
  const body = bodyOf(options, true);
  if (body.trim() === '') throw bodyInvalid('a comment', 'an empty text');
  await requestDaemon({ type: 'comment', issue, body });
  process.stdout.write(`commented on #${issue}\n`);
}

/** Asks the people on the issue, who answer there. */
export async function askOnIssue(question: string | undefined, options: { readonly bodyFile?: string }): Promise<void> {
  const { bodyFile } = options;
  const given = [question, bodyFile].filter((one) => one !== undefined).length;
  if (given !== 1)
    throw bodyInvalid('a question, or --body-file <file>', given === 0 ? 'neither' : 'both', '<question>');
  const body = question ?? bodyOf(bodyFile === undefined ? {} : { bodyFile }, true);
  if (body.trim() === '') throw bodyInvalid('a question', 'an empty text', '<question>');
  await requestDaemon({ type: 'ask', issue: issueNumber(undefined), body });
  process.stdout.write('The question is posted. End your turn now: the answer comes into this session.\n');
}

export async function finishIssue(number: number | undefined): Promise<void> {
  const issue = issueNumber(number);
  const { committed } = await requestDaemon({ type: 'done', issue });
  const what =
    committed === false
      ? 'has no commit: when you end, it fails with your comment as the reason'
      : 'is taken as done; it is published when you end';
  process.stdout.write(`#${issue} ${what}\n`);
}

export async function replyInThread(
  thread: number,
  options: { readonly body?: string; readonly bodyFile?: string },
): Promise<void> {
  const body = bodyOf(options, true);
  if (body.trim() === '') throw bodyInvalid('an answer', 'an empty text');
  await requestDaemon({ type: 'reply', thread, body });
  process.stdout.write(`answered in thread ${thread}\n`);
}

export async function createPullRequest(options: {
  readonly title: string;
  readonly body?: string;
  readonly bodyFile?: string;
  readonly json?: boolean;
}): Promise<void> {
  if (options.title.trim() === '')
    throw failure(CLI_CODES.option_invalid, { option: '--title', expected: 'a title', got: 'an empty text' });
  const answer = await requestDaemon({ type: 'pull_request', title: options.title, body: bodyOf(options, false) });
  if (options.json === true) print(answer);
  else if (answer.number === null)
    process.stdout.write('the pull request is opened after you end, once the work is checked\n');
  else process.stdout.write(`pull request #${String(answer.number)}: ${String(answer.url)}\n`);
}
