// A project with the compiled hooks, its team made by the operations, its events told as a host tells them.

import assert from 'node:assert/strict';
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa, execaSync } from 'execa';
import { operateInHost } from '../../src/claude-code/answers/operate-in-host.ts';
import { composeOperations } from '../../src/compose/team.ts';
import { FileTeams } from '../../src/team/log/teams.ts';
import type { Evidence } from '../../src/team/rules/caller.ts';
import type { TeamState } from '../../src/team/rules/log/state.ts';
import { writeApprovedSpec } from './approved-spec.ts';
import { ANALYST, ARCHITECT, RESEARCHER } from './plan-results.ts';
import { type Cleanup, tempDir } from './temp.ts';

export const TEAM = 'tool-run-spec-auth-001';
export const SESSION = '4b3a61c2-0000-4000-8000-000000000001';

/** Versions of the host that name themselves and their callers differently. */
export type HostVersion = '2.1.33' | '2.1.100' | '2.1.177' | '2.1.331';
export const VERSIONS: readonly HostVersion[] = ['2.1.33', '2.1.100', '2.1.177', '2.1.331'];

export type Fields = Readonly<Record<string, unknown>>;
export type HookRun = {
  /** 2: rejected, as hosts take it, whether by the exit code or by what was printed. */
  readonly code: number | null;
  readonly exit: number | null;
  readonly stdout: string;
  /** Of what is rejected, the reason, wherever it stood. */
  readonly stderr: string;
  /** What it printed, decoded; null: nothing. */
  readonly json: Fields | null;
};

type Settings = { readonly config?: string | null; readonly fixture?: string; readonly env?: Record<string, string> };

