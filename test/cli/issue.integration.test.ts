// Commands `tool issue` and `tool pr`, called by an agent within an attempt and from elsewhere.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import test from 'node:test';
import { CLI_CODES } from '../../src/cli/rules/cli-codes.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { agentRunning } from '../support/agents.ts';
import { joined, lineLike, START, textLike } from '../support/codes.ts';
import { cleanEnv, Daemon, runTool } from '../support/daemon.ts';
import { BASE, startForge } from '../support/forge.ts';
import { finallyDo, tempDir } from '../support/temp.ts';

/** Each command's output goes to a file of its own, so that the test sees what the agent saw. */
const AGENT = `cat >/dev/null; set +e; mkdir seen
run() { name=$1; shift; "$@" > seen/$name.out 2> seen/$name.err; echo $? > seen/$name.code; }
run show tool issue show
run json tool issue show "$TOOL_ISSUE" --json
run other tool issue show 99
run early tool issue done
run earlyPull tool pr create --title "Too early"
run words tool issue comment --body "I begin"
echo "From the standard input" | run stdin tool issue comment "$TOOL_ISSUE" --body-file -
echo x > work.txt; git add work.txt; git commit -qm "Do the work"
echo "In a file" > seen/body.md
run pull tool pr create --title "My title" --body-file seen/body.md
run again tool pr create --title "My title" --json
run done tool issue done
touch seen/end; while [ ! -e go ]; do sleep 0.02; done`;

/** A message of one line, without a stack trace. */
function oneClearLine(stderr: string, words: RegExp): void {
  assert.match(stderr, words);
  assert.equal(stderr.trim().split('\n').length, 1, stderr);
}

