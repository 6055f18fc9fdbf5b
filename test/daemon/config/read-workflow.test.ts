// Over 400 lines: one file format, key by key.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parseFrontMatter, readFrontMatterLoosely } from '../../../src/base/config/front-matter.ts';
import { BASE_CODES } from '../../../src/base/rules/base-codes.ts';
import { refusal, textOf } from '../../../src/base/rules/codes.ts';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { parseWorkflow, readWorkflow } from '../../../src/daemon/config/read-workflow.ts';
import type { WorkflowSource } from '../../../src/daemon/config/state-place.ts';
import { workflowJsonSchema } from '../../../src/daemon/config/workflow-schema.ts';
import { CONFIG_CODES } from '../../../src/daemon/rules/codes/config-codes.ts';
import { parseRemoteUrl, type Remote } from '../../../src/git/rules/repository.ts';
import { isOf, wordsOf } from '../../support/codes.ts';
import { tempDir } from '../../support/temp.ts';

const NONE: Remote = { kind: 'none', says: 'has no Git remote to read it from' };
const context = (env: Record<string, string> = {}) => ({ env: { HOME: '/home/me', ...env }, remote: NONE });
const source = (): WorkflowSource => ({ env: context().env, detectRemote: async () => NONE });

function parse(yaml: string, env: Record<string, string> = {}, prompt = 'Do it.') {
  return parseWorkflow(`---\n${yaml}\n---\n${prompt}`, '/project/WORKFLOW.md', context(env));
}

/** A problem without its last full stop. */
function plain(line: string): string {
  return line.trim().replace(/\.$/, '');
}

const unknownKey = (key: string, more: { readonly near: string } | { readonly known: readonly string[] }) =>
  plain(wordsOf(BASE_CODES.config_unknown_key, { key, ...more }));

/** The problems that reading a file names, each without its last full stop. */
function problems(yaml: string, env: Record<string, string> = {}, prompt = 'Do it.'): string[] {
  try {
    parse(yaml, env, prompt);
  } catch (error) {
    assert.ok(error instanceof ToolError && error.kind === 'config', String(error));
    return error.message.split('\n').slice(1).map(plain);
  }
  return [];
}

const REPO = 'tracker: { repo: o/r }';

test('with nothing but the repository, every default holds', () => {
  const workflow = parse(REPO);
  assert.deepEqual(workflow, {
    path: '/project/WORKFLOW.md',
    tracker: {
      kind: 'github',
      slug: { owner: 'o', repo: 'r' },
      repositories: null,
      topic: null,
      apiUrl: 'https://api.github.com',
      tokenVariable: null,
      app: null,
      caFile: null,
      trust: 'write',
      draft: false,
      questionLabel: 'tool-question',
    },
    labels: { active: ['tool-todo'], done: 'tool-done', failed: 'tool-failed' },
    fromRepository: { settings: [], hooks: false },
    polling: { intervalMs: 30_000 },
    workspace: {
      root: '/tmp/tool-harness-test',
      keep: false,
      savedKeepDays: 30,
      branchPrefix: 'tool/',
      submodules: true,
      cloneTimeoutMs: 600_000,
      cloneDepth: null,
    },
    hooks: { afterCreate: null, beforeRun: null, afterRun: null, beforeRemove: null, timeoutMs: 300_000 },
    stateDir: '/home/me/.local/state/toolcrew/github.com/o/r',
    agent: {
      maxConcurrent: 1,
      maxAttempts: 3,
      maxTurns: 20,
      maxRetryBackoffMs: 300_000,
      maxCostUsd: null,
      maxCostPerDayUsd: null,
      perRepository: { maxConcurrent: null, maxCostPerDayUsd: null },
      onQuota: 'wait',
      priorityLabels: [],
      serializePaths: [],
      workerLabels: [],
    },
    tool: {
      runtime: 'claude',
      command: ['claude'],
      agent: null,
      stallTimeoutMs: 600_000,
      turnTimeoutMs: 3_600_000,
      startTimeoutMs: 120_000,
      mode: 'agent',
      permissionMode: 'acceptEdits',
      isolation: 'auto',
      allowedTools: ['Bash', 'Edit', 'Write', 'NotebookEdit', 'Read', 'Glob', 'Grep', 'TodoWrite', 'Task', 'Agent'],
      env: [],
    },
    gate: { mode: 'report', timeoutMs: 600_000, maxRounds: 3 },
    review: { agent: null },
    follow: { until: 'open', maxRounds: 3, answerTimeoutMs: 1_209_600_000 },
    notify: { command: null, webhook: null },
    queue: null,
    telemetry: { traces: false },
    server: {
      port: 8888,
      host: '127.0.0.1',
      allowedHosts: ['localhost', '127.0.0.1', '[::1]'],
      token: null,
      webhookSecret: null,
    },
    prompt: 'Do it.',
  });
  assert.ok(Object.isFrozen(workflow));
});

