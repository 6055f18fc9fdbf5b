import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execa, execaSync } from 'execa';
import { boundsOf, credentialPlaces, Isolation } from '../../src/agents/isolation.ts';
import { runProgram } from '../../src/base/processes/program.ts';
import { RuntimeDir } from '../../src/base/processes/runtime-dir.ts';
import { refusal } from '../../src/base/rules/codes.ts';
import { HTTP_CODES } from '../../src/daemon/rules/codes/http-codes.ts';
import { openKeyedSocket } from '../../src/daemon/runners/keyed-socket.ts';
import { git } from '../../src/git/git.ts';
import { GIT_CODES } from '../../src/git/rules/git-codes.ts';
import { failsWith } from '../support/codes.ts';
import { programFile } from '../support/compiled.ts';
import { finallyDo, tempDir } from '../support/temp.ts';

const env = { PATH: process.env.PATH ?? '' };

async function isolated(t: { after(fn: () => void): void }) {
  const home = tempDir(t);
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  for (const directory of [
    '.config/gh',
    '.ssh',
    'credentials',
    'state/homes',
    'workspaces/issue-1',
    'workspaces/issue-2',
    'project',
  ])
    mkdirSync(join(home, directory), { recursive: true });
  writeFileSync(join(home, '.config/gh/hosts.yml'), 'oauth_token: the-login\n');
  writeFileSync(join(home, '.git-credentials'), 'https://x:the-login@host\n');
  writeFileSync(join(home, '.ssh/id'), 'the-login\n');
  writeFileSync(join(home, 'credentials/GITHUB_TOKEN'), 'the-login\n');
  writeFileSync(join(home, 'project/WORKFLOW.md'), 'the workflow\n');
  writeFileSync(join(home, 'state/journal.jsonl'), 'the journal\n');
  writeFileSync(join(home, 'state/control.json'), 'the-login\n');
  const bounds = boundsOf({
    stateDir: join(home, 'state'),
    workspaceRoot: join(home, 'workspaces'),
    workflowPath: join(home, 'project/WORKFLOW.md'),
    packageRoot: process.cwd(),
    env: { HOME: home, CREDENTIALS_DIRECTORY: join(home, 'credentials') },
    runtimeDir: runtime.path,
  });
  const isolation = await Isolation.probe('auto', bounds);
  const own = join(home, 'workspaces/issue-1');
  const run = async (script: string) => {
    const [file, args] = isolation.wrap('/bin/sh', ['-c', script], [own, join(home, 'state/homes')]);
    return runProgram(file, args, { cwd: own, env: { ...env, HOME: home }, input: 'the input' });
  };
  return { home, isolation, run, runtime };
}

const bare = execaSync({ reject: false })`unshare --user --map-root-user --mount --pid --fork true`;
const possible = bare.failed ? { skip: `this kernel gives no namespaces: ${bare.stderr}` } : {};

test('of the directories around its own ones it sees those alone, also when others come later', possible, async (t) => {
  const home = tempDir(t);
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  const [own, root] = [join(home, 'state/attempts/one'), join(home, 'root/attempts/one')];
  for (const directory of [own, join(root, 'issue-1'), join(home, 'state/attempts/before')])
    mkdirSync(directory, { recursive: true });
  writeFileSync(join(own, 'mine'), 'mine');
  const options = { workflowPath: join(home, 'w/W.md'), packageRoot: process.cwd(), env: { HOME: home } };
  const places = { stateDir: join(home, 'state'), workspaceRoot: join(home, 'root'), runtimeDir: runtime.path };
  const isolation = await Isolation.probe('required', { ...boundsOf({ ...options, ...places }), alone: [own, root] });
  const script = `
    echo begun; read line
    ls ${home}/state/attempts ${home}/root/attempts
    cat ${own}/mine; cat ${home}/*/attempts/later/secret
    echo x > ${own}/planted || echo refused; mkdir ${home}/root/attempts/two || echo refused
    echo written > ${root}/issue-1/file && cat ${root}/issue-1/file`;
  const [file, args] = isolation.wrap('/bin/sh', ['-c', script], [join(root, 'issue-1')]);
  const child = execa(file, args, { cwd: join(root, 'issue-1'), env: { ...env, HOME: home }, extendEnv: false });
  await once(child.stdout, 'data');
  for (const place of ['state', 'root']) {
    mkdirSync(join(home, place, 'attempts/later'));
    writeFileSync(join(home, place, 'attempts/later/secret'), 'the-secret');
  }
  child.stdin.end('go\n');
  const { stdout } = await child;
  const listed = `${home}/root/attempts:\none\n\n${home}/state/attempts:\none\n`;
  assert.equal(stdout, `begun\n${listed}minerefused\nrefused\nwritten`);
  assert.equal(readFileSync(join(root, 'issue-1/file'), 'utf8'), 'written\n');
});

test('input, output and exit code are those of the program', possible, async (t) => {
  const { run } = await isolated(t);
  const result = await run('cat; echo err >&2; exit 7');
  assert.equal(result.exitCode, 7);
  assert.equal(result.stdout, 'the input');
  assert.equal(result.stderr, 'err\n');
});