test('an agent sees its issue, comments on it, opens the pull request and says that it is done', async (t) => {
  const forge = await startForge(t);
  const issue = await forge.open('Fix the "greeting" \u001b[31m', { body: 'First line\n\nSecond line\u0007' });
  const say = (login: string, body: string) =>
    forge.forge.call(login, 'POST', `${BASE}/issues/${issue}/comments`, { body });
  await say('maintainer', 'Mind the *tests*');
  await say('stranger', 'Mind me');
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning(AGENT) });
  const seen = join(daemon.root, `issue-${issue}`, 'seen');
  await daemon.until('the agent has asked everything', () => existsSync(join(seen, 'end')));
  const said = (name: string) => ({
    code: Number(readFileSync(join(seen, `${name}.code`), 'utf8')),
    out: readFileSync(join(seen, `${name}.out`), 'utf8'),
    err: readFileSync(join(seen, `${name}.err`), 'utf8'),
  });
  const refused = (name: string, words: RegExp) => {
    const { code, out, err } = said(name);
    assert.deepEqual({ name, code, out }, { name, code: 1, out: '' });
    oneClearLine(err, words);
  };

  const [pull] = await forge.pulls();
  const url = `${forge.forge.url}/maintainer/project/pull/${pull?.number}`;
  const shown = JSON.parse(said('json').out);
  const [{ created_at, ...comment }] = shown.comments;
  assert.deepEqual(
    { ...shown, comments: [comment] },
    {
      number: issue,
      title: 'Fix the "greeting" \u001b[31m',
      body: 'First line\n\nSecond line\u0007',
      url: `${forge.forge.url}/maintainer/project/issues/${issue}`,
      labels: ['tool-todo'],
      author: 'maintainer',
      attempt: 1,
      branch: `tool/issue-${issue}`,
      comments: [{ author: 'maintainer', body: 'Mind the *tests*' }],
    },
  );
  assert.equal(shown.comments.length, 1, 'what a stranger wrote is not passed on');
  assert.equal(
    said('show').out,
    `#${issue} Fix the "greeting" \\x1b[31m\nby maintainer · attempt 1 · branch tool/issue-${issue}\n\nFirst line\n\nSecond line\\x07\n\n--- maintainer, ${created_at}\nMind the *tests*\n`,
  );

  const daemonSaid = (said: RegExp) => joined(START, 'tool: ', lineLike(CLI_CODES.daemon_refused, { said }));
  refused('other', daemonSaid(/.*#1 only.*#99.*/));
  refused('early', /tool\/issue-1.*say why with `tool issue comment`.* \(daemon_refused\)$/m);
  refused('earlyPull', daemonSaid(textLike(WORK_CODES.nothing_committed, { branch: 'tool/issue-1' })));

  assert.deepEqual(said('words'), { code: 0, out: `commented on #${issue}\n`, err: '' });
  assert.deepEqual(said('stdin'), { code: 0, out: `commented on #${issue}\n`, err: '' });
  assert.deepEqual(
    (await forge.comments(issue)).slice(2).map((text) => text.split('\n')[0]),
    ['I begin', 'From the standard input'],
  );
  assert.deepEqual(said('pull'), { code: 0, out: `pull request #${pull?.number}: ${url}\n`, err: '' });
  assert.deepEqual(JSON.parse(said('again').out), { number: pull?.number, url, branch: `tool/issue-${issue}` });
  assert.deepEqual(
    { title: pull?.title, body: pull?.body },
    { title: 'My title', body: `In a file\n\nCloses #${issue}` },
  );
  assert.deepEqual(said('done'), {
    code: 0,
    out: `#${issue} is taken as done; it is published when you end\n`,
    err: '',
  });

  writeFileSync(join(daemon.root, `issue-${issue}`, 'go'), '');
  await daemon.logged(`issue #${issue} state changed to tool-done`);
  assert.equal((await forge.pulls()).length, 1);
  assert.match(daemon.log, /\[socket\] +warn: .*issue #1 .*issue #99\b/);
});

const COMMANDS = [
  ['issue', 'show'],
  ['issue', 'comment', '--body', 'x'],
  ['issue', 'ask', 'x'],
  ['issue', 'done'],
  ['pr', 'create', '--title', 'x'],
];

test('outside of an attempt the commands say what they are for', async () => {
  for (const { code, stderr } of await Promise.all(COMMANDS.map((command) => runTool(command)))) {
    assert.equal(code, 2);
    oneClearLine(stderr, /TOOL_SOCKET and TOOL_KEY in the environment\. \(agent_command_misused\)$/m);
  }
});

test('a socket that is not there, or behind which no daemon is, is said in one line', async (t) => {
  const directory = tempDir(t);
  const listen = async (name: string, answer: (socket: Socket) => void) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => answer(socket));
    });
    await new Promise<void>((resolve) => server.listen(join(directory, name), resolve));
    finallyDo(t, () => server.close());
  };
  const answering = (body: string) => (socket: Socket) => {
    socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  };
  await listen('prose', answering('<html>\u001b[31mhello'));
  await listen('list', answering('[1]'));
  await listen('empty', answering(''));
  await listen('cut', (socket) => socket.destroy());
  await listen('half', (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{', () => socket.destroy());
  });
  await listen('other', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
  const cases: readonly [string, RegExp][] = [
    ['nowhere', /does not answer at .*nowhere: connect ENOENT.* \(daemon_unreachable\)$/m],
    ['prose', /does not answer at .*prose: expected a JSON object, got <html>\\x1b\[31mhello \(daemon_unreachable\)$/m],
    ['list', /: expected a JSON object, got \[1\] \(daemon_unreachable\)$/m],
    ['empty', /: expected a JSON object, got nothing \(daemon_unreachable\)$/m],
    ['cut', /does not answer at .*cut: socket hang up/],
    ['half', /does not answer at .*half: aborted/],
    ['other', /does not answer at .*other: Parse Error/],
  ];
  await Promise.all(
    cases.map(async ([name, words]) => {
      const env = cleanEnv(directory, { TOOL_SOCKET: join(directory, name), TOOL_KEY: 'k', TOOL_ISSUE: '1' });
      const { code, stderr, stdout } = await runTool(['issue', 'show'], { env });
      assert.deepEqual({ name, code, stdout }, { name, code: 1, stdout: '' });
      oneClearLine(stderr, words);
    }),
  );
});

test('what is missing in a request is said before anybody is asked', async (t) => {
  const env = cleanEnv(tempDir(t), { TOOL_SOCKET: '/nonexistent', TOOL_KEY: 'k', TOOL_ISSUE: '1' });
  const cases: readonly [string[], RegExp][] = [
    [
      ['issue', 'comment', '--body', 'x', '--body-file', 'y'],
      /--body and --body-file, got both\. \(option_invalid\)$/m,
    ],
    [['issue', 'comment'], /expected --body <text> or --body-file <file>, got neither/],
    [
      ['issue', 'comment', '--body-file', 'nowhere.md'],
      lineLike(CLI_CODES.input_unreadable, { option: '--body-file', path: 'nowhere.md', said: /ENOENT.*/ }),
    ],
    [['issue', 'comment', '--body-file', '-'], /expected a comment, got an empty text/],
    [['pr', 'create', '--title', ' '], /--title: expected a title, got an empty text/],
  ];
  await Promise.all(
    cases.map(async ([args, words]) => {
      const { code, stderr } = await runTool(args, { env });
      assert.deepEqual({ args, code }, { args, code: 2 });
      oneClearLine(stderr, words);
    }),
  );
});