test('paths: ~, $VAR, relative to the file, XDG_STATE_HOME', () => {
  assert.equal(parse(`${REPO}\nworkspace: { root: ~/w }`).workspace.root, '/home/me/w');
  assert.equal(parse(`${REPO}\nworkspace: { root: ./w }`).workspace.root, '/project/w');
  assert.equal(parse(`${REPO}\nworkspace: { root: $BASE/w }`, { BASE: '/b' }).workspace.root, '/b/w');
  assert.equal(parse(`${REPO}\nstate: { dir: "\${BASE}/s" }`, { BASE: '/b' }).stateDir, '/b/s');
  assert.equal(parse(REPO, { XDG_STATE_HOME: '/x' }).stateDir, '/x/toolcrew/github.com/o/r');
  assert.equal(
    parse('tracker: { repo: o/r, api_url: "https://git.example.com:8443/api/v3/" }').stateDir,
    '/home/me/.local/state/toolcrew/git.example.com_8443/o/r',
  );
  assert.deepEqual(problems(`${REPO}\nworkspace: { root: $NOWHERE/w }`), [
    'workspace.root: $NOWHERE in $NOWHERE/w is not set. Set it in the environment of the daemon',
  ]);
});

test('the agent that leads: the one of the file, jarvis where .claude/ stands beside it, else none', (t) => {
  const directory = tempDir(t);
  const agentOf = (yaml: string) =>
    parseWorkflow(`---\n${REPO}\n${yaml}\n---\nx`, join(directory, 'WORKFLOW.md'), context()).tool.agent;
  assert.equal(agentOf(''), null);
  assert.equal(agentOf('tool: { agent: jarvis }'), 'jarvis');
  mkdirSync(join(directory, '.claude'));
  assert.equal(agentOf(''), 'jarvis');
  assert.equal(agentOf('tool: { agent: null }'), null);
  assert.equal(agentOf('tool: { agent: other }'), 'other');
});

test('the server answers to the address it listens on', () => {
  const names = (server: string) => parse(`${REPO}\nserver: ${server}`).server.allowedHosts.slice(3);
  assert.deepEqual(names('{ host: 192.168.1.5, token: x }'), ['192.168.1.5']);
  assert.deepEqual(names('{ host: "fd00::5", token: x, allowed_hosts: [status.example.com] }'), [
    '[fd00::5]',
    'status.example.com',
  ]);
  assert.deepEqual(names('{ host: 0.0.0.0, token: x }'), []);
});

test('priority labels: one or several, each once, and none that says where an issue stands', () => {
  const listed = (value: string) => `tracker: { repo: o/r }\nagent: { priority_labels: ${value} }`;
  assert.deepEqual(parse(listed('urgent')).agent.priorityLabels, ['urgent']);
  assert.deepEqual(parse(listed('[p1, p2]')).agent.priorityLabels, ['p1', 'p2']);
  assert.deepEqual(parse(listed('[]')).agent.priorityLabels, []);
  assert.deepEqual(problems(listed('["a, b", p1, P1, TOOL-DONE, tool-todo]')), [
    'agent.priority_labels: expected labels without a comma (one item for each label), got "a, b"',
    'agent.priority_labels: expected each label once, got "P1"',
    'agent.priority_labels: expected labels that are no state of an issue, got "TOOL-DONE"',
    'agent.priority_labels: expected labels that are no state of an issue, got "tool-todo"',
  ]);
});

test('serialized paths: globs or directories from the root of the repository', () => {
  const listed = (value: string) => `tracker: { repo: o/r }\nagent: { serialize_paths: ${value} }`;
  assert.deepEqual(parse(listed('go.sum')).agent.serializePaths, ['go.sum']);
  const globs = ['db/migrations/', '**/*.{sql,ddl}', '.github/**'];
  assert.deepEqual(parse(listed(JSON.stringify(globs))).agent.serializePaths, globs);
  assert.deepEqual(parse(listed('[]')).agent.serializePaths, []);
  for (const wrong of ['/db/**', './db/**', '!db/**', '../db', ' db', 'db/{a', '']) {
    const [found = '', ...more] = problems(listed(JSON.stringify([wrong])));
    assert.match(found, /^agent\.serialize_paths\.0: expected (something|a glob)/, wrong);
    assert.deepEqual(more, []);
  }
});

