// The hook of an agent that ends its turn to wait for another's result: it stays until that is there, or until the host is gone.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import { hasExited } from '../../../src/base/processes/processes.ts';
import { HookedProject } from '../../support/hooked.ts';
import { ANALYST } from '../../support/plan-results.ts';
import { type Cleanup, finallyDo } from '../../support/temp.ts';

const TEAM = 'tool-plan-log-out';

/** A planning team whose analyst and architect are at work. */
async function planning(t: Cleanup): Promise<HookedProject> {
  const project = new HookedProject(t, { env: { TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' } });
  project.write('.tool/installed.json', JSON.stringify({ hostVersion: '2.1.177' }));
  await project.hook('user-prompt-submit', 'team-lead', 'UserPromptSubmit', {
    prompt: '/tool:1-plan "log out" --team',
  });
  await project.call('team-lead', 'TeamCreate', { team_name: TEAM });
  for (const [taskId, name] of [
    ['2', 'analyst'],
    ['3', 'architect'],
  ] as const) {
    await project.call('team-lead', 'Task', { subagent_type: `team-${name}`, team_name: TEAM, name, prompt: 'p' });
    await project.hook('subagent-start', name, 'SubagentStart');
    await project.call(name, 'TaskUpdate', { taskId, status: 'in_progress' });
  }
  return project;
}

test('it stays while the other is at work, and has the agent go on with the result', async (t) => {
  const project = await planning(t);
  let isOpen = true;
  const stop = project.hook('subagent-stop', 'architect', 'SubagentStop').finally(() => {
    isOpen = false;
  });
  await project.call('analyst', 'SendMessage', { recipient: 'team-lead', type: 'progress', content: 'Half of it.' });
  assert.ok(isOpen);
  await project.call('analyst', 'TaskUpdate', { taskId: '2', status: 'completed', result: ANALYST });
  const { code, stderr } = await stop;
  assert.equal(code, 2);
  assert.match(
    stderr,
    /You have not finished task 3 .*\nTask 2 is completed\. The result of analyst:\n> So that a shared/s,
  );
});

test('it ends with the host, and decides nothing', async (t) => {
  const project = await planning(t);
  const file = join(project.hooks, 'subagent-stop.js');
  const env = { ...project.env, ...project.envOf('2.1.177') };
  const script = `sh -c 'echo "$$"; "${process.execPath}" "${file}"; :' <&0 & wait`;
  const options = { cwd: project.root, env, extendEnv: false, buffer: false, reject: false } as const;
  const host = execa(options)`/bin/sh -c ${script}`;
  finallyDo(t, () => host.kill('SIGKILL'));
  host.stdin.end(JSON.stringify(project.fields('architect', 'SubagentStop')));
  const [line] = await once(createInterface({ input: host.stdout }), 'line');
  // It has asked once by the time that a call of another hook is over.
  await project.hook('subagent-stop', 'researcher', 'SubagentStop');
  host.kill('SIGKILL');
  while (!hasExited(Number(line))) await delay(50);
  assert.equal(project.state(TEAM).members.get('architect')?.phase, 'working');
});
