// Git LFS with the built daemon and a server of objects: agents see files, and what they add is on the server before the branch.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, join } from 'node:path';
import test from 'node:test';
import { workflowText } from '../../src/cli/workflow-text.ts';
import { agentRunning } from '../support/agents.ts';
import { Daemon, type DaemonOptions, runTool } from '../support/daemon.ts';
import { commitFiles, DAEMON_TOKEN, gitAs, startForge, type TestForge } from '../support/forge.ts';
import { LfsServer, oidOf, pointerTo } from '../support/lfs-server.ts';
import { type Cleanup, finallyDo, tempDir } from '../support/temp.ts';

const ATTRIBUTES = '*.bin filter=lfs diff=lfs merge=lfs -text\n';
const BASE = 'the bytes of the base\n';
const NEW = 'the bytes of the agent\n';
const ADDS = `cat >/dev/null; cat base.bin; printf '${NEW.trim()}\\n' > new.bin; git add -A; git commit -qm Add; env > /dev/null`;

/** A repository with one file in LFS, and the server that has it. */
async function repositoryWithLfs(t: Cleanup, more: Readonly<Record<string, string>> = {}) {
  const forge = await startForge(t);
  const server = await LfsServer.start(t, forge.forge.url);
  server.put(BASE);
  await commitFiles(forge.work, { '.gitattributes': ATTRIBUTES, 'base.bin': pointerTo(BASE), ...more }, 'With LFS');
  await gitAs(forge.work, 'push', '--quiet', forge.bare, 'main');
  return { forge, server };
}

function outputOf(daemon: Daemon, issue = 1): string {
  return readFileSync(join(daemon.stateDir, 'outputs', `issue-${issue}-1-1.log`), 'utf8');
}

async function once(t: Cleanup, forge: TestForge, server: LfsServer, script: string, more: DaemonOptions = {}) {
  await forge.open('Work with large files');
  const daemon = await Daemon.start(t, forge, {
    yaml: agentRunning(script),
    args: ['--once'],
    apiUrl: server.url,
    ...more,
  });
  const code = await daemon.exit();
  return { daemon, code };
}

const onBranch = (forge: TestForge, file: string, issue = 1) =>
  gitAs(forge.bare, 'show', `tool/issue-${issue}:${file}`);

test('the agent reads the bytes; what it adds is a pointer on the branch and an object on the server', async (t) => {
  const { forge, server } = await repositoryWithLfs(t);
  const script = `${ADDS}; env; git config --list; git status --porcelain`;
  const { daemon, code } = await once(t, forge, server, script);
  assert.equal(code, 0, daemon.log);
  assert.equal((await forge.pulls()).length, 1, daemon.log);
  assert.ok(daemon.log.length > 0);
  const said = JSON.stringify(await daemon.read());
  assert.ok(said.length > 0);
  assert.equal(await onBranch(forge, 'new.bin'), pointerTo(NEW));
  assert.equal(await onBranch(forge, 'base.bin'), pointerTo(BASE));
  assert.equal(server.objects.get(oidOf(NEW))?.toString(), NEW);
  console.log(daemon.log); 
});
