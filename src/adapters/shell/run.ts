// Which commands of a script may run one after the other, and what is known of the shell at each.

import type {
  AndOr,
  Case,
  CommandNode,
  CompoundList,
  If,
  ParsedScript,
  Pipeline,
  PipelineNode,
  Redirected,
  Statement,
  While,
} from 'unbash';
import { evaluate } from './arithmetic.ts';
import { runFor, runUntilStable, withLoop } from './loops.ts';
import { both, type Holder, type Outcome, type Reader } from './reader.ts';
import { redirect } from './redirects.ts';
import { runSimple } from './simple.ts';
import {
  type FunctionBody,
  forgetAll,
  type Input,
  join,
  joinAll,
  NO_INPUT,
  putBack,
  type Shell,
  sharedInput,
  UNKNOWN_INPUT,
} from './state.ts';
import { runTest } from './test-expressions.ts';
import { type Field, isText, UNKNOWN_NUMBER } from './values.ts';
import { ZSH_HOOKS } from './zsh.ts';

export function runScript(script: ParsedScript, shell: Shell, reader: Reader): Outcome {
  for (const { message } of script.errors ?? []) reader.unresolved(`it cannot be read: ${message}`);
  return runStatements(script.commands, shell, reader, true);
}

/** @param isTop whether they stand in no other command, so that a line of them may end with a mistake */
function runStatements(statements: readonly Statement[], shell: Shell | null, reader: Reader, isTop = false): Outcome {
  let outcome = both(shell);
  let now = shell;
  for (const statement of statements) {
    if (now === null) break;
    outcome = runStatement(statement, now, reader);
    now = join(outcome.ok, outcome.fail);
    if (isTop) now = join(now, joinAll(reader.exits.line));
  }
  return statements.length === 1 ? outcome : { ...outcome, out: UNKNOWN_INPUT };
}

function runStatement(statement: Statement, shell: Shell, reader: Reader): Outcome {
  if (statement.background !== true) return runNode(statement.command, shell, reader);
  reader.background();
  inSubshell(shell, reader, (inner) => runNode(statement.command, inner, reader));
  return both(shell);
}

/** Runs in a shell of its own: nothing of its state comes back. */
export function inSubshell(shell: Shell, reader: Reader, run: (inner: Shell) => Outcome): Outcome {
  const { exits } = reader;
  const saved = { ...exits };
  Object.assign(exits, { loop: [], isInLoop: false, function: [], shell: [], line: [], traps: [], moments: null });
  const outcome = run(shell);
  const ends = joinAll([outcome.ok, outcome.fail, exits.moments, ...exits.shell]);
  if (ends !== null) for (const text of exits.traps.splice(0)) reader.deeper(() => reader.runText(text, ends), ends);
  Object.assign(exits, saved);
  return both(shell, outcome.out);
}

/** Calls a function: its words are `$1` and on, and what it declares for itself ends with it. */
export function runFunction(name: string, args: readonly Field[], shell: Shell, stdin: Input, reader: Reader): Outcome {
  const known = shell.functions.get(name);
  const { exits } = reader;
  const saved = { loop: exits.loop, isInLoop: exits.isInLoop, function: exits.function };
  Object.assign(exits, { loop: [], isInLoop: false, function: [] });
  const positional = args.every((arg) => isText(arg) || !arg.many) ? args : null;
  const inner: Shell = { ...shell, positional, locals: new Set(), stdin: sharedInput(stdin) };
  const outcomes = (known?.bodies ?? []).map((body) =>
    reader.deeper(() => runCommand(body, inner, reader, null), inner),
  );
  const returned = joinAll(exits.function);
  Object.assign(exits, saved);
  const outcome = joinOutcomes([...outcomes, both(returned)]);
  const back = (after: Shell | null): Shell | null =>
    after === null
      ? null
      : {
          ...putBack(after, after.locals ?? [], shell),
          positional: shell.positional,
          locals: shell.locals,
          stdin: shell.stdin,
        };
  return { ok: back(outcome.ok), fail: back(outcome.fail), out: UNKNOWN_INPUT };
}

