// Unit, compose file and Kubernetes manifests of a fleet, read against the command, the metrics and the types of their kinds.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import type { HorizontalPodAutoscaler } from 'kubernetes-types/autoscaling/v2.js';
import type { PersistentVolumeClaim, PodSpec, Service } from 'kubernetes-types/core/v1.js';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.js';
import ts from 'typescript';
import { parse, parseAllDocuments } from 'yaml';
import { parseWorkflow } from '../../src/daemon/config/read-workflow.ts';
import { renderMetrics } from '../../src/web/metrics.ts';
import { CLI } from '../support/daemon.ts';
import { fencesOf } from '../support/pages.ts';
import { viewWith } from '../support/view.ts';

const UNIT = readFileSync('deploy/toolcrew-worker.service', 'utf8');
const COMPOSE = parse(readFileSync('deploy/compose.yaml', 'utf8'));
const FLEET = parse(readFileSync('deploy/compose.fleet.yaml', 'utf8'));
const POSTGRES = readFileSync('deploy/compose.postgres.yaml', 'utf8');
const DIRECTORY = 'deploy/kubernetes';

type Manifest = Deployment | HorizontalPodAutoscaler | PersistentVolumeClaim | PodDisruptionBudget | Service;

/** Module and type of each kind. */
const KINDS: Readonly<Record<string, readonly [string, string]>> = {
  'apps/v1 Deployment': ['apps/v1', 'Deployment'],
  'autoscaling/v2 HorizontalPodAutoscaler': ['autoscaling/v2', 'HorizontalPodAutoscaler'],
  'policy/v1 PodDisruptionBudget': ['policy/v1', 'PodDisruptionBudget'],
  'v1 PersistentVolumeClaim': ['core/v1', 'PersistentVolumeClaim'],
  'v1 Service': ['core/v1', 'Service'],
};

function manifests(): readonly Manifest[] {
  return readdirSync(DIRECTORY).flatMap((name) =>
    parseAllDocuments(readFileSync(join(DIRECTORY, name), 'utf8')).map((document): Manifest => {
      assert.deepEqual(document.errors, []);
      return document.toJS();
    }),
  );
}

function deploymentOf(name: string): { readonly deployment: Deployment; readonly pod: PodSpec } {
  const found = manifests().find(({ kind, metadata }) => kind === 'Deployment' && metadata?.name === name);
  assert.ok(found?.kind === 'Deployment');
  const { template } = found.spec ?? assert.fail(name);
  return { deployment: found, pod: template.spec ?? assert.fail(name) };
}

