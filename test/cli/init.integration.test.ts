// `tool init` and `tool uninstall` as a person types them.

import assert from 'node:assert/strict';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { CLI_CODES } from '../../src/cli/rules/cli-codes.ts';
import { DOCTOR_CODES } from '../../src/cli/rules/doctor-codes.ts';
import { sha256 } from '../../src/install/outcome.ts';
import { INSTALL_CODES } from '../../src/install/rules/install-codes.ts';
import { joined, lineLike, START, textLike, wordsLike, wordsOf } from '../support/codes.ts';
import { cleanEnv } from '../support/daemon.ts';
import { gitIn } from '../support/git.ts';
import { projectOf, treeOf, writeTree } from '../support/installed.ts';
import { machine } from '../support/machine.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** What people write in themselves. */
const EDITED = [
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.mcp.json',
  '.tool/.gitignore',
  '.tool/config/workflow.yaml',
];

/** The files whose differences are shown. */
function patched(stdout: string): string[] {
  return [...stdout.matchAll(/^\+\+\+ b\/(.*)$/gm)].map(([, path = '']) => path).sort();
}

test('it says what it did in short, what does not work, and what to type next', (t) => {
  const { root, tool } = machine(t, '2.1.33');
  const inner = join(root, 'src', 'deep');
  mkdirSync(inner, { recursive: true });
  const before = treeOf(root);
  const { exitCode, stdout, stderr } = tool(['init'], inner);
  assert.deepEqual([exitCode, stderr], [0, '']);
  const lines = stdout.split('\n');
  assert.equal(lines[0], `Installed toolcrew ${version} in ${root} (JavaScript, Claude Code 2.1.33):`);
  assert.ok(lines.includes('  created    .claude/settings.json'));
  // In short: what nobody writes in is counted, by directory.
  for (const place of ['.claude/agents', '.claude/commands', '.claude/skills', '.tool/hooks']) {
    const made = readdirSync(join(root, place), { recursive: true, withFileTypes: true });
    const files = made.filter((one) => one.isFile()).length;
    assert.ok(lines.includes(`  created    ${place}/ (${files} files)`), `${place}: ${files}\n${stdout}`);
  }
  assert.match(stdout, /^In \.claude\/settings\.json: TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS=1 allows team mode; /m);
  assert.ok(lines.length <= 22, stdout);
  const { limits } = JSON.parse(tool(['init', '--dry-run', '--json']).stdout).host;
  assert.equal(limits[0]?.code, 'host_names_no_callers');
  const lineOfLimit = joined(/^Note: /, wordsLike(INSTALL_CODES.host_names_no_callers, { version: '2.1.33' }), /$/);
  assert.ok(
    lines.some((line) => lineOfLimit.test(line)),
    stdout,
  );
  assert.equal(lines.at(-2), `Next: open Claude Code in ${root} and type  /tool:1-plan "<feature>" --team`);

  const again = tool(['init']);
  assert.match(
    again.stdout.split('\n')[0] ?? '',
    joined(START, `toolcrew ${version} `, /.*/, ` ${root} for Claude Code 2.1.33; nothing was changed.`, /$/),
  );

  const out = tool(['uninstall']);
  assert.deepEqual([out.exitCode, out.stderr], [0, '']);
  assert.equal(out.stdout.split('\n')[0], `Took toolcrew out of ${root}:`);
  assert.ok(out.stdout.includes('  removed    .claude/settings.json\n'));
  assert.deepEqual(treeOf(root), before);
  const twice = tool(['uninstall']);
  assert.deepEqual([twice.exitCode, twice.stdout], [2, '']);
  assert.match(
    twice.stderr,
    lineLike(INSTALL_CODES.installation_missing, { path: root, manifest: '.tool/installed.json' }),
  );
});