test('the question label says nothing else', () => {
  const named = (label: string) => `tracker: { repo: o/r, question_label: ${label} }`;
  assert.equal(parse(named('ask')).tracker.questionLabel, 'ask');
  assert.deepEqual(problems(named('Tool-Done')), [
    'tracker.question_label: expected a label that is no state of an issue, got "Tool-Done"',
  ]);
});

test('active labels: nested or at the top level, one or several, never both', () => {
  assert.deepEqual(parse('tracker: { repo: o/r, active_states: go }').labels.active, ['go']);
  assert.deepEqual(parse(`${REPO}\nactive_states: [a, b]`).labels.active, ['a', 'b']);
  const [comma, ...others] = problems(`${REPO}\nactive_states: ["a, b", c]`);
  assert.match(comma ?? '', /^active_states: expected labels without a comma .*, got "a, b"/);
  assert.deepEqual(others, []);
  assert.deepEqual(problems('tracker: { repo: o/r, active_states: [a] }\nactive_states: [b]'), [
    'active_states: expected one such key, got it at the top level and in tracker as well',
  ]);
});

/** Reads a file without a repository, beside a remote that is given. */
function beside(remote: Remote, tracker = '{}') {
  const text = `---\ntracker: ${tracker}\n---\n`;
  return parseWorkflow(text, '/project/WORKFLOW.md', { env: {}, remote });
}

function remoteAt(url: string): Remote {
  const found = parseRemoteUrl(url);
  return found === undefined ? { kind: 'none', says: 'has none' } : { kind: 'repository', ...found };
}

test('a slug is detected when the file names none', () => {
  const detected = beside(remoteAt('git@github.com:a/b.git'));
  assert.deepEqual(detected.tracker.slug, { owner: 'a', repo: 'b' });
  assert.match(detected.prompt, /issue\.body \| fence/, 'an empty prompt is the built-in one');
  assert.throws(() => beside({ kind: 'none', says: 'has the Git remote origin at /srv/x' }), {
    message: /tracker\.repo: .* got nothing, and \/project has the Git remote origin at \/srv\/x\.$/,
  });
});

test('a remote of another host than the API’s is no answer, unless the file names the repository', () => {
  const elsewhere = refusal(CONFIG_CODES.tracker_repo_other_host, {
    key: 'tracker.repo',
    host: 'github.com',
    directory: '/project',
    remote: 'gitlab.com',
    api_url: 'https://gitlab.com/api/v3',
  });
  assert.throws(
    () => beside(remoteAt('https://gitlab.com/o/r.git')),
    (error) => error instanceof ToolError && error.message.endsWith(textOf(elsewhere)),
  );
  assert.throws(() => beside(remoteAt('git@github.com:o/r.git'), '{ api_url: "https://git.example.com/api/v3" }'), {
    message: /expected a repository of git\.example\.com .* one of github\.com\. .* to https:\/\/api\.github\.com\.$/,
  });
  assert.deepEqual(beside(remoteAt('https://gitlab.com/o/r.git'), '{ repo: a/b }').tracker.slug, {
    owner: 'a',
    repo: 'b',
  });
  const fitting: readonly [string, string][] = [
    ['ssh://git@git.example.com:2222/o/r.git', 'https://git.example.com/api/v3'],
    ['https://team.ghe.com/o/r', 'https://api.team.ghe.com'],
    ['git@ssh.github.com:o/r.git', 'https://api.github.com'],
    ['http://localhost:3000/o/r.git', 'http://127.0.0.1:4000'],
  ];
  for (const [remote, api] of fitting)
    assert.deepEqual(beside(remoteAt(remote), `{ api_url: "${api}" }`).tracker.slug, { owner: 'o', repo: 'r' }, remote);
});

