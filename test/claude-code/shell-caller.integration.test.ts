// Identity of a shell: an agent cannot become somebody else by what it starts, and a teammate stays who it is.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { Isolation } from '../../src/agents/isolation.ts';
import { namespaceIdentity } from '../../src/agents/namespace-identity.ts';
import { FileTeams } from '../../src/team/log/teams.ts';
import { MESSAGES_CODES } from '../../src/team/rules/codes/messages-codes.ts';
import { codeIn, lineLike } from '../support/codes.ts';
import { HookedProject, TEAM } from '../support/hooked.ts';
import type { Cleanup } from '../support/temp.ts';

const CLI = join(process.cwd(), 'dist', 'cli.js');
const { active } = await Isolation.probe('auto', { readOnly: [], hidden: [], tables: '/nowhere' });
const NO_PROCESSES = process.platform === 'linux' ? {} : { skip: 'no /proc here' };

/** A shell in the project, as an agent of the host has it, with `tool` on its path, and a program that runs others. */
function shellOf(t: Cleanup) {
  const project = new HookedProject(t);
  const bin = join(project.root, '..', 'bin');
  mkdirSync(bin);
  for (const [name, script] of [
    ['tool', `exec '${process.execPath}' '${CLI}' "$@"`],
    ['runner', '"$@"\nexit $?'],
  ]) {
    writeFileSync(join(bin, name ?? ''), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name ?? ''), 0o755);
  }
  const env = { ...project.env, PATH: `${bin}:${project.env.PATH}`, CLAUDECODE: '1' };
  const type = (line: string, more: Record<string, string | undefined> = {}) => {
    const { exitCode, stdout, stderr } = execaSync('/bin/sh', ['-c', `${line}\nexit $?`], {
      cwd: project.root,
      env: { ...env, ...more },
      ...{ extendEnv: false, reject: false, stripFinalNewline: false },
    });
    return { code: exitCode, text: `${stdout}${stderr}` };
  };
  return { project, type };
}

/** The same call below all kinds of programs. */
const FORMS = (call: string) => [
  call,
  `timeout 60 ${call}`,
  `sh -c '${call}; exit $?'`,
  `env A=b ${call}`,
  `env A=b timeout 60 ${call}`,
  `nohup ${call}`,
  `nohup timeout 60 ${call}`,
  `setsid ${call}`,
  `setsid --fork --wait ${call}`,
  `setsid --fork --wait timeout 60 ${call}`,
  `runner ${call}`,
];

test(
  'an agent of a host becomes nobody of the team that it is in, whatever it starts `tool` with',
  NO_PROCESSES,
  async (t) => {
    const { project, type } = shellOf(t);
    await project.team('backend-dev', 'tester');
    await project.call('team-lead', 'TaskCreate', { subject: 'A', description: 'd', owner: 'backend-dev' });
    await project.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
    const log = `.tool/teams/${TEAM}/log.jsonl`;
    const before = project.read(log);
    const identity = namespaceIdentity(project.root, { team: TEAM, name: 'tester', epoch: 1 });
    const lines = [
      ...FORMS('tool team send backend-dev progress x').map((form) => `TOOL_TEAMMATE=tester ${form}`),
      'TOOL_TEAMMATE=backend-dev timeout 60 tool team task update 1 completed',
      `TOOL_TEAM=${TEAM} TOOL_TEAMMATE=backend-dev TOOL_TEAMMATE_RUN=1 timeout 60 tool team task update 1 completed`,
      'env -u CLAUDECODE TOOL_TEAMMATE=tester timeout 60 tool team send backend-dev progress x',
      'TOOL_TEAMMATE=team-lead timeout 60 tool team shutdown',
      `TOOL_TEAMMATE=team-lead timeout 60 tool team delete ${TEAM} --force`,
      'TOOL_TEAMMATE=team-lead timeout 60 tool team create tool-run-other',
      ...(active
        ? [`unshare -Urm /bin/sh -c "mount -t tmpfs '${identity}' /mnt && exec tool team send backend-dev progress x"`]
        : []),
    ];
    for (const line of lines) {
      const { code, text } = type(line);
      assert.equal(code, 1, `${line}: ${text}`);
      assert.match(codeIn(text) ?? '', /^(?:caller_unknown|team_creator_unknown)$/, line);
    }
    assert.equal(project.read(log), before);
  },
);

test(
  'a teammate that was started as a program stays who it is, below its own shells and programs',
  NO_PROCESSES,
  async (t) => {
    const { project, type } = shellOf(t);
    const person = { CLAUDECODE: undefined };
    for (const line of [
      `tool team create ${TEAM}`,
      `tool team spawn ${TEAM} team-tester --prompt p`,
      `tool team spawn ${TEAM} team-backend-dev --prompt p`,
    ])
      assert.equal(type(line, person).code, 0);
    const as = { TOOL_TEAM: TEAM, TOOL_TEAMMATE: 'tester', TOOL_TEAMMATE_RUN: '1' };
    const own = FORMS('tool team send team-lead progress "as itself"');
    const others = FORMS('tool team send team-lead progress "as another"').map(
      (form) => `TOOL_TEAMMATE=backend-dev TOOL_TEAMMATE_RUN= ${form}`,
    );
    for (const line of [...own, ...others]) {
      const { code, text } = type(line, as);
      assert.equal(code, 0, `${line}: ${text}`);
    }
    const ended = type('TOOL_TEAMMATE=team-lead timeout 60 tool team shutdown', as);
    assert.match(
      ended.text,
      lineLike(MESSAGES_CODES.message_type_reserved, {
        type: 'shutdown_request',
        senders: ['team-lead'],
        from: 'tester',
      }),
    );
    assert.equal(ended.code, 1);
    const log = new FileTeams({ root: project.root, now: Date.now }).open(TEAM);
    const senders = log?.state.messages.map(({ from }) => from);
    await log?.close();
    assert.deepEqual(
      senders,
      [...own, ...others].map(() => 'tester'),
    );
  },
);

test("the word of the lead is no program's that an agent of a host starts", NO_PROCESSES, (t) => {
  const { type } = shellOf(t);
  assert.equal(type(`tool team create ${TEAM}`, { CLAUDECODE: undefined }).code, 0);
  for (const form of FORMS('tool team shutdown')) {
    const { code, text } = type(`TOOL_TEAMMATE=team-lead ${form}`);
    assert.equal(code, 1, `${form}: ${text}`);
    assert.equal(codeIn(text), 'caller_unknown', form);
  }
});