/** What the compiler says of manifests as values of their types: unknown and missing fields, and values of a wrong type. */
function problemsOf(checked: readonly Manifest[]): readonly string[] {
  const lines = checked.map((manifest, index) => {
    const [module, type] = KINDS[`${manifest.apiVersion} ${manifest.kind}`] ?? assert.fail(JSON.stringify(manifest));
    return `export const m${index}: import('kubernetes-types/${module}.js').${type} = ${JSON.stringify(manifest)};`;
  });
  const path = resolve('manifests.ts');
  const options: ts.CompilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: [], target: ts.ScriptTarget.ES2022 },
    ...{ module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, lib: ['lib.es2022.d.ts'] },
  };
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, version, ...more) =>
    name === path ? ts.createSourceFile(name, lines.join('\n'), version) : read(name, version, ...more);
  const program = ts.createProgram([path], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

/** Changes a copy of the manifests as text, for what the check has to find. */
function changed(from: string, to: string): readonly Manifest[] {
  const text = JSON.stringify(manifests());
  assert.ok(text.includes(from), from);
  return JSON.parse(text.replace(from, to));
}

/** The flags that words have, each known to the command. */
function assertFlags(words: readonly string[]): void {
  const [command = '', ...rest] = words;
  const { stdout } = execaSync(process.execPath, [CLI, command, '--help']);
  const flags = rest.filter((word) => word.startsWith('--'));
  for (const flag of flags) assert.match(stdout, new RegExp(`^ +${flag} `, 'm'), flag);
}

function valueAfter(words: readonly string[], flag: string): string {
  return words[words.indexOf(flag) + 1] ?? '';
}

test('each manifest is of its kind; a key that is misspelt, missing or of another type is found', () => {
  assert.equal(manifests().length, 6);
  assert.deepEqual(problemsOf(manifests()), []);
  for (const [from, to, problem] of [
    ['"hostUsers"', '"hostUser"', /hostUser/],
    ['"replicas":1', '"replicas":"1"', /'string' is not assignable to type 'number'/],
    ['"selector":{"matchLabels":{"app":"toolcrew"}},', '', /'selector' is missing/],
    ['"averageValue":"2"', '"averageValue":2', /'number' is not assignable to type 'string'/],
  ] as const)
    assert.match(problemsOf(changed(from, to)).join('\n'), problem);
});

test('names in manifests lead to each other, and each Pod has its secrets and no more', () => {
  for (const name of ['toolcrew', 'toolcrew-worker']) {
    const { deployment, pod } = deploymentOf(name);
    assert.deepEqual(deployment.spec?.selector.matchLabels, deployment.spec?.template.metadata?.labels);
    assert.equal(pod.automountServiceAccountToken, false);
    assert.equal(pod.securityContext?.runAsNonRoot, true);
    const [container] = pod.containers;
    assert.deepEqual(container?.securityContext?.capabilities?.drop, ['ALL']);
    const volumes = pod.volumes?.map((volume) => volume.name);
    for (const mount of container?.volumeMounts ?? []) assert.ok(volumes?.includes(mount.name), mount.name);
    assertFlags(container?.args ?? []);
  }
  const secretsOf = (name: string) =>
    deploymentOf(name).pod.volumes?.flatMap(
      ({ projected }) => projected?.sources?.map(({ secret }) => secret?.name) ?? [],
    );
  assert.deepEqual(secretsOf('toolcrew'), ['toolcrew-coordinator', 'toolcrew-fleet']);
  assert.deepEqual(secretsOf('toolcrew-worker'), ['toolcrew-fleet', 'toolcrew-model']);
  const { deployment, pod } = deploymentOf('toolcrew');
  assert.equal(deployment.spec?.strategy?.type, 'Recreate');
  const service = manifests().find(({ kind }) => kind === 'Service');
  assert.ok(service?.kind === 'Service');
  const ports = pod.containers[0]?.ports?.map(({ name }) => name);
  assert.ok(service.spec?.ports?.every(({ targetPort }) => ports?.includes(String(targetPort))));
  assert.deepEqual(service.spec?.selector, deployment.spec?.template.metadata?.labels);
  const budget = manifests().find(({ kind }) => kind === 'PodDisruptionBudget');
  assert.ok(budget?.kind === 'PodDisruptionBudget');
  const { deployment: workers } = deploymentOf('toolcrew-worker');
  assert.deepEqual(budget.spec, { maxUnavailable: 1, selector: workers.spec?.selector });
});

test('workers are as many as the attempts need, by a metric that there is', async () => {
  const scaler = manifests().find(({ kind }) => kind === 'HorizontalPodAutoscaler');
  assert.ok(scaler?.kind === 'HorizontalPodAutoscaler' && 'scaleTargetRef' in (scaler.spec ?? {}));
  const { deployment, pod } = deploymentOf('toolcrew-worker');
  assert.equal(scaler.spec?.scaleTargetRef.name, deployment.metadata?.name);
  assert.equal(deployment.spec?.replicas, undefined);
  const [metric] = scaler.spec?.metrics ?? [];
  const queue = { waiting: 1, active: 2, problem: null };
  const { body } = await renderMetrics(viewWith({ queue, workers: [] }));
  assert.match(body, new RegExp(`^${metric?.external?.metric.name}\\{state="waiting"\\} 1$`, 'm'));
  assert.equal(metric?.external?.target.averageValue, valueAfter(pod.containers[0]?.args ?? [], '--slots'));
});

test('stopping: unit, container and Pod wait longer than a worker takes to hand its work back', () => {
  const text = readFileSync('src/cli/worker.ts', 'utf8');
  const returning = Number(/RETURN_MS = ([\d_]+)/.exec(text)?.[1]?.replaceAll('_', '')) / 1000;
  const { pod } = deploymentOf('toolcrew-worker');
  const args = pod.containers[0]?.args ?? [];
  assert.ok((pod.terminationGracePeriodSeconds ?? 0) >= Number(valueAfter(args, '--drain-seconds')) + returning);
  const { stdout } = execaSync(process.execPath, [CLI, 'worker', '--help']);
  const standard = Number(/--drain-seconds [\s\S]*?default: (\d+)/.exec(stdout)?.[1]);
  assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(UNIT)?.[1]) >= standard + returning);
  assert.equal(valueAfter(FLEET.services.worker.command, '--drain'), 'return');
  assert.ok(Number.parseInt(FLEET.services.worker.stop_grace_period, 10) > returning);
});