export const ENABLED = 'workflow:\n  team:\n    enabled: true\n';

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export class HookedProject {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly transcript: string;
  /** Where the compiled hooks are. */
  hooks = join(process.cwd(), 'dist', 'hooks');
  #calls = 0;

  /** @param config text of workflow.yaml; null: none */
  constructor(t: Cleanup, { config = ENABLED, fixture, env = {} }: Settings = {}) {
    const place = tempDir(t);
    this.root = join(place, 'project');
    mkdirSync(this.root);
    if (fixture !== undefined) cpSync(join('test', 'fixtures', 'checks', fixture), this.root, { recursive: true });
    execaSync`git init -q ${this.root}`;
    this.transcript = join(place, 'transcripts', `${SESSION}.jsonl`);
    const home = join(place, 'home');
    mkdirSync(home);
    const host = { SHELL: '/bin/bash', TMPDIR: place, CLAUDE_PROJECT_DIR: this.root };
    this.env = { PATH: process.env.PATH ?? '', HOME: home, ...host, ...env };
    if (config !== null) this.write('.tool/config/workflow.yaml', config);
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8');
  }

  edit(path: string, from: string, to: string): void {
    assert.ok(this.read(path).includes(from), `${path}: expected ${from} in it`);
    this.write(path, this.read(path).replace(from, to));
  }

  git(...args: readonly string[]): string {
    return execaSync({ env: this.env, extendEnv: false })`git -C ${this.root} ${args}`.stdout;
  }

  /** Commits all that is there. */
  commit(): void {
    this.git('add', '-A');
    this.git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qm', 'All of it');
  }

  /** The team's board, as a person sees it. */
  board(): string {
    const cli = join(process.cwd(), 'dist', 'cli.js');
    const args = [cli, 'team', 'board', TEAM, '--once'];
    return execaSync(process.execPath, args, { cwd: this.root, env: this.env, extendEnv: false }).stdout;
  }

  /** Planners that have given their results for a team that was proposed by a prompt. */
  async planned(team_name: string): Promise<void> {
    await this.call('team-lead', 'TeamCreate', { team_name });
    for (const [id, name, result] of [
      ['1', 'researcher', RESEARCHER],
      ['2', 'analyst', ANALYST],
      ['3', 'architect', ARCHITECT],
    ] as const) {
      const subagent_type = `team-${name}`;
      await this.call('team-lead', 'Task', { subagent_type, team_name, name, prompt: 'p' });
      const spawn = { tool_name: 'Task', tool_input: { subagent_type, prompt: 'p' } };
      await this.hook('pre-tool-use', 'team-lead', 'PreToolUse', spawn);
      await this.call(name, 'TaskUpdate', { taskId: id, status: 'in_progress' });
      await this.call(name, 'TaskUpdate', { taskId: id, status: 'completed', result });
    }
  }

  evidence(who: string): Evidence {
    const isLead = who === 'team-lead';
    const caller = { agentId: isLead ? null : `agent-${who}`, agentType: isLead ? null : `team-${who}` };
    return { kind: 'stamp', caller: { session: SESSION, toolUseId: null, ...caller } };
  }

  call(who: string, name: string, input: Fields = {}): Promise<Fields> {
    // A team builds what the user approved.
    if (input.team_name === TEAM && !existsSync(join(this.root, '.tool', 'specs', 'SPEC-AUTH-001')))
      writeApprovedSpec(this.root, 'SPEC-AUTH-001', this.env);
    return operateInHost(composeOperations(this.root, this.env), name, input, this.evidence(who));
  }

  /** A team of these members, all registered, and started through the hook on the call that starts them. */
  async team(...members: readonly string[]): Promise<this> {
    await this.call('team-lead', 'TeamCreate', { team_name: TEAM });
    for (const name of members) {
      const subagent_type = `team-${name}`;
      await this.call('team-lead', 'Task', { subagent_type, team_name: TEAM, name, prompt: 'Do your tasks' });
      const tool_input = { subagent_type, description: name, prompt: 'go' };
      const spawned = await this.hook('pre-tool-use', 'team-lead', 'PreToolUse', { tool_name: 'Agent', tool_input });
      assert.equal(spawned.code, 0, spawned.stderr);
      await this.hook('subagent-start', name, 'SubagentStart');
    }
    return this;
  }

  state(team = TEAM): TeamState {
    const log = new FileTeams({ root: this.root, now: Date.now }).open(team);
    assert.ok(log !== undefined, `no team ${team}`);
    void log.close();
    return log.state;
  }

  /** An event as that version of the host tells it. On 2.1.33 a tool's event does not name the agent. */
  fields(who: string, event: string, more: Fields = {}, version: HostVersion = '2.1.177'): Fields {
    this.#calls += 1;
    const isTool = event === 'PreToolUse' || event === 'PostToolUse' || event === 'PostToolUseFailure';
    const isNamed = who !== 'team-lead' && !(version === '2.1.33' && isTool);
    const isNew = version === '2.1.177' || version === '2.1.331';
    return {
      session_id: SESSION,
      transcript_path: this.transcript,
      cwd: this.root,
      ...(version === '2.1.331' ? { prompt_id: 'p-1' } : {}),
      ...(event === 'SessionStart' || event.startsWith('Subagent') ? {} : { permission_mode: 'bypassPermissions' }),
      ...(isNamed ? { agent_id: `agent-${who}`, agent_type: `team-${who}` } : {}),
      ...(isNew && isTool ? { effort: { level: 'medium' } } : {}),
      hook_event_name: event,
      ...(isTool ? { tool_use_id: `toolu_${this.#calls}` } : {}),
      ...more,
    };
  }

  /** Writes the line by which a host tells whose call that was, as it does into its transcripts. */
  tell(who: string, toolUseId: unknown, tool = 'Write'): void {
    const path =
      who === 'team-lead'
        ? this.transcript
        : join(this.transcript.replace(/\.jsonl$/, ''), 'subagents', `agent-agent-${who}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    const content = [{ type: 'tool_use', id: toolUseId, name: tool, input: {} }];
    appendFileSync(path, `${JSON.stringify({ type: 'assistant', message: { role: 'assistant', content } })}\n`);
  }

  hook(
    name: string,
    who: string,
    event: string,
    more: Fields = {},
    version: HostVersion = '2.1.177',
  ): Promise<HookRun> {
    const fields = this.fields(who, event, more, version);
    // From the event alone nothing can be told of a main agent before 2.1.177, and of nobody on 2.1.33.
    if (fields.tool_use_id !== undefined) this.tell(who, fields.tool_use_id);
    return this.raw(name, JSON.stringify(fields), this.envOf(version));
  }

  /** What that version sets for its hooks. */
  envOf(version: HostVersion): Record<string, string> {
    const isNew = version === '2.1.177' || version === '2.1.331';
    return {
      CLAUDE_CODE_ENTRYPOINT: 'sdk-cli',
      ...(isNew ? { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: SESSION, CLAUDE_CODE_CHILD_SESSION: '1' } : {}),
    };
  }

  /** Runs a compiled hook on this standard input. */
  async raw(name: string, input: string | Buffer, env: Readonly<Record<string, string>> = {}): Promise<HookRun> {
    const file = join(this.hooks, `${name}.js`);
    assert.ok(existsSync(file), `${file} is not built`);
    return runProgram(process.execPath, [file], input, { ...this.env, ...env }, this.root);
  }
}

/** Runs a program on this standard input to its end. */
export async function runProgram(
  program: string,
  args: readonly string[],
  input: string | Buffer,
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<HookRun> {
  const { NODE_V8_COVERAGE } = process.env;
  const { exitCode, stdout, stderr } = await execa(program, args, {
    ...{ cwd, env: { ...env, NODE_V8_COVERAGE }, extendEnv: false, input, reject: false, stripFinalNewline: false },
  });
  const code = exitCode ?? null;
  const value: unknown = stdout === '' ? null : JSON.parse(stdout);
  assert.ok(value === null || isFields(value), stdout);
  const rejection = rejectionIn(value);
  const exit = code;
  return rejection === null || exit !== 0
    ? { code, exit, stdout, stderr, json: value }
    : { code: 2, exit, stdout, stderr: `${stderr}${rejection}\n`, json: value };
}

/** The reason for which what was printed denies a call, or has an agent go on; null: it does neither. */
function rejectionIn(json: Fields | null): string | null {
  if (json?.decision === 'block') return String(json.reason);
  const own = isFields(json?.hookSpecificOutput) ? json.hookSpecificOutput : {};
  if (own.permissionDecision === 'deny') return String(own.permissionDecisionReason);
  return own.hookEventName === 'Stop' ? String(own.additionalContext) : null;
}

/** What a hook says to the one whose event it was. */
export function specific({ json }: HookRun): Fields {
  const own = json?.hookSpecificOutput;
  return isFields(own) ? own : {};
}
