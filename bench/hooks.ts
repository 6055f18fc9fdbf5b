// Cost of hooks: each compiled hook against a bare Node process, and guard and team calls on the resident server.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withCallerSignature } from '../src/claude-code/older/caller-signature.ts';
import { projectState } from '../src/git/project-state.ts';
import { HookedProject, SESSION, TEAM } from '../test/support/hooked.ts';
import { McpClient } from '../test/support/mcp-client.ts';
import type { Cleanup } from '../test/support/temp.ts';
import { median, type Row, ratioOf, ratiosOf, spread, withCleanup } from './figures.ts';

const PAIRS = 25;
const CALLS = 200;
const RECORDS = 300;
const TARGET = 1.3;
const GUARD_TARGET = 1.8;
/** Milliseconds. */
const CALL_TARGET = 3;

const HOOKS: Readonly<Record<string, { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }>> =
  {
    'pre-tool-use': { event: 'PreToolUse', fields: { tool_name: 'Write', tool_input: { file_path: 'src/api/a.ts' } } },
    'pre-tool-use, Bash': {
      event: 'PreToolUse',
      fields: { tool_name: 'Bash', tool_input: { command: "sed -i 's/a/b/' src/api/a.ts && echo x > src/api/b.ts" } },
    },
    'post-tool-use': { event: 'PostToolUse', fields: { tool_name: 'Read', tool_input: {}, tool_response: {} } },
    'session-start': { event: 'SessionStart', fields: { source: 'compact' } },
    'user-prompt-submit': { event: 'UserPromptSubmit', fields: { prompt: 'go on' } },
    'subagent-start': { event: 'SubagentStart', fields: {} },
    'subagent-stop': { event: 'SubagentStop', fields: { stop_hook_active: false } },
    stop: { event: 'Stop', fields: { stop_hook_active: false } },
    'teammate-idle': { event: 'TeammateIdle', fields: { teammate_name: 'backend-dev', team_name: TEAM } },
    'task-completed': { event: 'TaskCompleted', fields: { task_id: '1', task_subject: 'x' } },
  };

function milliseconds(
  program: string,
  args: readonly string[],
  input: string,
  env: Readonly<Record<string, string>>,
): number {
  const from = process.hrtime.bigint();
  execFileSync(program, args, { input, env, stdio: 'pipe' });
  return Number(process.hrtime.bigint() - from) / 1e6;
}

/** A team in the middle of its work. */
async function busy(t: Cleanup, config: string): Promise<HookedProject> {
  const project = await new HookedProject(t, { config }).team('backend-dev', 'frontend-dev', 'tester');
  for (let count = 1; count <= 10; count++)
    await project.call('team-lead', 'TaskCreate', { subject: `Task ${count}`, description: 'd', owner: 'tester' });
  for (let count = 0; count < RECORDS - 30; count++) {
    const to = {
      recipient: 'backend-dev',
      type: 'progress',
      content: `Message ${count}: something that somebody says`,
    };
    if (count % 2 === 0) await project.call('tester', 'SendMessage', to);
    else await project.call('backend-dev', 'Inbox');
  }
  return project;
}

/** @param keeps whether to leave the log as the hook wrote it: a resident server reports a shortened log as damaged */
function processRow(name: string, project: HookedProject, size: string, keeps = false): Row {
  const [script = ''] = name.split(',');
  const { event, fields } = HOOKS[name] ?? { event: '', fields: {} };
  // The lead raises TaskCompleted: a teammate's completion also runs Git, which this row does not measure.
  const isLeads = ['SessionStart', 'UserPromptSubmit', 'Stop', 'TaskCompleted'].includes(event);
  const who = isLeads ? 'team-lead' : 'backend-dev';
  const env = { ...project.env, ...project.envOf('2.1.177') };
  const input = JSON.stringify(project.fields(who, event, fields));
  const file = join(process.cwd(), 'dist', 'hooks', `${script}.js`);
  const log = join(project.root, '.tool', 'teams', TEAM, 'log.jsonl');
  const before = existsSync(log) ? readFileSync(log) : null;
  const hook = () => {
    // Restore the log: records of this run would slow down the next one.
    if (before !== null && !keeps) writeFileSync(log, before);
    return milliseconds(process.execPath, [file], input, env);
  };
  const bare = () => milliseconds(process.execPath, ['-e', '0'], input, env);
  // Warm up: the first run decodes the configuration and writes the snapshot.
  hook();
  bare();
  const floors: number[] = [];
  const times: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    // Alternate the order, so that neither side always goes first.
    const [one, other] = pair % 2 === 0 ? [bare(), hook()] : [hook(), bare()];
    const [floor, time] = pair % 2 === 0 ? [one, other] : [other, one];
    floors.push(floor);
    times.push(time);
  }
  const ratio = median(ratiosOf(times, floors));
  return {
    what: `hook, whole process: ${name}, ${size}`,
    figure: ratioOf(ratio, spread(times, 'ms')),
    floor: `node -e 0: ${spread(floors, 'ms')}`,
    target: `≤ ${TARGET} ×`,
    met: ratio <= TARGET,
  };
}

// Without the quality check: its cost depends on the project.
const CONFIG =
  'workflow:\n  team:\n    enabled: true\n    hooks:\n      task_completed:\n        require_quality_check: false\n';