test('directories of the project get an owner, which is said with why, and stays when it is installed again', (t) => {
  const { root, tool } = machine(t, '2.1.177');
  const git = gitIn(root);
  git('init', '--quiet');
  writeTree(root, { 'shop/cart.py': '', 'shop/tax.py': '', 'tests/test_cart.py': '' });
  const { stdout } = tool(['init']);
  assert.match(stdout, /\n {2}backend-dev {3}shop\/\*\* {2}\(2 files outside the usual directories\)\n/);
  const config = () => readFileSync(join(root, '.tool/config/workflow.yaml'), 'utf8');
  const written = config();
  assert.match(written, /\n {8}- prisma\/migrations\/\*\*\n {8}- shop\/\*\*\n/);
  writeTree(root, { 'store/stock.py': '' });
  assert.match(tool(['init']).stdout, /nothing was changed/);
  assert.equal(config(), written);
  assert.doesNotMatch(tool(['doctor', '--json']).stdout, /"installation_(?:changed|incomplete)"/);
});

test('what is installed names the tools of the team as a project has them, and in no other spelling', (t) => {
  const { root, tool } = machine(t, '2.1.177');
  tool(['init']);
  for (const file of ['agents/team-tester.md', 'commands/tool/2-run.md']) {
    const text = readFileSync(join(root, '.claude', file), 'utf8');
    assert.match(text, /, mcp__team__TaskUpdate/);
    assert.doesNotMatch(text, /plugin_tool/);
  }
});

test('a required part of the gate that nothing can measure is said, with the command that installs it', (t) => {
  const { root, tool } = machine(t, '2.1.177');
  writeTree(root, { 'package.json': '{"scripts":{"test":"vitest run"}}' });
  assert.match(
    tool(['init']).stdout,
    /\nNote: .* coverage: .* run `npm install --save-dev @vitest\/coverage-v8`, or take coverage out of quality\.required/,
  );
  const { exitCode, stdout } = tool(['doctor']);
  assert.equal(exitCode, 1);
  assert.match(stdout, /✖ gate: coverage .*@vitest\/coverage-v8/);
});