function runNode(node: PipelineNode | AndOr, shell: Shell, reader: Reader): Outcome {
  if (node.type === 'AndOr') return runAndOr(node, shell, reader);
  if (node.type === 'Pipeline') return runPipeline(node, shell, reader);
  return runCommand(node, shell, reader, null);
}

function runAndOr(node: AndOr, shell: Shell, reader: Reader): Outcome {
  const [first, ...rest] = node.commands;
  if (first === undefined) return both(shell);
  let outcome = runNode(first, shell, reader);
  for (const [index, next] of rest.entries()) {
    const isAnd = node.operators[index] === '&&';
    const start = isAnd ? outcome.ok : outcome.fail;
    if (start === null) continue;
    const then = runNode(next, start, reader);
    outcome = isAnd
      ? { ok: then.ok, fail: join(outcome.fail, then.fail), out: UNKNOWN_INPUT }
      : { ok: join(outcome.ok, then.ok), fail: then.fail, out: UNKNOWN_INPUT };
  }
  return outcome;
}

function runPipeline(node: Pipeline, shell: Shell, reader: Reader): Outcome {
  let outcome = both(shell);
  let input: Input | null = null;
  for (const [index, command] of node.commands.entries()) {
    const stdin = input;
    const isAlone = node.commands.length === 1;
    const isLast = index === node.commands.length - 1;
    if (isAlone) outcome = runCommand(command, shell, reader, stdin);
    else if (isLast && (shell.zsh || shell.options.has('lastpipe'))) {
      const last = runCommand(command, shell, reader, stdin);
      outcome = both(join(shell, join(last.ok, last.fail)), last.out);
    } else outcome = inSubshell(shell, reader, (inner) => runCommand(command, inner, reader, stdin));
    input = outcome.out;
  }
  const isNegated = node.prefixes.filter((prefix) => prefix.type === 'Negation').length % 2 === 1;
  return isNegated ? { ok: outcome.fail, fail: outcome.ok, out: outcome.out } : outcome;
}

/** @param stdin what the pipe before it gives; null when there is none */
function runCommand(node: FunctionBody, shell: Shell, reader: Reader, stdin: Input | null): Outcome {
  reader.step();
  if (node.type === 'Command') return runSimple(node, shell, reader, stdin);
  // a compound command shares its input among its commands, so none of them is sure of it
  const inner = stdin === null ? shell : { ...shell, stdin: UNKNOWN_INPUT };
  return reader.deeper(() => withStdin(runCompound(node, inner, reader), shell.stdin), shell);
}

function withStdin(outcome: Outcome, stdin: Input): Outcome {
  const restored = (shell: Shell | null) => (shell === null || shell.stdin === stdin ? shell : { ...shell, stdin });
  return { ok: restored(outcome.ok), fail: restored(outcome.fail), out: outcome.out };
}

function runCompound(node: Exclude<FunctionBody, { type: 'Command' }>, shell: Shell, reader: Reader): Outcome {
  switch (node.type) {
    case 'CompoundList':
      return runStatements(node.commands, shell, reader);
    case 'BraceGroup':
      return runStatements(node.body.commands, shell, reader);
    case 'Subshell':
      return inSubshell(shell, reader, (inner) => runStatements(node.body.commands, inner, reader));
    case 'Redirected':
      return runRedirected(node, shell, reader);
    case 'If':
      return runIf(node, shell, reader);
    case 'While':
      return runWhile(node, shell, reader);
    case 'Case':
      return runCase(node, shell, reader);
    case 'For':
    case 'Select':
      return runFor(node, shell, reader, (body, now) => runList(body, now, reader));
    case 'ArithmeticFor': {
      const start: Holder = { shell };
      if (node.initialize !== undefined) evaluate(node.initialize, start, reader);
      return runUntilStable(start.shell, reader, (now) => {
        const holder: Holder = { shell: now };
        if (node.test !== undefined) evaluate(node.test, holder, reader);
        const after = runList(node.body, holder.shell, reader);
        const next: Holder = { shell: join(holder.shell, join(after.ok, after.fail)) ?? now };
        if (node.update !== undefined) evaluate(node.update, next, reader);
        return { next: next.shell, out: holder.shell };
      });
    }
    case 'TestCommand': {
      const holder: Holder = { shell };
      runTest(node.expression, holder, reader);
      return both(holder.shell);
    }
    case 'ArithmeticCommand': {
      const holder: Holder = { shell };
      if (node.expression !== undefined) evaluate(node.expression, holder, reader);
      return both(holder.shell);
    }
    case 'Function':
      return defineFunction(node, shell, reader);
    case 'Coproc': {
      reader.background();
      inSubshell(shell, reader, (inner) => runCommand(node.body, { ...inner, stdin: UNKNOWN_INPUT }, reader, null));
      const name = node.name?.value ?? 'COPROC';
      return both({
        ...shell,
        vars: new Map(shell.vars)
          .set(name, [
            { ...UNKNOWN_NUMBER, lead: '6' },
            { ...UNKNOWN_NUMBER, lead: '6' },
          ])
          .set(`${name}_PID`, UNKNOWN_NUMBER),
      });
    }
  }
}

