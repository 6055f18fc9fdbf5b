// The JSON Schema that editors check a WORKFLOW.md with: what it says must be what the daemon does.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import * as z from 'zod';
import { workflowJsonSchema, workflowSchema } from '../../../src/daemon/config/workflow-schema.ts';
import { checkSchema, formsWithoutWords, keysOfSchema } from '../../support/json-schema.ts';

const FILE = join('schemas', 'workflow.schema.json');
const shipped: z.core.JSONSchema.JSONSchema = JSON.parse(readFileSync(FILE, 'utf8'));
const editor = z.fromJSONSchema(shipped);

test('the file is what `npx tsx scripts/generate.ts` writes', () => {
  assert.equal(readFileSync(FILE, 'utf8'), `${JSON.stringify(workflowJsonSchema(), null, 2)}\n`);
});

test('it is a schema: known keywords, every key explained, no key beside those, every default one that is accepted', () => {
  checkSchema(shipped);
});

test('whoever writes a text in a wrong form reads words of ours', () => {
  assert.deepEqual(formsWithoutWords(workflowSchema), []);
});

test('it knows every key of the decoder', () => {
  const { shape } = workflowSchema;
  const decoder = Object.entries(shape).map(([key, inner]) => {
    const unwrapped: unknown = 'unwrap' in inner ? inner.unwrap() : inner;
    return [key, unwrapped instanceof z.ZodObject ? Object.keys(unwrapped.shape).map((name) => [name, []]) : []];
  });
  assert.deepEqual(keysOfSchema(shipped), decoder);
});

test('it accepts and rejects what the decoder does', () => {
  const cases: readonly [unknown, boolean][] = [
    [{}, true],
    [[], false],
    [null, false],
    [{ tracker: {} }, true],
    [{ tracker: null }, false],
    [{ tracker: { kind: 'github', repo: 'o/r', api_url: 'https://host/api', token: '$MY_TOKEN' } }, true],
    [{ tracker: { kind: 'gitlab' } }, false],
    [{ tracker: { repo: '' } }, false],
    [{ tracker: { api_url: 'no address' } }, false],
    [{ tracker: { token: 'ghp_0123456789' } }, false],
    [{ tracker: { active_states: 'go' } }, true],
    [{ tracker: { active_states: ['a', 'b'] } }, true],
    [{ tracker: { active_states: [] } }, false],
    [{ tracker: { active_states: [''] } }, false],
    [{ tracker: { trust: 'anyone', draft: true } }, true],
    [{ tracker: { draft: 'yes' } }, false],
    [{ tracker: { repositories: 'o/*' } }, true],
    [{ tracker: { repositories: [] } }, false],
    [{ active_states: ['a'] }, true],
    [{ agent: { worker_labels: ['a', 'b'] } }, true],
    [{ agent: { worker_labels: [...'abcdefghi'] } }, false],
    [{ active_states: 7 }, false],
    [{ polling: { interval_ms: 100 } }, true],
    [{ polling: { interval_ms: 99 } }, false],
    [{ polling: { interval_ms: 100.5 } }, false],
    [{ polling: { interval_ms: '100' } }, false],
    [{ polling: { interval: 100 } }, false],
    [{ hooks: { after_create: null, before_run: 'npm ci', after_run: '' } }, true],
    [{ hooks: { before_run: ['npm', 'ci'] } }, false],
    [{ hooks: { timeout_ms: 0 } }, false],
    [{ state: { dir: '~/state' } }, true],
    [{ state: { dir: null } }, false],
    [{ workspace: { root: '/w', keep: false } }, true],
    [{ workspace: { root: '' } }, false],
    [{ agent: { max_concurrent_agents: 1000, max_cost_usd: 0.5, max_cost_usd_per_day: null } }, true],
    [{ agent: { max_concurrent_agents: 1001 } }, false],
    [{ agent: { max_attempts: 0 } }, false],
    [{ agent: { max_retry_backoff_ms: 0 } }, true],
    [{ agent: { max_cost_usd: 0 } }, false],
    [{ agent: { max_turns: 1e300 } }, false],
    [{ tool: { runtime: 'patch', command: 'npm test', agent: null, mode: 'agent', stall_timeout_ms: 0 } }, true],
    [{ tool: { command: ['node', 'agent.mjs'] } }, true],
    [{ tool: { command: null } }, true],
    [{ tool: { command: [] } }, false],
    [{ tool: { command: '' } }, false],
    [{ tool: { runtime: 'robot' } }, false],
    [{ tool: { mode: 'team' } }, true],
    [{ tool: { mode: 'crowd' } }, false],
    [{ tool: { turn_timeout_ms: 0 } }, false],
    [{ tool: { permission_mode: 'plan', isolation: 'required', env: ['A_1'], allowed_tools: [] } }, true],
    [{ tool: { permission_mode: 'yolo' } }, false],
    [{ tool: { env: ['A-B'] } }, false],
    [{ tool: { allowed_tools: [''] } }, false],
    [{ server: { port: 0, host: '0.0.0.0', allowed_hosts: ['box'], token: '$TOKEN' } }, true],
    [{ server: { port: 65_536 } }, false],
    [{ sever: {} }, false],
  ];
  for (const [document, accepted] of cases) {
    assert.equal(workflowSchema.safeParse(document).success, accepted, `the decoder: ${JSON.stringify(document)}`);
    assert.equal(editor.safeParse(document).success, accepted, `the schema: ${JSON.stringify(document)}`);
  }
});

test('what no schema can say is left to the decoder', () => {
  for (const document of [
    { tracker: { repo: 'no slug' } },
    { tracker: { api_url: 'ftp://host' } },
    { tool: { env: ['GITHUB_TOKEN'] } },
  ]) {
    assert.equal(editor.safeParse(document).success, true);
    assert.equal(workflowSchema.safeParse(document).success, false);
  }
});