test('a dry run says what would change, then the patch of what people read, and writes nothing', (t) => {
  const files = { '.claude/settings.json': '{\n  "model": "opus"\n}' };
  const { root, tool } = machine(t, '2.1.177', files);
  const before = treeOf(root);
  const { exitCode, stdout } = tool(['init', '--dry-run']);
  assert.equal(exitCode, 0);
  assert.deepEqual(treeOf(root), before);
  assert.match(
    stdout,
    /^--- a\/\.claude\/settings\.json\n\+\+\+ b\/\.claude\/settings\.json\n@@ -1,3 \+1,\d+ @@\n \{\n- {2}"model": "opus"\n\+ {2}"model": "opus",\n/m,
  );
  assert.ok(stdout.startsWith(`Would install toolcrew ${version} in ${root} `), 'the list comes first');
  assert.deepEqual(patched(stdout), EDITED);
  assert.match(stdout, /^ {2}created {4}\.claude\/agents\/team-tester\.md \(\d\d lines\)$/m);
  assert.match(stdout, /^ {2}created {4}\.tool\/installed\.json \(\d+ lines\)$/m);
  assert.match(stdout, /^ {2}created {4}\.tool\/hooks\/ \(\d+ files\)$/m);
  assert.match(stdout, /^ {2}changed {4}\.claude\/settings\.json$/m);
  assert.doesNotMatch(stdout, /[0-9a-f]{64}/, 'no hashes');
  // Applied, it makes the same files; those that are told by their length are the others.
  const copy = projectOf(t, files);
  const applied = execaSync({ cwd: copy, input: stdout, reject: false })`git apply -`;
  assert.deepEqual([applied.exitCode, applied.stderr], [0, '']);
  const done: { files: { path: string; did: string }[] } = JSON.parse(tool(['init', '--json']).stdout);
  const made = done.files.filter(({ did }) => did === 'created' || did === 'changed').map(({ path }) => path);
  const isBundle = (path: string) => path.startsWith('.tool/hooks/');
  const counted = [...stdout.matchAll(/^ {2}created +(\S+) \(\d/gm)].map(([, path = '']) => path);
  const named = [...counted, ...EDITED].filter((path) => !isBundle(path));
  assert.deepEqual(named.sort(), made.filter((path) => !isBundle(path)).sort());
  assert.match(stdout, new RegExp(`\\.tool/hooks/ \\(${made.filter(isBundle).length} files\\)`));
  for (const path of EDITED)
    assert.equal(readFileSync(join(copy, path), 'utf8'), readFileSync(join(root, path), 'utf8'));
  const removal = tool(['uninstall', '--dry-run']).stdout;
  assert.ok(removal.startsWith(`Would take toolcrew out of ${root}:\n`));
  assert.match(removal, /^ {2}removed {4}\.claude\/agents\/team-tester\.md \(\d\d lines\)$/m);
  assert.match(removal, /^--- a\/\.mcp\.json\n\+\+\+ \/dev\/null\n/m);
  assert.ok(existsSync(join(root, '.mcp.json')));
});

test('a dry run over what is installed shows a file of ours that changes, and no bundle', (t) => {
  const { root, tool } = machine(t, '2.1.177');
  assert.equal(tool(['init']).exitCode, 0);
  const same = tool(['init', '--dry-run']).stdout;
  assert.match(same, /nothing was changed\.\n\nNothing was written\.\n$/);
  assert.deepEqual(patched(same), []);
  // As an older version left it: its files, and the hashes of them.
  const agent = '.claude/agents/team-tester.md';
  const record = join(root, '.tool', 'installed.json');
  let hashes = readFileSync(record, 'utf8');
  for (const path of [agent, '.tool/hooks/stop']) {
    const text = readFileSync(join(root, path), 'utf8');
    hashes = hashes.replace(sha256(text), sha256(`${text}older\n`));
    writeFileSync(join(root, path), `${text}older\n`);
  }
  writeFileSync(record, hashes);
  const { stdout } = tool(['init', '--dry-run']);
  assert.deepEqual(patched(stdout), [agent]);
  assert.match(stdout, /^-older$/m);
  assert.match(stdout, /^ {2}changed {4}\.tool\/hooks\/stop$/m);
  assert.match(stdout, /^ {2}changed {4}\.tool\/installed\.json \(\d+ lines\)$/m);
});

test('settings on one line are shown with line breaks before they are written, and stay on one line', (t) => {
  const before = '{"model":"opus"}';
  const { root, tool } = machine(t, '2.1.177', { '.claude/settings.json': before });
  const { stdout } = tool(['init', '--dry-run']);
  assert.match(stdout, /^\(\.claude\/settings\.json stands on one line, and stays so; here it has line breaks\)$/m);
  assert.match(stdout, /^-{3} a\/\.claude\/settings\.json\n\+{3} b\/\.claude\/settings\.json\n/m);
  assert.match(stdout, /^\+ +"command": "node .*\/\.tool\/hooks\/stop/m);
  assert.match(stdout, /^\+ +"mcp__team"$/m);
  assert.equal(tool(['init']).exitCode, 0);
  assert.equal(readFileSync(join(root, '.claude/settings.json'), 'utf8').trim().split('\n').length, 1);
});

test('which host there is, or is named, decides; without one it is said', (t) => {
  const { root, tool } = machine(t, null);
  const json = (args: readonly string[]) => JSON.parse(tool(['init', '--dry-run', '--json', ...args]).stdout);
  const none = json([]);
  assert.deepEqual([none.host.version, none.host.form, none.changed, none.dryRun], [null, 'script', true, true]);
  assert.deepEqual(none.files.at(-1), { path: '.tool/installed.json', did: 'created' });
  const [limit] = none.host.limits;
  assert.deepEqual([limit.code, limit.values.oldest], ['host_missing', '2.1.32']);
  assert.match(`${limit.message} ${limit.help}`, /^No Claude Code was found on the PATH: .*`tool init` again/);
  assert.equal(json(['--host-version', '2.1.117']).host.form, 'script');
  assert.deepEqual(json(['--host-version', '2.1.118']).host, { version: '2.1.118', form: 'resident', limits: [] });
  const refused: readonly [string[], RegExp][] = [
    [
      ['--host-version', '2.1.31'],
      joined(
        START,
        'tool: ',
        textLike(INSTALL_CODES.host_too_old, { required: '2.1.32', version: '2.1.31', fix: /.*npm install .*/ }),
        ' (host_too_old)\n',
      ),
    ],
    [
      ['--host-version', 'new'],
      /^tool: --host-version: expected a version like 2\.1\.100, got "new"\. \(option_invalid\)$/m,
    ],
    [['--host-version', '2.1.100-beta'], /^tool: --host-version: expected /],
  ];
  for (const [args, words] of refused) {
    const { exitCode, stdout, stderr } = tool(['init', ...args]);
    assert.deepEqual([args, exitCode, stdout], [args, 2, '']);
    assert.match(stderr, words);
  }
  assert.ok(!existsSync(join(root, '.tool')));
});

test('what is installed below the top of a working tree is brought up to date and taken out from there', (t) => {
  const { root, tool } = machine(t, '2.1.100', { 'app/src/a.js': '' });
  const before = treeOf(root);
  const app = join(root, 'app');
  const next = (stdout: string) => stdout.trimEnd().split('\n').at(-1);
  assert.match(String(next(tool(['init', 'app']).stdout)), /^Next: open Claude Code in \S+\/app and type/);
  assert.match(tool(['init'], join(app, 'src')).stdout, /^toolcrew \S+ .* \S+\/app for .*; nothing was changed/);
  assert.equal(tool(['uninstall'], app).exitCode, 0);
  assert.deepEqual(treeOf(root), before);
});

test('while a team stands no agent takes out or changes what is installed, and a person does', (t) => {
  const { root, home, tool } = machine(t, '2.1.100');
  tool(['init']);
  assert.equal(tool(['team', 'create', 'tool-plan-address']).exitCode, 0);
  const edited = join(root, '.claude/commands/tool/1-plan.md');
  writeFileSync(edited, 'An edit.\n');
  const installed = treeOf(root);
  for (const said of [{ CLAUDECODE: '1' }, { TOOL_TEAMMATE: 'analyst' }])
    for (const command of [['uninstall'], ['init', '--force', '--host-version', '2.1.177']]) {
      const agent = { env: { ...cleanEnv(home), PATH: '/usr/bin:/bin', ...said } };
      const { exitCode, stderr } = tool(command, root, agent);
      assert.notEqual(exitCode, 0);
      assert.match(stderr, lineLike(CLI_CODES.person_only, { teams: ['tool-plan-address'], path: /\S+/ }));
      assert.equal(tool([...command, '--dry-run'], root, agent).exitCode, 0);
    }
  assert.deepEqual(treeOf(root), installed);
  assert.equal(tool(['uninstall']).exitCode, 0);
  assert.ok(!existsSync(join(root, '.claude/settings.json')));
});

test('a worktree of the person is a project of its own, whatever is installed in the main checkout', (t) => {
  const { root, home, tool } = machine(t, '2.1.100');
  const git = gitIn(root);
  git('init', '-q');
  git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-q', '--allow-empty', '-m', 'x');
  const worktree = join(home, 'worktree');
  git('worktree', 'add', '-q', worktree);
  const rowOf = () => {
    const { checks } = JSON.parse(tool(['doctor', '--json'], worktree).stdout);
    return checks.find(({ name }: Readonly<Record<string, unknown>>) => name === 'team mode');
  };
  tool(['init']);
  assert.deepEqual(
    [rowOf()?.code, rowOf()?.says, rowOf()?.mend],
    ['team_mode_missing', wordsOf(DOCTOR_CODES.team_mode_missing, { root: worktree }), 'tool init'],
  );
  assert.match(tool(['init'], worktree).stdout, new RegExp(`^Next: open Claude Code in ${worktree} `, 'm'));
  assert.equal(rowOf()?.status, 'ok');
});

test('what is no project is refused', (t) => {
  const { root, home, tool } = machine(t, '2.1.177');
  writeTree(root, { 'file.txt': '', 'pkg/go.mod': '' });
  const missing = (name: string, got: RegExp) =>
    joined(START, 'tool: ', lineLike(INSTALL_CODES.directory_missing, { path: join(root, name), got }));
  const cases: readonly [string, RegExp][] = [
    ['/', /^tool: \/ is .*tool init <dir>\. \(project_unsuitable\)$/m],
    [home, /^tool: .* is your home directory\. .*\(project_unsuitable\)$/m],
    [process.cwd(), /^tool: .* is toolcrew itself\. .*\(project_unsuitable\)$/m],
    [join(root, 'nowhere'), missing('nowhere', /none: ENOENT.*/)],
    [join(root, 'file.txt'), missing('file.txt', /a file/)],
  ];
  for (const [directory, words] of cases)
    for (const command of ['init', 'uninstall']) {
      const { exitCode, stdout, stderr } = tool([command, directory]);
      assert.deepEqual([directory, exitCode, stdout], [directory, 2, '']);
      assert.match(stderr, words);
    }
  const { stdout } = tool(['init', 'pkg', '--dry-run']);
  assert.match(stdout, /Would install .* in .*\/pkg \(Go, /, 'a directory that is named is taken as it is');
});

test('what stands in the way is exit 2 with nothing written', (t) => {
  const { root, tool } = machine(t, '2.1.177', { '.mcp.json': '{"mcpServers":{"team":{"command":"x"}}}' });
  const before = treeOf(root);
  const { exitCode, stdout, stderr } = tool(['init']);
  assert.deepEqual([exitCode, stdout], [2, '']);
  assert.match(stderr, /^tool: .* \(install_blocked\)\n {2}\.mcp\.json: mcpServers\.team: .* --force .*$/m);
  assert.deepEqual(treeOf(root), before);
  assert.equal(tool(['init', '--force']).exitCode, 0);
  assert.equal(tool(['uninstall']).exitCode, 0);
  assert.deepEqual(treeOf(root), before);
});

test('a project that may not be written to is refused before anything is', (t) => {
  const { root, cli, home, tool } = machine(t, '2.1.177', { '.claude/settings.json': '{}' });
  const isRoot = process.getuid?.() === 0;
  // Nobody may look into the directories of a test, unless they are opened.
  for (const path of [dirname(dirname(dirname(cli))), dirname(root), home]) chmodSync(path, 0o755);
  const nobody = isRoot ? { uid: 65_534, gid: 65_534 } : {};
  const cases: readonly [string, RegExp][] = [
    ['.', /^tool: \S+: expected to be able to write into it, got EACCES.* \(place_unusable\)$/m],
    ['.claude', /^tool: \.claude: expected to be able to write into it, got EACCES.* \(place_unusable\)$/m],
  ];
  for (const [closed, words] of cases) {
    for (const path of ['.', '.claude', '.claude/settings.json']) {
      if (isRoot) chownSync(join(root, path), 65_534, 65_534);
    }
    chmodSync(join(root, closed), 0o555);
    const before = treeOf(root);
    const { exitCode, stdout, stderr } = tool(['init'], root, nobody);
    assert.deepEqual([closed, exitCode, stdout], [closed, 2, ''], stderr);
    assert.match(stderr, words);
    assert.deepEqual(treeOf(root), before);
    chmodSync(join(root, closed), 0o755);
  }
  assert.equal(tool(['init'], root, nobody).exitCode, 0);
});