/** Each compiled hook against a bare process, measured in pairs. */
export function hookProcesses(): Promise<readonly Row[]> {
  return withCleanup(async (t) => {
    const alone = new HookedProject(t, { config: CONFIG });
    const team = await busy(t, CONFIG);
    const size = `a team of ${RECORDS} records`;
    const dead = ['pre-tool-use', 'teammate-idle'].map((name) => ({
      ...processRow(name, team, `${size}, its server dead`),
      target: '–',
      met: true,
    }));
    const client = await McpClient.start(t, team.root, { ...team.env, ...team.envOf('2.1.177') });
    // The server answers hooks only after its first tool call.
    await client.call('TaskList', {}, 'toolu_1');
    return [
      ...Object.keys(HOOKS).flatMap((name) => [
        processRow(name, alone, 'no team'),
        processRow(name, team, `${size}, beside its server`, true),
      ]),
      ...dead,
    ];
  });
}

/** One guard call on the resident server, and the shell that the host starts at the same time. */
export function residentGuard(): Promise<readonly Row[]> {
  return withCleanup(async (t) => {
    const project = await busy(t, CONFIG);
    const env = { ...project.env, ...project.envOf('2.1.177') };
    const client = await McpClient.start(t, project.root, env);
    const hooks = join(project.root, '.tool', 'hooks');
    mkdirSync(hooks, { recursive: true });
    cpSync(join('dist', 'hooks'), hooks, { recursive: true });
    const rows: Row[] = [];
    for (const name of ['pre-tool-use', 'pre-tool-use, Bash']) {
      const { tool_name, tool_input } = HOOKS[name]?.fields ?? {};
      const fields = project.fields('backend-dev', 'PreToolUse');
      const input = {
        event: 'PreToolUse',
        session: SESSION,
        cwd: project.root,
        agent: fields.agent_id,
        type: fields.agent_type,
        tool: tool_name,
        id: fields.tool_use_id,
        input: JSON.stringify(tool_input),
        transcript: fields.transcript_path,
      };
      const times: number[] = [];
      for (let call = 0; call < CALLS + 20; call++) {
        const from = process.hrtime.bigint();
        const { text } = await client.call('Hook', input);
        // Warm-up calls: V8 has not compiled the code yet.
        if (call >= 20) times.push(Number(process.hrtime.bigint() - from) / 1e6);
        if (text !== '{}') throw new Error(`the guard answered ${text}`);
      }
      const shells: number[] = [];
      const bare: number[] = [];
      const event = JSON.stringify({ ...fields, tool_name, tool_input });
      for (let pair = 0; pair < PAIRS * 2; pair++) {
        shells.push(milliseconds('sh', [join(hooks, 'guard.sh')], event, env));
        bare.push(milliseconds('sh', ['-c', ':'], event, env));
      }
      // Both run in parallel: the slower one determines the delay.
      const ratio = Math.max(median(times) / median(bare), median(ratiosOf(shells, bare)));
      rows.push({
        what: `guard on the resident server, each ${String(tool_name)}`,
        figure: ratioOf(ratio, `server ${spread(times, 'ms', 1)}, beside it the shell ${spread(shells, 'ms', 1)}`),
        floor: `sh -c ':' ${spread(bare, 'ms', 1)}`,
        target: `≤ ${GUARD_TARGET} ×`,
        met: ratio <= GUARD_TARGET,
      });
    }
    return rows;
  });
}

/**
 * A team call with its hook, as the host makes both, against the call alone. The call alone carries a stamp that names
 * its caller: the server refuses it otherwise.
 */
export function teamCall(): Promise<readonly Row[]> {
  return withCleanup(async (t) => {
    const project = await busy(t, CONFIG);
    const env = { ...project.env, ...project.envOf('2.1.177') };
    const client = await McpClient.start(t, project.root, env);
    const timed = async (act: () => Promise<unknown>) => {
      const from = process.hrtime.bigint();
      await act();
      return Number(process.hrtime.bigint() - from) / 1e6;
    };
    const list = async (id: string, input: Readonly<Record<string, unknown>> = {}) => {
      const { isError, text } = await client.call('TaskList', input, id);
      if (isError) throw new Error(text);
    };
    const state = projectState(project.root, project.env);
    const caller = { session: SESSION, agentId: 'agent-backend-dev', agentType: 'team-backend-dev' };
    const withHook = (id: string) => async () => {
      const who = { session: SESSION, agent: caller.agentId, type: caller.agentType, cwd: project.root };
      const call = { event: 'PreToolUse', tool: 'mcp__team__TaskList', id, input: '{}' };
      await client.call('Hook', { ...who, ...call, transcript: project.transcript, error: '' });
      await list(id);
    };
    const alone = (id: string) => {
      const answer = withCallerSignature({}, { ...caller, toolUseId: id }, state);
      if (answer.kind !== 'rewrite') throw new Error('expected a stamp');
      return () => list(id, answer.input);
    };
    const both: number[] = [];
    const calls: number[] = [];
    const empty: number[] = [];
    for (let count = 0; count < CALLS + 20; count++) {
      const one = withHook(`toolu_hook_${count}`);
      const other = alone(`toolu_alone_${count}`);
      // Alternate the order, so that neither side always goes first.
      const first = count % 2 === 0 ? await timed(one) : await timed(other);
      const second = count % 2 === 0 ? await timed(other) : await timed(one);
      const ping = await timed(() => client.ask('ping'));
      // Warm-up calls: V8 has not compiled the code yet.
      if (count < 20) continue;
      both.push(count % 2 === 0 ? first : second);
      calls.push(count % 2 === 0 ? second : first);
      empty.push(ping);
    }
    const onTop = median(both.map((time, index) => time - (calls[index] ?? Number.NaN)));
    return [
      {
        what: 'a team call in the host, on top of the call itself',
        figure: `${onTop.toFixed(2)} ms (with its hook ${spread(both, 'ms', 2)}, alone ${spread(calls, 'ms', 2)})`,
        floor: `${spread(empty, 'ms', 2)}: an empty request`,
        target: `≤ ${CALL_TARGET} ms`,
        met: onTop <= CALL_TARGET,
      },
    ];
  });
}