test('no process of anybody else is to be seen, and its own user is kept', possible, async (t) => {
  const { run } = await isolated(t);
  const { stdout } = await run(
    `ls /proc | grep -c "^[0-9]"; id -u; cat /proc/1/cmdline | tr "\\0" " "; ls /proc/${process.pid}/environ 2>&1; kill -9 ${process.pid} 2>&1`,
  );
  const [count, uid, first, , kill] = stdout.split('\n');
  assert.ok(Number(count) <= 5, stdout);
  assert.equal(Number(uid), process.getuid?.());
  assert.match(first ?? '', /^\/bin\/sh/);
  assert.match(`${stdout}${kill}`, /No such (file|process)/);
});

test(
  'credential files are empty, the rest of the home is read-only, the own places can be written',
  possible,
  async (t) => {
    const { home, run } = await isolated(t);
    const { stdout } = await run(`
    cat ~/.config/gh/hosts.yml ~/.git-credentials ~/.ssh/id ~/credentials/GITHUB_TOKEN ~/state/control.json 2>&1 | grep -c the-login
    for file in ~/.bashrc ~/state/journal.jsonl ~/project/WORKFLOW.md ~/workspaces/issue-2/x ${process.cwd()}/planted; do echo pwned >> $file && echo "WROTE $file"; done 2>/dev/null
    echo mine > own.txt && echo "wrote own"
    echo home > ~/state/homes/x && echo "wrote home"
    for fd in 3 4 5 6 7 8 9; do [ -e /proc/self/fd/$fd ] && echo "OPEN $fd"; done
    umount ~/.ssh 2>/dev/null && echo "UNMOUNTED"
    mount -o remount,rw ~ 2>/dev/null && echo "REMOUNTED"
    unshare --user --map-root-user --mount sh -c 'umount ~/.ssh && echo UNMOUNTED; mount -o remount,bind,rw ~ && echo REMOUNTED' 2>/dev/null
    cat ~/.ssh/id 2>/dev/null
    exit 0`);
    assert.equal(stdout, '0\nwrote own\nwrote home\n');
    assert.equal(readFileSync(join(home, 'state/journal.jsonl'), 'utf8'), 'the journal\n');
    assert.equal(existsSync(join(home, '.bashrc')), false);
    assert.equal(readFileSync(join(home, '.ssh/id'), 'utf8'), 'the-login\n', 'outside nothing has changed');
  },
);

test('no agent takes the place of a socket, or writes to the temporary files of another', possible, async (t) => {
  const { isolation, runtime } = await isolated(t);
  const [own, other] = [runtime.make('t1-1'), runtime.make('t2-1')];
  const { socket, close } = await openKeyedSocket(runtime, {
    keyWrong: refusal(HTTP_CODES.attempt_key_wrong, {}),
    codeOf: ({ kind }) => kind,
    answer: async () => ({}),
  });
  finallyDo(t, close);
  const ask = `require("http").request({ socketPath: "${socket}", path: "/v1", method: "POST" }, ({ statusCode }) => console.log(statusCode)).end()`;
  const script = `
    { mv ${socket} ${socket}.real || mv ${runtime.path} ${runtime.path}.real || rm ${socket} || touch ${other}/x || mkdir ${runtime.path}/x; } 2>/dev/null && echo CHANGED
    echo mine > ${own}/x && cat ${own}/x
    ${process.execPath} -e '${ask}'`;
  const [file, args] = isolation.wrap('/bin/sh', ['-c', script], [own]);
  const { stdout, stderr } = await runProgram(file, args, { cwd: '/', env });
  assert.equal(stdout, 'mine\n403\n', stderr);
});

test('one program makes the mounts of every workspace, from one table', possible, async (t) => {
  const { home, isolation } = await isolated(t);
  const [first, second] = [1, 2].map((issue) => {
    const own = join(home, `workspaces/issue-${issue}`);
    const [, args] = isolation.wrap('true', [], [own, join(home, 'state/homes')]);
    const at = args.indexOf('init');
    return args.slice(at + 3).map((word) => word.replace(own, 'OWN'));
  });
  assert.deepEqual(first, second);
  assert.deepEqual(first?.slice(0, 7), ['o', 'OWN', '', 'o', join(home, 'state/homes'), '', 't']);
  assert.equal(first?.filter((word) => word === 't' || word === 'w').length, 1);
});

test('many places to write to can all be written to, and what is between them cannot', possible, async (t) => {
  const { home, isolation } = await isolated(t);
  const places = Array.from({ length: 15 }, (_, index) => join(home, `state/p ${index}/own`));
  for (const place of places) mkdirSync(place, { recursive: true });
  const script = `for place; do echo > "$place/x"; echo > "$place/../x"; done 2>/dev/null; ls -d ${home}/state/*/x; ls ${home}/state/*/own; for fd in 3 4 5 6 7 8 9; do [ -e /proc/self/fd/$fd ] && echo "OPEN $fd"; done; :`;
  const [file, args] = isolation.wrap('/bin/sh', ['-c', script, 'sh', ...places], places);
  const { stdout } = await runProgram(file, args, { cwd: home, env });
  assert.deepEqual(
    stdout.split('\n').filter((line) => !line.endsWith(':') && line !== ''),
    places.map(() => 'x'),
  );
});