test('every problem is named at once: path, what was expected, what came, the nearest key', () => {
  const yaml = `
tracker:
  repo: not a slug
  api_url: ftp://x
  token: ghp_secret
  trsut: write
  done_label: tool-todo
polling: { interval_ms: fast }
workspace: { root: $NOWHERE, branch_prefix: /tool }
agent: { max_concurent_agents: 2, max_attempts: 0 }
tool: { runtime: cluade, mode: teem, env: [PATH, GH_TOKEN], permission_mode: yolo, stall_timeout_ms: 1.5 }
server: { port: 99999, host: 0.0.0.0 }
hook: {}
`;
  const expected = [
    'tracker.repo: expected a slug <owner>/<repo>, got "not a slug"',
    'tracker.api_url: expected an http(s) address, got "ftp://x"',
    'tracker.token: expected the name of an environment variable, like $MY_TOKEN (a token itself must not stand in a file), got "ghp_secret"',
    unknownKey('tracker.trsut', { near: 'tracker.trust' }),
    'polling.interval_ms: expected a number, got "fast"',
    'workspace.branch_prefix: expected the beginning of a branch name that git accepts, like tool/, got "/tool"',
    'agent.max_attempts: expected a number of at least 1, got 0',
    unknownKey('agent.max_concurent_agents', { near: 'agent.max_concurrent_agents' }),
    wordsOf(BASE_CODES.config_value, {
      ...{ key: 'tool.runtime', expected: 'one of claude, command, patch', got: '"cluade"' },
      near: 'claude',
    }),
    wordsOf(BASE_CODES.config_value, {
      ...{ key: 'tool.mode', expected: 'one of agent, team, auto', got: '"teem"' },
      near: 'team',
    }),
    'tool.stall_timeout_ms: expected a whole number, got 1.5',
    'tool.permission_mode: expected one of default, acceptEdits, plan, dontAsk, bypassPermissions, auto, got "yolo"',
    'tool.env.1: expected a variable without a hosting credential: an agent never gets one, got "GH_TOKEN"',
    'server.port: expected a number of at most 65535, got 99999',
    unknownKey('hook', { near: 'hooks' }),
    'workspace.root: $NOWHERE in $NOWHERE is not set. Set it in the environment of the daemon',
    'server.token: expected a token, got nothing, while server.host "0.0.0.0" can be reached from other machines',
    'tracker.done_label: expected a label that is not an active one, got "tool-todo"',
  ];
  assert.deepEqual(problems(yaml).sort(), expected.sort());
});

test('rules across keys', () => {
  const cases: readonly [string, string[]][] = [
    [
      'tracker: { repo: o/r, done_label: x, failed_label: X }',
      ['tracker.failed_label: expected another label than tracker.done_label, got "X" for both'],
    ],
    [
      `${REPO}\ntool: { runtime: command }`,
      ['tool.command: expected the program to run, got nothing (tool.runtime is command)'],
    ],
    [
      `${REPO}\ntool: { runtime: patch }\nreview: { agent: reviewer }`,
      ['review.agent: expected nothing, since the runtime patch reads no prompt, got "reviewer"'],
    ],
    [`${REPO}\nreview: { agent: ../mine }`, ['review.agent: expected the name of an agent, got "../mine"']],
    [
      `${REPO}\ntool: { runtime: patch, mode: auto }`,
      ['tool.mode: expected agent, got auto (tool.runtime is patch, which plays no teammate)'],
    ],
    [`${REPO}\nserver: { token: $T }`, ['server.token: $T is not set. Set it in the environment of the daemon']],
    [
      `${REPO}\nserver: { webhook_secret: $T }`,
      ['server.webhook_secret: $T is not set. Set it in the environment of the daemon'],
    ],
    [
      'tracker: { repo: o/r, app_id: 7 }',
      ['tracker.private_key: expected the key of the App of tracker.app_id, got nothing'],
    ],
    [
      'tracker: { repo: o/r, private_key: $K }',
      ['tracker.app_id: expected the id of the App of tracker.private_key, got nothing'],
    ],
    [
      'tracker: { repo: o/r, app_id: 7, private_key: $K, token: $T }',
      ['tracker.token: expected nothing beside an App, got "$T"'],
    ],
    [
      `${REPO}\nserver: { webhook_secret: s, port: 0 }`,
      ['server.port: expected the port of a status server, which server.webhook_secret needs, got 0'],
    ],
    [
      '{}',
      ['tracker.repo: expected a slug <owner>/<repo>, got nothing, and /project has no Git remote to read it from'],
    ],
    [`${REPO}\nagent: []`, ['agent: expected a map of keys, got []']],
    [`${REPO}\ntool: { command: [] }`, ['tool.command: expected something, not an empty one, got []']],
    [`${REPO}\nport: 80`, [unknownKey('port', { near: 'server.port' })]],
    [
      `${REPO}\nworkspace: { repo: o/r }`,
      [
        unknownKey('workspace.repo', {
          known: ['root', 'keep', 'saved_keep_days', 'branch_prefix', 'submodules', 'clone_timeout_ms', 'clone_depth'],
        }),
      ],
    ],
    ['- a\n- b', ['front matter: expected a map of keys, got ["a","b"]']],
  ];
  for (const [yaml, expected] of cases) assert.deepEqual(problems(yaml), expected, yaml);
  assert.equal(parse(`${REPO}\nserver: { token: $T }`, { T: 'secret' }).server.token, 'secret');
  const app = (keys: string) => parse(`tracker: { repo: o/r, ${keys} }`).tracker.app;
  assert.deepEqual(app('app_id: 7, private_key: $K'), { id: '7', key: { kind: 'variable', name: 'K' } });
  assert.deepEqual(app('app_id: Iv1.a, private_key: app.pem'), {
    id: 'Iv1.a',
    key: { kind: 'file', path: '/project/app.pem' },
  });
  assert.match(
    problems('tracker: { repo: o/r, app_id: 7, private_key: "-----BEGIN PRIVATE KEY-----" }').join(),
    /^tracker\.private_key: expected a path, or \$NAME/,
  );
  assert.match(problems('tracker: { repo: o/r, app_id: x, private_key: $K }').join(), /^tracker\.app_id: expected/);
  assert.equal(parse(`${REPO}\nserver: { webhook_secret: $T }`, { T: 'secret' }).server.webhookSecret, 'secret');
  assert.match(problems(`${REPO}\nserver: { webhook_secret: "" }`).join(), /^server\.webhook_secret: expected/);
  assert.deepEqual(problems(`${REPO}\nserver: { host: 0.0.0.0, token: x }`), []);
});

