// The section `queue` of WORKFLOW.md: what holds, and each mistake by its name.

import assert from 'node:assert/strict';
import test from 'node:test';
import { BASE_CODES } from '../../../src/base/rules/base-codes.ts';
import { parseWorkflow } from '../../../src/daemon/config/read-workflow.ts';
import type { Workflow } from '../../../src/daemon/rules/workflow.ts';
import { wordsLike } from '../../support/codes.ts';

const ENV = { FLEET_KEY: 'a-key-of-sixteen-or-more', QUEUE: 'rediss://user:secret@redis.example.org:6380/1' };

function parse(queue: string, more = '', env: Readonly<Record<string, string>> = ENV): Workflow {
  const text = `---\ntracker: { repo: o/r }\nqueue: ${queue}\n${more}\n---\nwork\n`;
  return parseWorkflow(text, '/project/WORKFLOW.md', { env, remote: null });
}

function problems(queue: string, more = '', env?: Readonly<Record<string, string>>): string {
  try {
    parse(queue, more, env);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

test('without an address there is no queue', () => {
  assert.equal(parse('{}').queue, null);
  assert.match(
    problems('{ key: $FLEET_KEY }'),
    /queue\.url: expected the address of the queue of queue\.key, got nothing/,
  );
});

test('address and key may come from variables, which are named so that no agent gets them', () => {
  const { queue } = parse('{ url: $QUEUE, key: $FLEET_KEY, address: "https://tool.example.org/" }');
  assert.deepEqual(queue, {
    url: ENV.QUEUE,
    key: ENV.FLEET_KEY,
    variables: ['QUEUE', 'FLEET_KEY'],
    address: 'https://tool.example.org',
    insecure: false,
    leaseMs: 30_000,
    maxBundleBytes: 1024 ** 3,
  });
  const written = parse('{ url: "redis://localhost:6379", key: $FLEET_KEY }').queue;
  assert.deepEqual([written?.url, written?.variables], ['redis://localhost:6379', ['FLEET_KEY']]);
  const address = 'postgres://db.example.org/fleet?sslmode=verify-full&sslrootcert=/etc/ca.pem';
  assert.equal(parse(`{ url: "${address}", key: $FLEET_KEY }`).queue?.url, address);
});

test('each mistake is named, and no secret repeated', () => {
  const key = 'key: $FLEET_KEY';
  const cases: readonly (readonly [string, RegExp, string?])[] = [
    [`{ url: "postgres://u:topsecret@h/db", ${key} }`, /queue\.url: expected \$NAME of an environment variable/],
    [
      `{ url: "postgres://h/db?password=topsecret", ${key} }`,
      /queue\.url: expected \$NAME.*other parameters than sslmode/s,
    ],
    [`{ url: "postgres:///db", ${key} }`, /queue\.url: expected an address .*, got an address without a host/],
    [
      `{ url: "http://host", ${key} }`,
      /queue\.url: expected an address like redis:\/\/host:6379 or .*, got the scheme http/,
    ],
    [`{ url: "host", ${key} }`, /queue\.url: expected an address .*, got a text without a scheme/],
    [`{ url: "redis://host:x", ${key} }`, /queue\.url: expected an address .*, got an address without a host/],
    [`{ url: "redis://u:topsecret@host", ${key} }`, /queue\.url: expected \$NAME of an environment variable/],
    [`{ url: $NOWHERE, ${key} }`, /queue\.url names \$NOWHERE|queue\.url: .*\$NOWHERE/],
    ['{ url: "redis://host" }', /queue\.key: expected \$NAME of the environment variable with the key/],
    ['{ url: "redis://host", key: abcdefghijklmnopqrst }', /queue\.key: expected the name of an environment variable/],
    [
      '{ url: "redis://host", key: $SHORT }',
      wordsLike(BASE_CODES.config_value, {
        key: 'queue.key',
        expected: 'a key of at least 16 characters',
        got: '5 characters',
      }),
    ],
    [
      `{ url: "redis://host", ${key}, address: "http://10.0.0.1:8888" }`,
      /queue\.address: expected https, or queue\.insecure: true/,
    ],
    [`{ url: "redis://host", ${key}, lease_ms: 10 }`, /queue\.lease_ms: expected/],
    [`{ url: "redis://host", ${key} }`, /server\.port: expected the port of a status server/, 'server: { port: 0 }'],
    [
      `{ url: "redis://host", ${key} }`,
      /hooks\.from_repository: expected false beside queue\.url/,
      'hooks: { from_repository: true }',
    ],
    [
      `{ url: "redis://host", ${key} }`,
      /workspace\.clone_depth: expected null beside queue\.url/,
      'workspace: { clone_depth: 5 }',
    ],
  ];
  for (const [queue, expected, more] of cases) {
    const found = problems(queue, more, { ...ENV, SHORT: 'short' });
    assert.match(found, expected, queue);
    assert.doesNotMatch(found, /topsecret/);
  }
  const insecure = `{ url: "redis://host", ${key}, address: "http://10.0.0.1:8888", insecure: true }`;
  assert.equal(problems(insecure), '');
});

test('labels of workers are words', () => {
  assert.deepEqual(parse('{}', 'agent: { worker_labels: [gpu, big] }').agent.workerLabels, ['gpu', 'big']);
  assert.match(
    problems('{}', 'agent: { worker_labels: ["two words"] }'),
    /agent\.worker_labels\.0: expected labels like gpu/,
  );
});
