// The repository's own WORKFLOW.md in the daemon's loop: pinned by each attempt, its hooks around the agent.

import assert from 'node:assert/strict';
import test from 'node:test';
import { failure } from '../../src/base/rules/errors.ts';
import type { OwnHookRunner, OwnWorkflow } from '../../src/daemon/ports.ts';
import { WORKSPACES_CODES } from '../../src/daemon/rules/codes/workspaces-codes.ts';
import { withOwn } from '../../src/daemon/rules/repository-workflow.ts';
import { fail, World, workflowWith } from '../support/world.ts';

const HOOKS = { after_create: 'a', before_run: 'b', after_run: 'c', before_remove: 'd' };

/** A world whose repository sets a prompt and hooks. */
function worldWith(hooks = HOOKS) {
  const calls: string[] = [];
  const prepared = new Set<number>();
  const at = { commit: 'c1', fails: '' };
  const operator = workflowWith();
  const renew = () => {
    world.workflow = withOwn(operator, at.commit, ['prompt'], { prompt: `of ${at.commit}`, hooks });
  };
  const ownFile: OwnWorkflow = {
    outdate: () => void calls.push('outdate'),
    look: async () => void calls.push('look'),
    pin: async () => {
      if (at.fails === 'pin') throw new Error('away');
      calls.push('pin');
      renew();
    },
  };
  const ownHooks: OwnHookRunner = {
    isPrepared: (issue) => prepared.has(issue),
    forget: (issue) => void prepared.delete(issue),
    run: async (hook, script, { issue }, path) => {
      calls.push(`${hook} ${script} ${path}`);
      if (at.fails === hook)
        throw failure(WORKSPACES_CODES.workflow_hook_failed, { hook, how: 'ended with exit code 1', said: 'no' });
      if (hook === 'after_create') prepared.add(issue);
    },
  };
  const world: World = new World(operator, { ownFile, ownHooks, renderPrompt: ({ prompt }) => prompt });
  return { world, calls, at, prepared };
}

test('an attempt works by the file of one commit, which its record names', async () => {
  const { world, calls } = worldWith();
  const prompts: string[] = [];
  world.script = async ({ request, world: { workspaces } }) => {
    prompts.push(request.prompt);
    workspaces.heads.set(request.issue, 'sha');
    return { ok: true, words: 'done' };
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(60_000);
  await world.stop();
  assert.match(prompts[0] ?? '', /^of c1/);
  const started = world.journal.records.find((one) => one.type === 'attempt_started');
  assert.deepEqual(started?.type === 'attempt_started' && started.own_file, { commit: 'c1', sets: ['prompt'] });
  const path = '/workspaces/issue-1';
  assert.deepEqual(
    calls.filter((call) => call !== 'look'),
    ['pin', `after_create a ${path}`, `before_run b ${path}`, `after_run c ${path}`, `before_remove d ${path}`],
  );
  const story = world.journal.storyOf(1);
  const order = ['< before_run:1', '> repository_after_create:1', '> repository_before_run:1', '> agent:1'];
  assert.deepEqual(
    story.filter((line) => order.includes(line)),
    order,
  );
  assert.ok(world.lines.includes('[agent] issue #1: prompt from WORKFLOW.md at c1'));
});

test('the next attempt takes the file as it is then, and does not prepare the workspace again', async () => {
  const { world, calls, at } = worldWith();
  const prompts: string[] = [];
  world.script = async (agent) => {
    prompts.push(agent.request.prompt.slice(0, 5));
    at.commit = 'c2';
    return fail(agent);
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(30_000);
  await world.stop();
  assert.deepEqual(prompts.slice(0, 2), ['of c1', 'of c2']);
  assert.equal(calls.filter((call) => call.startsWith('after_create')).length, 1);
});

test('a hook of the repository that fails before the agent fails the attempt', async () => {
  const { world, at } = worldWith();
  at.fails = 'before_run';
  world.tracker.open(1);
  await world.start();
  await world.stop();
  assert.deepEqual(world.started, []);
  assert.ok(world.journal.storyOf(1).includes('attempt_ended failed retry'));
});

test('an attempt without a known file does not start its agent', async () => {
  const { world, at } = worldWith();
  at.fails = 'pin';
  world.tracker.open(1);
  await world.start();
  await world.stop();
  assert.deepEqual(world.started, []);
  assert.ok(world.journal.storyOf(1).includes('attempt_ended unavailable retry'));
});

test('a new workspace is prepared though an earlier one was, and its first attempt failed before that', async () => {
  const { world, calls, prepared } = worldWith();
  prepared.add(1);
  let failures = 1;
  world.workspaces.fault = (call) => {
    if (call === 'before_run' && failures-- > 0)
      throw failure(WORKSPACES_CODES.workflow_hook_failed, { hook: call, how: 'ended with exit code 1', said: 'no' });
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(60_000);
  await world.stop();
  assert.equal(calls.filter((call) => call.startsWith('after_create')).length, 1);
});