test('notify.webhook is an address or a variable that holds one, and no message repeats it', () => {
  const webhook = (value: string, env: Record<string, string> = {}) =>
    parse(`${REPO}\nnotify: { webhook: ${value} }`, env).notify.webhook;
  assert.equal(webhook('https://host/secret'), 'https://host/secret');
  assert.equal(webhook('$HOOK', { HOOK: 'http://host/secret' }), 'http://host/secret');
  for (const wrong of ['ftp://host/secret', 'secret', 'https://me:secret@host/'])
    assert.deepEqual(problems(`${REPO}\nnotify: { webhook: $HOOK }`, { HOOK: wrong }), [
      'notify.webhook: expected an http(s) address without a user, got another text',
    ]);
  assert.equal(problems(`${REPO}\nnotify: { webhook: $HOOK }`).length, 1);
  assert.equal(problems(`${REPO}\nnotify: { webhook: host }`).length, 1);
});

test('a template is strict: an unknown variable or filter is a problem of the file', () => {
  const unknown = '{{ isue.title }} {{ issue.titel }}\n{{ x | shout }} {% if y %}{{ issue.url | inlne }}{% endif %}';
  const known = ['issue', 'attempt', 'repo', 'workspace'];
  const expected = [
    { line: 4, column: 4, said: 'unknown variable isue.title', near: 'issue.title' },
    { line: 4, column: 21, said: 'unknown variable issue.titel', near: 'issue.title' },
    { line: 5, column: 1, said: 'unknown filter shout', near: 'sort' },
    { line: 5, column: 4, said: 'unknown variable x', known },
    { line: 5, column: 23, said: 'unknown variable y', known },
    { line: 5, column: 27, said: 'unknown filter inlne', near: 'inline' },
  ].map((values) => plain(wordsOf(CONFIG_CODES.template_invalid, { key: 'prompt', ...values })));
  assert.deepEqual(problems(REPO, {}, unknown), expected);
  const single: readonly [string, RegExp][] = [
    ['\n{% if %}a{% endif %}', /^prompt: line 5, column 6: \{% if %\}: invalid value expression: ""$/],
    ['{% include "x" %}', /^prompt: line 4, column 1: \{% include "x" %\}: /],
    ['{% for %}', /^prompt: line 4, column \d+: .*\{% for %\}/],
    ['{{ issue.labels.nothing }}', /^prompt: line 4, column 4: .*undefined variable: issue\.labels\.nothing$/],
    ['{% if issue.url %}', /^prompt: line 4, column 1: tag \{% if issue\.url %\} not closed$/],
  ];
  for (const [prompt, words] of single) {
    const [first = '', ...more] = problems(REPO, {}, prompt);
    assert.match(first, words);
    assert.deepEqual(more, []);
  }
});

