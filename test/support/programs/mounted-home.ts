// Runs a script isolated in a home that is put together from mounts, as in a container. To be run as the superuser of
// namespaces of its own. usage: mounted-home.ts HOME SCRIPT; prints what the script prints.

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { boundsOf, Isolation } from '../../../src/agents/isolation.ts';

const [, , outer = '', script = ''] = process.argv;
// The kernel's table of mounts has names as bytes.
const home = join(outer, 'José 日本');

function mount(path: string, options: string): void {
  mkdirSync(path, { recursive: true });
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'none', path], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

mount(home, 'nosuid,nodev,noexec');
mount(join(home, '.ssh'), 'nosuid');
mount(join(home, 'state'), 'nodev');
mount(join(home, 'work spaces'), 'size=1m');
for (const path of [
  '.config/gh',
  'state/homes',
  'state/attempts/own',
  'state/attempts/other',
  'work spaces/issue-1',
  'project',
])
  mkdirSync(join(home, path), { recursive: true });
for (const path of ['.ssh/id', '.config/gh/hosts.yml', '.netrc']) writeFileSync(join(home, path), 'the-login\n');
const workspace = join(home, 'work spaces/issue-1');
const bounds = boundsOf({
  stateDir: join(home, 'state'),
  workspaceRoot: join(home, 'work spaces'),
  workflowPath: join(home, 'project/WORKFLOW.md'),
  packageRoot: process.cwd(),
  env: { HOME: home },
  runtimeDir: null,
});
const probed = await Isolation.probe('required', bounds);
const isolation = probed.aloneIn([join(home, 'state/attempts/own')]);
const [file, args] = isolation.wrap('/bin/sh', ['-c', script], [workspace, join(home, 'state/homes')]);
const { stdout, stderr } = spawnSync(file, args, {
  cwd: workspace,
  encoding: 'utf8',
  env: { PATH: process.env.PATH, HOME: home },
});
process.stdout.write(stdout);
process.stderr.write(stderr);
