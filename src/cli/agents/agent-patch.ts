// The agent that needs no model: applies the diffs in its issue, runs the tests, commits, asks for the pull request.

import { changedFiles, findDiffs, withCrlf } from '../../agents/rules/patch.ts';
import { boundedOutput, startProgram } from '../../base/processes/program.ts';
import { splitCommand, TEST_COMMAND_VARIABLE } from '../../base/rules/command-line.ts';
import { setVariables } from '../../base/rules/environment.ts';
import { failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { lastLines, oneLine } from '../../base/rules/text.ts';
import { tryGit } from '../../git/git.ts';
import { requestDaemon } from '../issue.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';

const TEST_TIMEOUT_MS = 30 * 60_000;
const MAX_TEST_OUTPUT = 1024 * 1024;

/** What the branch changes against the default branch as the clone knows it. */
const BASE = 'origin/HEAD...HEAD';

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function run(args: readonly string[], input?: string) {
  return tryGit(args, {
    cwd: process.cwd(),
    env: setVariables(process.env),
    ...(input === undefined ? {} : { input }),
  });
}

async function mustRun(args: readonly string[], what: string): Promise<string> {
  const { exitCode, stdout, stderr } = await run(args);
  if (exitCode !== 0)
    throw failure(CLI_CODES.agent_program_failed, { command: what, said: lastLines(stderr || stdout) });
  return stdout;
}

type Reading = { readonly text: string; readonly flags: readonly string[] };

/**
 * How a diff may be meant that went through an issue's text, the strictest way first: counts written by hand are often
 * wrong, an empty line may have come in at the end, and the line ends of a file that uses CR LF are lost on the way.
 */
async function readingsOf(diff: string): Promise<Reading[]> {
  const shapes: Reading[] = [
    { text: diff, flags: [] },
    { text: diff, flags: ['--recount'] },
    { text: diff.replace(/\n+$/, '\n'), flags: ['--recount'] },
  ];
  const paths = changedFiles(diff);
  if (paths.length === 0) return shapes;
  const { stdout } = await run(['--literal-pathspecs', 'ls-files', '--eol', '-z', '--', ...paths]);
  const crlf = new Set(
    stdout.split('\0').flatMap((row) => (row.startsWith('i/crlf') ? row.slice(row.indexOf('\t') + 1) : [])),
  );
  if (crlf.size === 0) return shapes;
  return [...shapes, ...shapes.map(({ text, flags }) => ({ text: withCrlf(text, crlf), flags }))];
}

/** Applies one diff to files and index; one that an earlier attempt applied already is left alone. */
async function apply(diff: string, name: string): Promise<void> {
  const readings = await readingsOf(diff);
  const complaints: string[] = [];
  for (const { text, flags } of readings) {
    const { exitCode, stderr } = await run(['apply', '--index', '--whitespace=nowarn', ...flags, '-'], text);
    if (exitCode === 0) {
      say(`applied ${name}`);
      return;
    }
    complaints.push(stderr);
  }
  for (const { text, flags } of readings) {
    const args = ['apply', '--check', '--reverse', '--whitespace=nowarn', ...flags, '-'];
    if ((await run(args, text)).exitCode === 0) {
      say(`${name} is applied already`);
      return;
    }
  }
  const words = complaints.find((text) => !text.includes('corrupt patch')) ?? complaints[0] ?? '';
  throw failure(CLI_CODES.patch_not_applied, { patch: name, said: lastLines(words, 20) });
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
  const shown = oneLine(typeof command === 'string' ? command : command.join(' '), 200);
  const program = await startProgram(file, args, { cwd: process.cwd(), env: setVariables(process.env) });
  program.stdin.end();
  // Passed on as it comes: a long test run that speaks is not taken for one that hangs.
  program.stdout.pipe(process.stdout, { end: false });
  program.stderr.pipe(process.stdout, { end: false });
  const outputs = [program.stdout, program.stderr].map((stream) => boundedOutput(stream, MAX_TEST_OUTPUT));
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    program.terminate();
  }, TEST_TIMEOUT_MS);
  const { exitCode } = await program.exit;
  clearTimeout(timer);
  if (timedOut) throw failure(CLI_CODES.agent_program_timed_out, { command: shown, minutes: TEST_TIMEOUT_MS / 60_000 });
  if (exitCode !== 0)
    throw failure(CLI_CODES.agent_program_failed, {
      command: shown,
      said: lastLines(outputs.map((read) => read()).join('\n')),
      exit: exitCode === null ? 'by signal' : String(exitCode),
    });
  say(`${shown} passed`);
}

export async function patchCommand(): Promise<void> {
  const issue = await requestDaemon({ type: 'show', issue: Number(process.env.TOOL_ISSUE) });
  const number = Number(issue.number);
  const title = oneLine(String(issue.title), 200);
  const diffs = findDiffs(String(issue.body));
  if (diffs.length === 0) throw failure(CLI_CODES.patch_missing, { issue: number });
  try {
    for (const [index, diff] of diffs.entries())
      await apply(diff, diffs.length === 1 ? 'the diff' : `diff ${index + 1} of ${diffs.length}`);
    await test();
  } catch (error) {
    // Half of a patch is nobody's work: the next attempt begins with clean files.
    await run(['reset', '--quiet', '--hard']);
    if (error instanceof ToolError) throw error;
    throw failure(
      CLI_CODES.agent_program_failed,
      { command: 'tool agent patch', said: messageOf(error) },
      { cause: error },
    );
  }
  const { exitCode: unchanged } = await run(['diff', '--cached', '--quiet']);
  if (unchanged !== 0)
    await mustRun(['commit', '--quiet', '-m', title, '-m', `Applies the patch of #${number}.`], 'git commit');
  const since = (await run(['rev-parse', '--verify', '--quiet', 'origin/HEAD'])).exitCode === 0 ? BASE : null;
  if (since !== null && (await run(['diff', '--quiet', since])).exitCode === 0) {
    const body = `${diffs.length === 1 ? 'The diff of this issue is' : 'The diffs of this issue are'} in the default branch already: nothing had to change.`;
    await requestDaemon({ type: 'comment', issue: number, body });
    await requestDaemon({ type: 'done', issue: number });
    say(body);
    return;
  }
  const stat = since === null ? ['show', '--stat', '--format=', 'HEAD'] : ['diff', '--stat', since];
  const files = (await mustRun(stat, `git ${stat[0]}`)).trimEnd();
  const body = `Applies the patch that stands in #${number}.\n\n\`\`\`text\n${files}\n\`\`\`\n\nCloses #${number}`;
  const pull = await requestDaemon({ type: 'pull_request', title, body });
  await requestDaemon({ type: 'done', issue: number });
  say(pull.number === null ? 'the pull request waits for the checks' : `pull request #${String(pull.number)}`);
}
