// The agent that needs no model: applies the diffs in its issue, runs the tests, commits, asks for the pull request.

import { tryGit } from '../adapters/git.ts';
import { runProgram } from '../adapters/program.ts';
import { splitCommand, TEST_COMMAND_VARIABLE } from '../domain/command-line.ts';
import { messageOf, ToolError } from '../domain/errors.ts';
import { findDiffs } from '../domain/patch.ts';
import { lastLines, oneLine } from '../domain/text.ts';
import { askDesk } from './issue.ts';

const TEST_TIMEOUT_MS = 30 * 60_000;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function environment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

async function run(args: readonly string[], input?: string) {
  return tryGit(args, { cwd: process.cwd(), env: environment(), ...(input === undefined ? {} : { input }) });
}

async function mustRun(args: readonly string[], what: string): Promise<string> {
  const { exitCode, stdout, stderr } = await run(args);
  if (exitCode !== 0) throw new ToolError('agent', `${what}: ${lastLines(stderr || stdout)}`);
  return stdout;
}

/** Applies one diff to files and index; one that an earlier attempt applied already is left alone. */
async function apply(diff: string, name: string): Promise<void> {
  const applied = await run(['apply', '--index', '--recount', '--whitespace=nowarn', '-'], diff);
  if (applied.exitCode === 0) {
    say(`applied ${name}`);
    return;
  }
  const reverse = await run(['apply', '--check', '--reverse', '--recount', '--whitespace=nowarn', '-'], diff);
  if (reverse.exitCode !== 0) throw new ToolError('agent', `${name} does not apply:\n${lastLines(applied.stderr, 20)}`);
  say(`${name} is applied already`);
}

function testCommand(): string | readonly string[] | null {
  const value: unknown = JSON.parse(process.env[TEST_COMMAND_VARIABLE] ?? 'null');
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.map(String) : null;
}

async function test(): Promise<void> {
  const command = testCommand();
  if (command === null) {
    say('no test command is given (tool.command): nothing was tested');
    return;
  }
  const [file, args] = splitCommand(command);
  const shown = typeof command === 'string' ? command : command.join(' ');
  const { exitCode, stdout, stderr, timedOut } = await runProgram(file, args, {
    cwd: process.cwd(),
    env: environment(),
    timeoutMs: TEST_TIMEOUT_MS,
  });
  say(`${stdout}${stderr}`.trimEnd());
  if (timedOut) throw new ToolError('agent', `${shown} took longer than ${TEST_TIMEOUT_MS / 60_000} minutes`);
  if (exitCode !== 0)
    throw new ToolError(
      'agent',
      `${shown} failed (exit ${exitCode ?? 'by signal'}):\n${lastLines(`${stdout}\n${stderr}`)}`,
    );
  say(`${shown} passed`);
}

export async function patchCommand(): Promise<void> {
  const issue = await askDesk({ type: 'show', issue: Number(process.env.TOOL_ISSUE) });
  const number = Number(issue.number);
  const title = oneLine(String(issue.title), 200);
  const diffs = findDiffs(String(issue.body));
  if (diffs.length === 0)
    throw new ToolError(
      'agent',
      `issue #${number} has no fenced block with a unified diff; expected at least one, marked diff`,
    );
  try {
    for (const [index, diff] of diffs.entries())
      await apply(diff, diffs.length === 1 ? 'the diff' : `diff ${index + 1} of ${diffs.length}`);
    await test();
  } catch (error) {
    // Half of a patch is nobody's work: the next attempt begins with clean files.
    await run(['reset', '--quiet', '--hard']);
    throw error instanceof ToolError ? error : new ToolError('agent', messageOf(error), { cause: error });
  }
  const { exitCode: unchanged } = await run(['diff', '--cached', '--quiet']);
  if (unchanged !== 0)
    await mustRun(['commit', '--quiet', '-m', title, '-m', `Applies the patch of #${number}.`], 'git commit');
  const files = (await mustRun(['show', '--stat', '--format=', 'HEAD'], 'git show')).trimEnd();
  const body = `Applies the patch that stands in #${number}.\n\n\`\`\`text\n${files}\n\`\`\`\n\nCloses #${number}`;
  const pull = await askDesk({ type: 'pull_request', title, body });
  await askDesk({ type: 'done', issue: number });
  say(`pull request #${String(pull.number)}`);
}