test('the unit of a worker has the bounds of the daemon, and a user and places of its own', () => {
  const words = /^ExecStart=\/usr\/local\/bin\/tool (.*)$/m.exec(UNIT)?.[1]?.split(' ') ?? [];
  assertFlags(words);
  const bounds = (unit: string) => /^NoNewPrivileges=[\s\S]*$/m.exec(unit)?.[0];
  assert.equal(bounds(UNIT), bounds(readFileSync('deploy/toolcrew.service', 'utf8')));
  assert.match(UNIT, /^User=toolcrew-worker$/m);
  assert.doesNotMatch(UNIT, /\/var\/lib\/toolcrew(?!-worker)/);
  assert.equal(valueAfter(words, '--root'), '/var/lib/toolcrew-worker/workspaces');
});

test('compose: workers have no credential of the hosting service, and each secret is a file', () => {
  const { toolcrew, worker, redis } = FLEET.services;
  assert.deepEqual(Object.keys(FLEET.services).sort(), ['redis', 'toolcrew', 'worker']);
  assert.ok(!worker.secrets.includes('GITHUB_TOKEN'));
  const known = { ...COMPOSE.secrets, ...FLEET.secrets };
  for (const name of [...toolcrew.secrets, ...worker.secrets, ...redis.secrets])
    assert.equal(known[name].file, `./secrets/${name}`);
  assertFlags(worker.command);
  assert.deepEqual(worker.security_opt, COMPOSE.services.toolcrew.security_opt);
  for (const service of [worker, redis]) assert.deepEqual([service.ports, service.privileged], [undefined, undefined]);
});

test('compose: PostgreSQL takes the place of Redis, and nothing else changes', () => {
  const { services, secrets, volumes } = parse(POSTGRES.replaceAll(/ !(override|reset)\b/g, ''));
  const needed = { depends_on: ['postgres'] };
  const { postgres, ...others } = services;
  assert.deepEqual(others, { toolcrew: needed, worker: needed, redis: null });
  // What was there is not added to.
  assert.equal(POSTGRES.match(/!override/g)?.length, 2);
  assert.equal(POSTGRES.match(/: !reset null$/gm)?.length, 2);
  assert.deepEqual(secrets, { POSTGRES_PASSWORD: { file: './secrets/POSTGRES_PASSWORD' }, REDIS_PASSWORD: null });
  assert.deepEqual([postgres.ports, postgres.privileged, volumes], [undefined, undefined, { postgres: {} }]);
  assert.equal(postgres.user, FLEET.services.redis.user);
});

test('the image has the packages of the queue, in the versions of the manifest', () => {
  const [, redis = ''] = /^ARG QUEUE="(.*)"$/m.exec(readFileSync('deploy/Dockerfile', 'utf8')) ?? [];
  const [, postgres = ''] = /--build-arg QUEUE="(.*)"/.exec(readFileSync('docs/operations.md', 'utf8')) ?? [];
  assert.deepEqual([redis, postgres], ['bullmq@6.7 ioredis@5', 'bullmq@6.7 pg@8']);
  const { peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const wanted of `${redis} ${postgres}`.split(' ')) {
    const [name = '', version = ''] = wanted.split('@');
    assert.ok(peerDependencies[name].startsWith(`^${version}.`), wanted);
  }
});

test('the settings that the page shows for a fleet are valid', () => {
  const fence = fencesOf('docs/operations.md').find(
    ({ language, text }) => language === 'yaml' && text.includes('queue:'),
  );
  const workflow = parseWorkflow(
    `---\ntracker: { repo: o/r }\n${fence?.text}\n---\nDo it.`,
    '/etc/toolcrew/WORKFLOW.md',
    {
      env: {
        TOOL_QUEUE_URL: 'redis://:secret@redis:6379',
        TOOL_FLEET_KEY: 'a-key-of-sixteen-or-more',
        TOOL_SERVER_TOKEN: 't',
      },
      remote: null,
    },
  );
  assert.equal(workflow.queue?.address, 'http://toolcrew:8888');
  assert.ok(workflow.server.allowedHosts.includes('toolcrew'));
  for (const path of ['deploy/compose.fleet.yaml', 'deploy/toolcrew-worker.service', DIRECTORY])
    assert.ok(existsSync(path) && readFileSync('docs/operations.md', 'utf8').includes(path), path);
});