function runList(list: CompoundList, shell: Shell | null, reader: Reader): Outcome {
  return runStatements(list.commands, shell, reader);
}

function runRedirected(node: Redirected, shell: Shell, reader: Reader): Outcome {
  const holder: Holder = { shell };
  const { stdin, isPrinted, mayFail } = redirect(node.redirects, holder, reader);
  const inner = stdin === null ? holder.shell : { ...holder.shell, stdin: sharedInput(stdin) };
  const ran = withStdin(runCommand(node.command, inner, reader, null), shell.stdin);
  const outcome = mayFail ? { ...ran, fail: join(ran.fail, holder.shell) } : ran;
  return isPrinted ? outcome : { ...outcome, out: NO_INPUT };
}

function runIf(node: If, shell: Shell, reader: Reader): Outcome {
  const ends: Outcome[] = [];
  let start: Shell | null = shell;
  for (const { clause, then } of [node, ...node.elif]) {
    if (start === null) break;
    const test = runList(clause, start, reader);
    if (test.ok !== null) ends.push(runList(then, test.ok, reader));
    start = test.fail;
  }
  if (start !== null) ends.push(node.else === undefined ? both(start) : runList(node.else, start, reader));
  return joinOutcomes(ends);
}

function joinOutcomes(outcomes: readonly Outcome[]): Outcome {
  return {
    ok: joinAll(outcomes.map(({ ok }) => ok)),
    fail: joinAll(outcomes.map(({ fail }) => fail)),
    out: UNKNOWN_INPUT,
  };
}

function runWhile(node: While, shell: Shell, reader: Reader): Outcome {
  return runUntilStable(shell, reader, (now) => {
    const test = runList(node.clause, now, reader);
    const start = node.kind === 'while' ? test.ok : test.fail;
    const stop = node.kind === 'while' ? test.fail : test.ok;
    if (start === null) return { next: null, out: stop };
    const body = runList(node.body, start, reader);
    return { next: join(body.ok, body.fail), out: stop };
  });
}

function runCase(node: Case, shell: Shell, reader: Reader): Outcome {
  const holder: Holder = { shell };
  reader.expandText(node.word, holder);
  const ends: Outcome[] = [];
  let through: Shell | null = null;
  for (const item of node.items) {
    for (const pattern of item.pattern) {
      // behind one that matches none is looked at
      const before = holder.shell;
      reader.expandText(pattern, holder);
      holder.shell = join(before, holder.shell) ?? before;
    }
    const start: Shell | null = join(holder.shell, through);
    const outcome = runList(item.body, start, reader);
    through = item.terminator === ';&' || item.terminator === ';;&' ? join(outcome.ok, outcome.fail) : null;
    ends.push(outcome);
  }
  return joinOutcomes([both(holder.shell), ...ends]);
}

function defineFunction(node: Extract<CommandNode, { type: 'Function' }>, shell: Shell, reader: Reader): Outcome {
  const name = node.name.value;
  const functions = new Map(shell.functions).set(name, { bodies: [node.body], certain: true });
  const defined = { ...shell, functions };
  // bash runs it for every program that is not found
  const isHook = shell.zsh && ZSH_HOOKS.test(name);
  if (isHook) withLoop(reader, () => runCommand(node.body, forgetAll(defined), reader, null));
  if (name === 'command_not_found_handle') withLoop(reader, () => runCommand(node.body, defined, reader, null));
  return both(defined);
}