test('whatever it started ends with it, also what left the group and hid its mark', possible, async (t) => {
  const { home, run } = await isolated(t);
  const file = join(home, 'state/homes/beat');
  const { stdout } = await run(
    `env -i PATH="$PATH" setsid sh -c 'while :; do date +%s%N > ${file}; sleep 0.02; done' & while [ ! -s ${file} ]; do sleep 0.01; done; echo up`,
  );
  assert.equal(stdout, 'up\n');
  const last = readFileSync(file, 'utf8');
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(readFileSync(file, 'utf8'), last);
});

test('SIGTERM reaches the program, which may end in order', possible, async (t) => {
  const { home, isolation } = await isolated(t);
  const own = join(home, 'workspaces/issue-1');
  const [file, args] = isolation.wrap(
    '/bin/sh',
    ['-c', 'trap "echo bye; exit 9" TERM; echo up; while :; do sleep 0.02; done'],
    [own],
  );
  const stop = new AbortController();
  const { startProgram } = await import('../../src/base/processes/program.ts');
  const program = await startProgram(file, args, { cwd: own, env, signal: stop.signal, graceMs: 20_000 });
  let said = '';
  program.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    if (said === 'up\n') stop.abort();
  });
  assert.deepEqual(await program.exit, { exitCode: 9, signal: null });
  assert.equal(said, 'up\nbye\n');
});

test(
  'places that are mounts of their own, with flags that may not be dropped, are bounded all the same',
  possible,
  (t) => {
    const home = tempDir(t);
    const { stdout, stderr } = execaSync(
      'unshare',
      [
        ...['--user', '--map-root-user', '--mount', '--', process.execPath, programFile('mounted-home'), home],
        `cat ~/.ssh/id ~/.config/gh/hosts.yml ~/.netrc 2>&1 | grep -c the-login
       for file in ~/x ~/.ssh/x ~/state/x ~/project/x "$HOME/work spaces/x"; do touch "$file" && echo "WROTE $file"; done 2>/dev/null
       touch own.txt ~/state/homes/x && echo "wrote own"
       ls ~/state/attempts`,
      ],
      { reject: false },
    );
    assert.equal(stdout, '0\nwrote own\nown', stderr);
  },
);

test('a link in the way of a bound leads to the real place', possible, async (t) => {
  const home = tempDir(t);
  mkdirSync(join(home, 'real'));
  symlinkSync(join(home, 'real'), join(home, 'link'));
  const isolation = await Isolation.probe('auto', {
    readOnly: [join(home, 'link')],
    hidden: [join(home, 'nowhere')],
    tables: join(home, 'mounts'),
  });
  const [file, args] = isolation.wrap('/bin/sh', ['-c', `echo x > ${home}/real/x`], []);
  assert.notEqual((await runProgram(file, args, { cwd: home, env })).exitCode, 0);
});

for (const gone of ['state/control.json', 'workspaces/issue-1'])
  test(
    `${gone} goes before the namespaces are made: nothing runs, which says nothing of the repository`,
    possible,
    async (t) => {
      const { home, isolation } = await isolated(t);
      const launch = (file: string, args: readonly string[]) => {
        const wrapped = isolation.wrap(file, args, [join(home, 'workspaces/issue-1')]);
        rmSync(join(home, gone), { recursive: true });
        return wrapped;
      };
      await failsWith(git(['init', home], { cwd: home, launch }), GIT_CODES.git_not_launched, { command: 'init' });
      assert.equal(existsSync(join(home, '.git')), false);
    },
  );

test('off is off; required and impossible is an error that says why', async () => {
  const off = await Isolation.probe('off', { readOnly: [], hidden: [], tables: '/nowhere' });
  assert.deepEqual(off.wrap('/bin/true', ['a'], []), ['/bin/true', ['a']]);
  assert.equal(off.reason, 'tool.isolation is off');
});

test('where credentials lie', () => {
  const places = credentialPlaces({
    HOME: '/h',
    SSH_AUTH_SOCK: '/run/agent',
    XDG_RUNTIME_DIR: '/run/me',
    CREDENTIALS_DIRECTORY: '/run/credentials/one.service',
    GH_CONFIG_DIR: '/gh',
  });
  for (const place of [
    '/gh',
    '/h/.ssh',
    '/h/.netrc',
    '/h/.git-credentials',
    '/h/.config/git/credentials',
    '/h/.gitconfig',
    '/h/.config/git/config',
    '/h/.docker/config.json',
    '/h/.npmrc',
    '/h/.aws',
    '/h/.config/gcloud',
    '/run/agent',
    '/run/me',
    '/run/credentials/one.service',
    '/run/secrets',
  ])
    assert.ok(places.includes(place), place);
  const served = credentialPlaces({ HOME: '/h', CLAUDE_CODE_USE_BEDROCK: '1', CLAUDE_CODE_USE_VERTEX: '1' });
  for (const place of ['/h/.aws', '/h/.config/gcloud']) assert.equal(served.includes(place), false, place);
});
