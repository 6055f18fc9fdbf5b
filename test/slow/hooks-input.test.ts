import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { BASE_CODES } from '../../src/base/rules/base-codes.ts';
import { HOOK_CODES } from '../../src/claude-code/rules/hook-codes.ts';
import { LOG_CODES } from '../../src/team/rules/codes/log-codes.ts';
import { OPERATIONS_CODES } from '../../src/team/rules/codes/operations-codes.ts';
import { END, joined, lineLike, START, textLike, wordsLike } from '../support/codes.ts';
import { ENABLED, HookedProject, type HookRun, runProgram, TEAM } from '../support/hooked.ts';

const EVENTS: Readonly<Record<string, string>> = {
  'post-tool-use': 'PostToolUse',
  'pre-tool-use': 'PreToolUse',
  'session-start': 'SessionStart',
  stop: 'Stop',
  'subagent-start': 'SubagentStart',
  'subagent-stop': 'SubagentStop',
  'task-completed': 'TaskCompleted',
  'teammate-idle': 'TeammateIdle',
  'user-prompt-submit': 'UserPromptSubmit',
};
/** The reason where a log has a record of another program. */
const FOREIGN = joined(/.*/, wordsLike(BASE_CODES.record_foreign, { path: /\S*log\.jsonl/, offset: /\d+/ }), /.*/);

const HOOKS = Object.entries(EVENTS);

const OWN_WORDS = ['empty', 'another event'];

/** It lets go, and says in one line what was wrong. */
function letsGo(run: HookRun, says: RegExp): void {
  assert.equal(run.code, 0, run.stderr);
  assert.equal(run.stdout, '');
  assert.match(run.stderr, says);
  assert.equal(run.stderr.trimEnd().split('\n').length, 1, run.stderr);
  assert.ok(run.stderr.length < 400, `${run.stderr.length} characters`);
}

