import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { HOOK_CODES } from '../../src/claude-code/rules/hook-codes.ts';
import { GUARD_CODES } from '../../src/guard/rules/guard-codes.ts';
import { WRITES_CODES } from '../../src/team/rules/codes/writes-codes.ts';
import { lineLike, wordsLike } from '../support/codes.ts';
import {
  type Fields,
  HookedProject,
  type HookRun,
  type HostVersion,
  runProgram,
  SESSION,
  specific,
  TEAM,
} from '../support/hooked.ts';

function guard(
  project: HookedProject,
  who: string,
  tool: string,
  tool_input: Fields,
  version?: HostVersion,
): Promise<HookRun> {
  return project.hook('pre-tool-use', who, 'PreToolUse', { tool_name: tool, tool_input }, version);
}

// 2.1.177 tells what 2.1.331 does.
for (const version of ['2.1.33', '2.1.100', '2.1.331'] as const) {
  test(`a teammate's writes on ${version}`, async (t) => {
    const project = await new HookedProject(t).team('backend-dev', 'tester');
    project.write('src/pages/a.tsx', '');
    const path = (name: string) => join(project.root, name);
    const isPrinted = version === '2.1.331';
    if (isPrinted) appendFileSync(project.transcript, `${JSON.stringify({ type: 'user', version })}\n`);
    const cases: readonly [string, Fields, number, RegExp][] = [
      ['Write', { file_path: path('src/api/a.ts'), content: 'x' }, 0, /^$/],
      ['Edit', { file_path: 'src/api/a.ts', old_string: 'x', new_string: 'y' }, 0, /^$/],
      [
        'Write',
        { file_path: path('tests/a.ts'), content: 'x' },
        2,
        /^toolcrew: tests\/a\.ts is tester's .*"recipient":"tester"/,
      ],
      ['Edit', { file_path: path('src/pages/a.tsx') }, 2, /is frontend-dev's/],
      ['MultiEdit', { file_path: path('package.json') }, 0, /^$/],
      ['NotebookEdit', { notebook_path: path('tests/a.ipynb'), new_source: '1' }, 2, /is tester's/],
      ['Write', { content: 'x' }, 2, wordsLike(GUARD_CODES.writes_path_missing, { tool: 'Write' })],
      ['Bash', { command: 'echo hi > src/api/a.ts' }, 0, /^$/],
      ['Bash', { command: 'cat tests/a.ts | grep x' }, 0, /^$/],
      ['Bash', { command: 'echo hi > tests/a.ts' }, 2, /tests\/a\.ts is tester's/],
      ['Bash', { command: 'cd src && sed -i s/a/b/ pages/a.tsx' }, 2, /src\/pages\/a\.tsx is frontend-dev's/],
      ['Bash', { command: `cat a.json | python3 -c "import sys,json; print(json.load(sys.stdin)['a'])"` }, 0, /^$/],
      ['Bash', { command: `node -e "fetch('http://127.0.0.1:1/x').then(r=>r.text()).then(console.log)"` }, 0, /^$/],
      ['Bash', { command: 'npx shadcn add button' }, 0, /^$/],
      ['Bash', { command: 'python3 -c "$CODE"' }, 0, /^$/],
      ['Bash', { command: 'git commit -m x -- src/api' }, 0, /^$/],
      ['Bash', { command: 'npm test && git add -A' }, 2, /^toolcrew: git add: .* Add your own: git add src\/api/],
      ['Bash', { command: 'echo x > /etc/hosts' }, 0, /^$/],
      ['Bash', { command: `rm -rf ${project.root}/..` }, 2, /./],
      ['Monitor', { command: 'echo hi > src/api/a.ts' }, 0, /^$/],
      ['Monitor', { command: 'echo hi > tests/a.ts' }, 2, /tests\/a\.ts is tester's/],
      ['Monitor', { ws: { url: 'ws://127.0.0.1:1' } }, 0, /^$/],
      [
        'PowerShell',
        { command: 'Set-Content tests/a.ts x' },
        2,
        wordsLike(GUARD_CODES.writes_code_not_read, { tool: 'PowerShell' }),
      ],
      ['REPL', { code: 'await Write({})' }, 2, wordsLike(GUARD_CODES.writes_code_not_read, { tool: 'REPL' })],
      ['Read', { file_path: path('tests/a.ts') }, 0, /^$/],
    ];
    // What is written is told alike; by whom, and what is answered, is in the first of them.
    for (const [tool, input, code, says] of version === '2.1.331' ? cases : cases.slice(0, 10)) {
      const run = await guard(project, 'backend-dev', tool, input, version);
      assert.equal(run.code, code, `${tool} ${JSON.stringify(input)}: ${run.stderr}`);
      assert.match(run.stderr, says);
      assert.equal(run.exit, isPrinted ? 0 : code, 'newer hosts are told by JSON: before it they put no command');
    }
    const lead = await guard(project, 'team-lead', 'Write', { file_path: path('src/api/a.ts') }, version);
    assert.equal(lead.code, 2);
    assert.match(lead.stderr, /TaskCreate.*\(lead_delegates\)$/m);
    const { decisions } = project.state();
    assert.ok(
      decisions.some(
        ({ decision, member, about }) =>
          decision === 'accept' && member === 'backend-dev' && about === 'Write src/api/a.ts',
      ),
    );
    assert.ok(decisions.some(({ decision, about }) => decision === 'reject' && about === 'Write tests/a.ts'));
  });
}

test('a read-only role cannot commit; a role that writes can', async (t) => {
  const project = await new HookedProject(t).team('quality', 'backend-dev');
  const ask = (who: string, command: string) => guard(project, who, 'Bash', { command });
  for (const command of ['git add src/api && git commit -m x', 'git push --force']) {
    const { code, stderr } = await ask('quality', command);
    assert.equal(code, 2, command);
    assert.match(stderr, /quality is read-only: it writes nothing.* \(git (add|push): it writes .* history\)/);
    assert.equal((await ask('backend-dev', command)).code, 0);
  }
  assert.equal((await ask('quality', 'git fetch -q && git log --oneline && git branch --list')).code, 0);
});

test('who is of no team writes nothing while one stands, and anything when none does', async (t) => {
  const project = new HookedProject(t);
  const input = { file_path: join(project.root, 'src/api/a.ts') };
  assert.equal((await guard(project, 'general-purpose', 'Write', input)).code, 0);
  await project.team('backend-dev');
  const refused = await guard(project, 'general-purpose', 'Write', input);
  assert.equal(refused.code, 2);
  const stranger = (who: string) => lineLike(WRITES_CODES.writer_not_member, { team: TEAM, who });
  assert.match(refused.stderr, stranger('team-general-purpose (agent-general-purpose)'));
  const other = await project.hook('pre-tool-use', 'team-lead', 'PreToolUse', {
    session_id: 'another',
    tool_name: 'Bash',
    tool_input: { command: 'touch a' },
  });
  assert.equal(other.code, 2);
  assert.match(other.stderr, stranger('the main agent of session another'));
});

test('a link does not lead around the guard', async (t) => {
  const project = await new HookedProject(t).team('backend-dev', 'tester');
  project.write('tests/a.ts', '');
  mkdirSync(join(project.root, 'src', 'api'), { recursive: true });
  symlinkSync(join(project.root, 'tests'), join(project.root, 'src', 'api', 'linked'));
  const run = await guard(project, 'backend-dev', 'Write', { file_path: 'src/api/linked/a.ts' });
  assert.equal(run.code, 2);
  assert.match(run.stderr, /tests\/a\.ts is tester's/);
});

test("what is built or installed in directories that Git ignores is nobody's business", async (t) => {
  const project = await new HookedProject(t).team('backend-dev', 'tester');
  project.write('.gitignore', 'dist/\nnode_modules\nkept/\n.env\ntests/output/\n');
  project.write('node_modules/a/index.test.js', '');
  project.write('kept/a.js', '');
  project.write('scripts/a.sh', '');
  execaSync`git -C ${project.root} add -f kept/a.js`;
  const cases: readonly [string, number, RegExp][] = [
    ['mkdir -p dist/deep && echo x > dist/deep/a.js', 0, /^$/],
    ['rm -rf node_modules dist', 0, /^$/],
    ['mkdir -p src/api/v2 && touch src/api/v2/a.ts', 0, /^$/],
    ['echo x > .env', 0, /^$/],
    ['echo x > kept/b.js', 0, /^$/],
    ['echo x > tests/output/a', 2, /tests\/output\/a is tester's/],
    ['rm -rf .tool/state', 2, /\.tool\/state holds rules of the team/],
    ['touch scripts', 2, lineLike(WRITES_CODES.directory_not_leasable, { path: 'scripts' })],
  ];
  for (const [command, code, says] of cases) {
    const run = await guard(project, 'backend-dev', 'Bash', { command });
    assert.equal(run.code, code, `${command}: ${run.stderr}`);
    assert.match(run.stderr, says);
  }
});

test('what holds the project may not be written as a whole, wherever it lies', async (t) => {
  const project = await new HookedProject(t).team('backend-dev', 'tester');
  // The project lies in a directory for temporary files, as any test's does.
  for (const command of [
    'rm -rf ..',
    `rm -rf ${join(project.root, '..')}`,
    'rm -rf .',
    `mv ${project.root} /tmp/gone`,
  ]) {
    const run = await guard(project, 'backend-dev', 'Bash', { command });
    assert.equal(run.code, 2, `${command}: ${run.stderr}`);
  }
});

test('in front of a screen a person is asked about code that is not read', async (t) => {
  const project = await new HookedProject(t).team('backend-dev');
  const fields = project.fields('backend-dev', 'PreToolUse', {
    tool_name: 'PowerShell',
    tool_input: { command: 'Set-Content tests/a.ts x' },
  });
  const env = { ...project.envOf('2.1.177'), CLAUDE_CODE_ENTRYPOINT: 'cli' };
  const run = await project.raw('pre-tool-use', JSON.stringify(fields), env);
  assert.equal(run.code, 0);
  assert.equal(run.stderr, '');
  const { hookEventName, permissionDecision, permissionDecisionReason } = specific(run);
  assert.equal(hookEventName, 'PreToolUse');
  assert.equal(permissionDecision, 'ask');
  assert.match(String(permissionDecisionReason), /\(write_targets_unknown\)$/);
});

test('only registered teammates are started, without a name of the host, and are told who they are', async (t) => {
  const project = await new HookedProject(t).team('backend-dev');
  const unknown = await guard(project, 'team-lead', 'Task', { subagent_type: 'general-purpose', prompt: 'x' });
  assert.equal(unknown.code, 2);
  assert.match(
    unknown.stderr,
    /only registered teammates may start.* Task \{"subagent_type":"team-[a-z-]+","team_name":"tool-run-spec-auth-001",/,
  );
  const again = await guard(project, 'team-lead', 'Agent', { subagent_type: 'team-backend-dev', prompt: 'x' });
  assert.equal(again.code, 2);
  assert.match(again.stderr, /backend-dev is at work already/);
  const workflow = await guard(project, 'team-lead', 'Workflow', { script: "await agent('write it')" });
  assert.equal(workflow.code, 2);
  assert.match(workflow.stderr, /\(workflow_refused\)$/m);
  const byMember = await guard(project, 'backend-dev', 'Agent', { subagent_type: 'team-tester', prompt: 'x' });
  assert.equal(byMember.code, 2);
  assert.match(byMember.stderr, /\(agents_for_lead_only\)$/m);
  const registered = await project.call('team-lead', 'Task', {
    subagent_type: 'team-tester',
    team_name: 'tool-run-spec-auth-001',
    name: 'tester',
    prompt: 'Write the tests',
  });
  assert.equal(registered.state, 'registered');
  const spawned = await guard(project, 'team-lead', 'Agent', {
    subagent_type: 'team-tester',
    prompt: 'Write the tests',
    name: 'tester',
    team_name: 'x',
    run_in_background: true,
    isolation: 'worktree',
  });
  const { updatedInput, permissionDecision } = specific(spawned);
  assert.equal(permissionDecision, undefined);
  assert.ok(typeof updatedInput === 'object' && updatedInput !== null && 'prompt' in updatedInput);
  assert.deepEqual(Object.keys(updatedInput).sort(), ['prompt', 'run_in_background', 'subagent_type']);
  assert.equal(updatedInput.prompt, 'Write the tests');
  const begun = await project.hook('subagent-start', 'tester', 'SubagentStart');
  assert.match(String(specific(begun).additionalContext), /^toolcrew: you are tester of team tool-run-spec-auth-001/);
});

test('calls of the team are stamped, whatever the caller put there; the tools of the host rest', async (t) => {
  const project = await new HookedProject(t).team('backend-dev');
  for (const tool of ['mcp__team__TaskList', 'mcp__plugin_tool_team__TaskList']) {
    const run = await guard(project, 'backend-dev', tool, { _caller: 'mine', team_name: 'x' });
    const { updatedInput, permissionDecision } = specific(run);
    assert.equal(permissionDecision, 'allow');
    assert.ok(typeof updatedInput === 'object' && updatedInput !== null && '_caller' in updatedInput);
    const [payload = ''] = String(updatedInput._caller).split('.');
    const caller: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    assert.ok(typeof caller === 'object' && caller !== null && 'agentType' in caller && 'toolUseId' in caller);
    assert.equal(caller.agentType, 'team-backend-dev');
    assert.match(String(caller.toolUseId), /^toolu_\d+$/);
  }
  const hosts = await guard(project, 'backend-dev', 'TaskUpdate', { taskId: '1' });
  assert.equal(hosts.code, 2);
  assert.match(hosts.stderr, /call mcp__team__TaskUpdate instead: .* \(host_tool_refused\)$/m);
});

test('the call that makes the first team of a project is stamped; what an agent makes up in its shell is not', async (t) => {
  const project = new HookedProject(t);
  const run = await guard(project, 'team-lead', 'mcp__team__TeamCreate', { team_name: TEAM });
  const { updatedInput } = specific(run);
  assert.ok(typeof updatedInput === 'object' && updatedInput !== null && '_caller' in updatedInput);
  const [payload = ''] = String(updatedInput._caller).split('.');
  const caller: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  assert.ok(typeof caller === 'object' && caller !== null && 'session' in caller && 'agentType' in caller);
  assert.deepEqual([caller.session, caller.agentType], [SESSION, null]);
  const fields = project.fields('team-lead', 'PreToolUse', { tool_name: 'mcp__team__TeamCreate', tool_input: {} });
  const { CLAUDE_PROJECT_DIR: _, ...shell } = { ...project.env, ...project.envOf('2.1.331') };
  const script = join(project.hooks, 'pre-tool-use.js');
  const forged = await runProgram(process.execPath, [script], JSON.stringify(fields), shell, project.root);
  assert.equal(forged.stdout, '');
  assert.match(forged.stderr, /only the host starts hooks/);
});

test('the calls of 2.1.33 are told by its transcripts, also when these come late', async (t) => {
  const project = await new HookedProject(t).team('backend-dev', 'tester');
  const write = (path: string) =>
    project.fields('backend-dev', 'PreToolUse', { tool_name: 'Write', tool_input: { file_path: path } }, '2.1.33');
  // Another agent only speaks of the call: that makes it nobody's.
  const spoken = write('src/api/a.ts');
  project.tell('backend-dev', 'toolu_other');
  const words = { message: { content: [{ type: 'text', text: `the call ${String(spoken.tool_use_id)}` }] } };
  project.tell('tester', 'toolu_more');
  const { appendFileSync } = await import('node:fs');
  appendFileSync(
    join(project.transcript.replace(/\.jsonl$/, ''), 'subagents', 'agent-agent-tester.jsonl'),
    `${JSON.stringify(words)}\n`,
  );
  const late = project.raw('pre-tool-use', JSON.stringify(spoken), project.envOf('2.1.33'));
  await new Promise((resolve) => setTimeout(resolve, 100));
  project.tell('backend-dev', spoken.tool_use_id);
  const found = await late;
  assert.equal(found.code, 0, found.stderr);
  const foreign = write('tests/a.ts');
  project.tell('backend-dev', foreign.tool_use_id);
  assert.match(
    (await project.raw('pre-tool-use', JSON.stringify(foreign), project.envOf('2.1.33'))).stderr,
    /is tester's/,
  );
  // Long transcripts are read from their end.
  for (let count = 0; count < 40; count++) project.tell('backend-dev', `toolu_${'x'.repeat(20_000)}${count}`);
  const long = write('src/api/a.ts');
  project.tell('backend-dev', long.tool_use_id);
  assert.equal((await project.raw('pre-tool-use', JSON.stringify(long), project.envOf('2.1.33'))).code, 0);
  // Nobody's: refused, and said why.
  const never = write('src/api/a.ts');
  const nobody = await project.raw('pre-tool-use', JSON.stringify(never), project.envOf('2.1.33'));
  assert.equal(nobody.code, 2);
  assert.match(
    nobody.stderr,
    /an unknown caller \(this host does not name who calls, and its transcripts do not tell\)/,
  );
});

test("an agent of the project's own that lists tools without the team's is not started, and it is said what is missing", async (t) => {
  const project = new HookedProject(t);
  await project.call('team-lead', 'TeamCreate', { team_name: TEAM });
  const subagent_type = 'team-tester';
  await project.call('team-lead', 'Task', { subagent_type, team_name: TEAM, name: 'tester', prompt: 'p' });
  const spawn = () => guard(project, 'team-lead', 'Agent', { subagent_type, prompt: 'x' });
  const path = '.claude/agents/team-tester.md';
  project.write(path, '---\nname: team-tester\ntools: Read, mcp__team__TaskList, "mcp__team__Inbox"\n---\nYou test.\n');
  const refused = await spawn();
  assert.equal(refused.code, 2);
  assert.match(
    refused.stderr,
    lineLike(HOOK_CODES.agent_lacks_tools, {
      agent: subagent_type,
      tools: ['mcp__team__TaskGet', 'mcp__team__TaskUpdate', 'mcp__team__SendMessage'],
    }),
  );
  project.write(path, '---\nname: team-tester\n---\nYou test.\n');
  assert.equal((await spawn()).code, 0);
});