test('front matter is YAML and nothing else; nothing in it is evaluated', () => {
  assert.throws(
    () => parseFrontMatter('---js\n({ a: (globalThis.pwned = true) })\n---\n', 'F'),
    /front matter in js is not read/,
  );
  assert.throws(() => parseFrontMatter('---json\n{}\n---\n', 'F'), /front matter in json is not read/);
  assert.equal(Reflect.get(globalThis, 'pwned'), undefined);
  assert.throws(() => parseFrontMatter('---\na: 1\na: 2\n---\n', 'F'), /F: .*unique at line 3, column 1/s);
  assert.throws(() => parseFrontMatter('---\na: [\n---\n', 'F'), /F: /);
  assert.throws(() => parseFrontMatter('---\na: 1\n', 'F'), isOf(BASE_CODES.front_matter_open, { file: 'F' }));
  assert.throws(() => parseFrontMatter('---\na: !!js/function "x"\n---\n', 'F'), /F: /);
  assert.deepEqual(parseFrontMatter('\uFEFF---\r\na: 1\r\n---\r\ntext\r\n', 'F'), {
    data: { a: 1 },
    content: 'text\n',
    line: 4,
  });
  assert.deepEqual(parseFrontMatter('no front matter', 'F'), { data: undefined, content: 'no front matter', line: 1 });
  assert.deepEqual(parseFrontMatter('---\n---\nx', 'F'), { data: {}, content: 'x', line: 3 });
  // gray-matter keeps what it parsed before; a second reading must not see the first one's changes.
  const first = parseFrontMatter('---\na: 1\n---\n', 'F').data;
  Object.assign(first ?? {}, { a: 2 });
  assert.deepEqual(parseFrontMatter('---\na: 1\n---\n', 'F').data, { a: 1 });
});

test('a text without front matter, and a file that is not there', async (t) => {
  assert.throws(
    () => parseWorkflow('just text', '/W', context()),
    /front matter: expected YAML between two lines of --- at the top, got none/,
  );
  const missing = join(tempDir(t), 'WORKFLOW.md');
  await assert.rejects(readWorkflow(missing, source()), isOf(CONFIG_CODES.workflow_missing, { path: missing }));
});

test('the shipped JSON Schema is the one of this code', () => {
  const shipped = JSON.parse(readFileSync('schemas/workflow.schema.json', 'utf8'));
  assert.deepEqual(shipped, JSON.parse(JSON.stringify(workflowJsonSchema())), 'run: npm run generate');
  assert.equal(shipped.properties.tracker.properties.done_label.default, 'tool-done');
  assert.equal(shipped.additionalProperties, false);
  assert.match(shipped.properties.tool.properties.stall_timeout_ms.description, /life sign/);
});

test('what is wrong with the YAML is one line with its place, counted from the start of the file', () => {
  const cases: readonly [string, RegExp][] = [
    ['a: 1\na: 2', /^\/project\/WORKFLOW\.md: Map keys must be unique at line 3, column 1$/],
    [
      'a: *b',
      /^\/project\/WORKFLOW\.md: \*b is an alias of nothing \(a text that begins with \* needs quotes\) at line 2, column 4$/,
    ],
    ['a: &b [*b]', /^\/project\/WORKFLOW\.md: \*b is an alias of what it stands in at line 2, column 8$/],
    ['- '.repeat(5000), /^\/project\/WORKFLOW\.md: expected at most 100 levels within each other, got more$/],
  ];
  for (const [yaml, message] of cases) assert.throws(() => parse(yaml), { name: 'ToolError', message });
});

test('what can be read of a broken file: what stands there, or nothing', () => {
  assert.deepEqual(readFrontMatterLoosely('---\nstate: { dir: /s }\nstate: [\n---\n'), { state: [] });
  for (const text of ['no front matter', '---\na: *b\n---\n', `---\n${'- '.repeat(5000)}\n---\n`])
    assert.equal(readFrontMatterLoosely(text) ?? undefined, undefined, text.slice(0, 20));
});