test('what every hook loads holds no table of codes, no pattern of Unicode classes, and little else', () => {
  const directory = join(process.cwd(), 'dist', 'hooks');
  const [shared = ''] = readdirSync(directory).filter((name) => /^common-\w+\.js$/.test(name));
  const text = readFileSync(join(directory, shared), 'utf8');
  for (const { code } of [BASE_CODES.state_unreadable, HOOK_CODES.hook_input_invalid])
    assert.ok(!text.includes(code), code);
  assert.doesNotMatch(text, /\\p\{|\bperformance\b/);
  assert.ok(text.length < 12_000, `${text.length} characters`);
});

test('there is a script for every event, one file that they share, and the server', () => {
  const files = readdirSync(join(process.cwd(), 'dist', 'hooks')).filter((name) => name.endsWith('.js'));
  const [shared, ...others] = files.sort();
  assert.match(shared ?? '', /^common-\w+\.js$/);
  assert.deepEqual(others, [...HOOKS.map(([name]) => `${name}.js`), 'team-server.js'].sort());
});

for (const [name, event] of HOOKS) {
  test(`${event}: input that is none is said in one line, and lets go`, async (t) => {
    const project = new HookedProject(t);
    const begins = `^toolcrew: ${event}: `;
    const inputs: readonly [string, string | Buffer, string][] = [
      [
        'empty',
        '',
        `${begins}standard input: expected the JSON of a ${event} event, got ""\\. \\(hook_input_invalid\\)$`,
      ],
      ['no JSON', '{"hook', `${begins}standard input: expected the JSON of a ${event} event, got `],
      ['an array', '[1]', `${begins}standard input: expected an object, got \\[1\\]\\. \\(hook_input_invalid\\)$`],
      ['null', 'null', `${begins}standard input: expected an object, got null\\. \\(hook_input_invalid\\)$`],
      ['a text', '"x"', `${begins}standard input: expected an object, got "x"\\. \\(hook_input_invalid\\)$`],
      ['bytes', Buffer.concat([Buffer.from([0, 255, 27, 10]), randomBytes(4_000)]), `${begins}standard input: `],
      ['much that is no JSON', 'x\u001b[2J'.repeat(1_000_000), `${begins}standard input: expected the JSON`],
      [
        'an unknown event',
        JSON.stringify({ hook_event_name: 'Unheard\u001bOf' }),
        `${begins}hook_event_name: expected ${event}, got "Unheard.*", which is not known\\. \\(hook_input_invalid\\)$`,
      ],
      [
        'no name of an event',
        '{"hook_event_name":7}',
        `${begins}hook_event_name: expected ${event}, got 7, which is not known\\. \\(hook_input_invalid\\)$`,
      ],
      [
        'another event',
        `{"hook_event_name":"${event === 'Stop' ? 'SessionStart' : 'Stop'}"}`,
        `${begins}hook_event_name: expected ${event}, which this script is for, got .* \\(hook_input_invalid\\)$`,
      ],
    ];
    // All of them read it by the same code: one is given each, the others what their own names stand in.
    const given = name === 'pre-tool-use' ? inputs : inputs.filter(([what]) => OWN_WORDS.includes(what));
    for (const [, input, says] of given) letsGo(await project.raw(name, input), new RegExp(says, 'm'));
  });

  test(`${event}: fields of other types than expected do no harm`, async (t) => {
    const project = await new HookedProject(t).team('backend-dev');
    const odd = {
      session_id: 7,
      cwd: 0,
      tool_name: {},
      tool_input: 'x',
      tool_use_id: [],
      agent_id: {},
      agent_type: 1,
      prompt: null,
      task_id: {},
      teammate_name: [],
    };
    const run = await project.raw(name, JSON.stringify({ hook_event_name: event, ...odd }));
    assert.ok(run.code === 0 || run.code === 2, run.stderr);
    assert.doesNotMatch(run.stderr, /\n\s+at |TypeError/);
  });

  test(`${event}: a workflow.yaml that cannot be read is said in one line`, async (t) => {
    const project = new HookedProject(t);
    const fields = JSON.stringify(
      project.fields('team-lead', event, { prompt: '/tool:1-plan x --solo', tool_name: 'Read', task_id: '1' }),
    );
    project.write('.tool/config/workflow.yaml', 'workflow: [\n');
    const broken = await project.raw(name, fields, project.envOf('2.1.177'));
    assert.equal(broken.code, 0, broken.stderr);
    const needsIt = name === 'user-prompt-submit';
    if (needsIt) {
      assert.match(broken.stderr, /^toolcrew: .*workflow\.yaml.* \(settings_defaults_hold\)\n$/);
    } else assert.equal(broken.stderr, '');
  });

  test(`${event}: its own fault is said; it lets go, but the guard does not`, async (t) => {
    const project = await new HookedProject(t).team('backend-dev');
    await project.call('team-lead', 'SendMessage', { recipient: 'backend-dev', type: 'progress', content: 'x' });
    appendFileSync(
      join(project.root, '.tool', 'teams', TEAM, 'log.jsonl'),
      '\n{"type":"of another program","v":1,"id":"x","at":1}\n',
    );
    const who =
      name === 'session-start' || name === 'stop' || name === 'user-prompt-submit' ? 'team-lead' : 'backend-dev';
    const run = await project.hook(name, who, event, {
      tool_name: 'Write',
      tool_input: { file_path: 'src/api/a.ts' },
      prompt: '/tool:team-restart',
      task_id: '1',
      source: 'compact',
    });
    const isGuard = name === 'pre-tool-use';
    assert.equal(run.code, isGuard ? 2 : 0, run.stderr);
    if (name === 'session-start') {
      // Teams that can be read go on; of the others the agent is told.
      assert.match(run.stdout, wordsLike(OPERATIONS_CODES.team_unreadable, { team: TEAM, said: FOREIGN }));
      return;
    }
    assert.equal(run.exit, isGuard ? 2 : 0);
    const line = isGuard
      ? lineLike(HOOK_CODES.guard_cannot_decide, { event, said: FOREIGN })
      : lineLike(HOOK_CODES.host_hook_failed, { event, said: FOREIGN });
    assert.match(run.stderr, joined(START, 'toolcrew: ', line, '\n', END));
  });
}

test('a broken workflow.yaml leaves what it said before in force', async (t) => {
  const project = await new HookedProject(t).team('backend-dev');
  const write = { tool_name: 'Write', tool_input: { file_path: 'tests/a.ts' } };
  assert.equal((await project.hook('pre-tool-use', 'backend-dev', 'PreToolUse', write)).code, 2);
  project.write('.tool/config/workflow.yaml', `${ENABLED}    delegate_mode: perhaps\n`);
  const run = await project.hook('pre-tool-use', 'backend-dev', 'PreToolUse', write);
  assert.equal(run.code, 2);
  assert.match(
    run.stderr,
    /^toolcrew: .*workflow\.yaml.*delegate_mode.* \(settings_last_hold\)\ntoolcrew: tests\/a\.ts .*\(path_owned_by_other\)/,
  );
});

test('where it cannot be told whether a team stands, the guard refuses and the others let go', async (t) => {
  const project = new HookedProject(t);
  project.write('.tool/teams', 'no directory');
  const write = { tool_name: 'Write', tool_input: { file_path: 'tests/a.ts' } };
  const guarded = await project.hook('pre-tool-use', 'backend-dev', 'PreToolUse', write);
  assert.equal(guarded.code, 2);
  assert.match(
    guarded.stderr,
    joined(
      /^toolcrew: /,
      lineLike(HOOK_CODES.guard_cannot_decide, {
        event: 'PreToolUse',
        said: textLike(LOG_CODES.directory_expected, { path: /\S*\.tool\/teams/ }),
      }),
    ),
  );
  const stamp = await project.hook('pre-tool-use', 'backend-dev', 'PreToolUse', { tool_name: 'mcp__team__Inbox' });
  assert.equal(stamp.code, 0);
  letsGo(
    await project.hook('stop', 'team-lead', 'Stop'),
    joined(
      /^toolcrew: /,
      lineLike(HOOK_CODES.host_hook_failed, {
        event: 'Stop',
        said: textLike(LOG_CODES.directory_expected, { path: /\S*\.tool\/teams/ }),
      }),
    ),
  );
});

test('standard input that is not there or no file is no crash', async (t) => {
  const project = new HookedProject(t);
  const hook = join(process.cwd(), 'dist', 'hooks', 'stop.js');
  for (const redirect of ['<&-', '</', '</dev/null']) {
    const run = await runProgram('sh', ['-c', `node '${hook}' ${redirect}`], '', project.env, project.root);
    letsGo(
      run,
      /^toolcrew: Stop: standard input: expected the JSON of a Stop event, got ""\. \(hook_input_invalid\)$/m,
    );
  }
});

test('a worktree that the host made for an agent is of its checkout; one of the person is a project of its own', async (t) => {
  const project = await new HookedProject(t).team('backend-dev', 'tester');
  const git = 'git -c user.name=n -c user.email=e@x';
  const [agents, persons] = ['.claude/worktrees/agent-1', '../worktree'];
  const made = await runProgram(
    'sh',
    ['-c', `${git} commit -q --allow-empty -m x && git worktree add -q ${agents} && git worktree add -q ${persons}`],
    '',
    project.env,
    project.root,
  );
  assert.equal(made.code, 0, made.stderr);
  const write = (place: string, path: string) => {
    const tree = join(project.root, place);
    const fields = project.fields('backend-dev', 'PreToolUse', {
      cwd: tree,
      tool_name: 'Write',
      tool_input: { file_path: join(tree, path) },
    });
    return project.raw('pre-tool-use', JSON.stringify(fields), {
      ...project.envOf('2.1.177'),
      CLAUDE_PROJECT_DIR: tree,
    });
  };
  assert.equal((await write(agents, 'src/api/a.ts')).code, 0);
  assert.match((await write(agents, 'tests/a.ts')).stderr, /tests\/a\.ts is tester's/);
  const own = await write(persons, 'tests/a.ts');
  assert.deepEqual([own.code, own.stderr], [0, '']);
});

const PIPED = ['printf %s "$INPUT" | "$NODE" "$HOOK"', 'printf %s "$INPUT" >in; "$NODE" "$HOOK" <in'];

test('a hook that the shell of an agent starts does nothing, and says so', async (t) => {
  const project = await new HookedProject(t).team('tester');
  project.write('.tool/specs/SPEC-AUTH-001/spec.md', '---\nstatus: draft\n---\n# Sign in\n');
  await project.call('tester', 'SendMessage', { recipient: 'team-lead', type: 'progress', content: 'half done' });
  const env = { PATH: process.env.PATH ?? '', HOME: project.env.HOME ?? '', CLAUDECODE: '1' };
  for (const [name, event] of HOOKS) {
    const fields = project.fields('team-lead', event, { tool_name: 'Read', prompt: 'approve SPEC-AUTH-001' });
    const file = join(process.cwd(), 'dist', 'hooks', `${name}.js`);
    const run = await runProgram(process.execPath, [file], JSON.stringify(fields), env, project.root);
    letsGo(run, /\(hook_not_from_host\)$/m);
    // With the variables as a host's hooks have them, but through a pipe, and from a file.
    const asHook = { ...project.env, INPUT: JSON.stringify(fields), NODE: process.execPath, HOOK: file };
    for (const script of name === 'user-prompt-submit' ? PIPED : []) {
      const piped = await runProgram('/bin/sh', ['-c', script], '', asHook, project.root);
      letsGo(piped, /\(hook_not_from_host\)$/m);
    }
  }
  assert.match(project.read('.tool/specs/SPEC-AUTH-001/spec.md'), /status: draft/);
  assert.equal(project.state().messages.at(-1)?.receipts.get('team-lead')?.readAt, null);
});
