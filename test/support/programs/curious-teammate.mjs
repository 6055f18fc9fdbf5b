// A teammate that looks for the person's credential instead of working, wherever one could be found, and tries to push.
// Each thing it tries is printed with what came of it. Arguments: the secret backwards, the person's home, the project.

import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const [backwards, home, project] = process.argv.slice(2);
const secret = [...backwards].reverse().join('');

function attempt(what, act) {
  let came = 'refused';
  try {
    if (act()) came = 'GOT IT';
  } catch {
    // That is what should happen.
  }
  process.stdout.write(`${what}: ${came}\n`);
}

const holds = (text) => String(text).includes(secret);
const run = (file, ...args) => {
  const { stdout, stderr } = spawnSync(file, args, { encoding: 'utf8' });
  return `${stdout}${stderr}`;
};
const pids = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

attempt('a variable', () => Object.values(process.env).some(holds));
for (const name of ['GITHUB_TOKEN', 'GH_TOKEN', 'SSH_AUTH_SOCK', 'GIT_ASKPASS', 'TOOL_KEY'])
  attempt(`the variable ${name}`, () => process.env[name] !== undefined);
attempt('its own home', () => process.env.HOME === home);
attempt('the processes above: environment', () =>
  pids().some((pid) => {
    try {
      return holds(readFileSync(`/proc/${pid}/environ`, 'latin1'));
    } catch {
      return false;
    }
  }),
);
attempt('the processes above: command lines', () =>
  pids().some((pid) => {
    try {
      return holds(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
    } catch {
      return false;
    }
  }),
);
attempt('processes of others', () => /serve|agent-above|tool run/.test(run('ps', 'axo', 'args')));
for (const file of ['.git-credentials', '.netrc', '.ssh/id_ed25519', '.config/gh/hosts.yml', '.npmrc', '.gitconfig'])
  attempt(`the person's home: ${file}`, () => holds(readFileSync(join(home, file), 'utf8')));
attempt("the person's home: a file left there", () => {
  writeFileSync(join(home, 'left-behind'), 'x');
  return true;
});
attempt('git config', () => holds(run('git', 'config', '--list', '--show-origin')));
attempt('git config, with its own variables gone', () =>
  holds(run('env', '-u', 'GIT_CONFIG_COUNT', '-u', 'GIT_CONFIG_NOSYSTEM', `HOME=${home}`, 'git', 'config', '--list')),
);
attempt('the file of git config', () => holds(readFileSync(join(project, '.git', 'config'), 'utf8')));
attempt('a credential helper', () =>
  holds(
    execFileSync('git', ['credential', 'fill'], { input: 'protocol=https\nhost=example.com\n\n', encoding: 'utf8' }),
  ),
);
for (const remote of ['origin', 'elsewhere'])
  attempt(`git push ${remote}`, () => spawnSync('git', ['push', remote, 'HEAD:refs/heads/stolen']).status === 0);
attempt('git push, with its own variables gone', () => {
  const args = ['-u', 'GIT_CONFIG_COUNT', 'git', 'push', 'origin', 'HEAD:refs/heads/stolen-too'];
  return spawnSync('env', args).status === 0;
});
attempt("the repository's settings", () => {
  appendFileSync(join(project, '.git', 'config'), '[core]\n\tfsmonitor = "touch /tmp/planted"\n');
  return true;
});
attempt("the repository's hooks", () => {
  writeFileSync(join(project, '.git', 'hooks', 'post-checkout'), '#!/bin/sh\n', { mode: 0o755 });
  return true;
});
attempt("the person's checkout", () => {
  appendFileSync(join(project, 'package.json'), '\n');
  return true;
});
attempt("another's worktree", () => {
  const worktrees = join(project, '.tool', 'worktrees');
  const [team, own] = relative(worktrees, process.cwd()).split('/');
  const other = readdirSync(join(worktrees, team)).find((name) => name !== own);
  writeFileSync(join(worktrees, team, other, 'planted.js'), 'x');
  return true;
});
attempt("the project's rules", () => {
  appendFileSync(join(project, '.tool', 'config', 'workflow.yaml'), '\n');
  return true;
});
const mine = join(process.cwd(), 'src', 'api', 'mine.txt');
writeFileSync(mine, 'x');
process.stdout.write(`its own worktree: ${readFileSync(mine, 'utf8') === 'x' ? 'written' : 'not written'}\n`);
const said = run('git', 'commit', '--allow-empty', '-qm', 'one of its own');
process.stdout.write(`its own branch: ${said === '' ? 'written' : said}\n`);
const [, id = ''] = /task (\d+) "/.exec(readFileSync(0, 'utf8')) ?? [];
const claim = run(join(process.env.HOME, 'bin', 'tool'), 'team', 'task', 'update', id, 'in_progress');
process.stdout.write(`its team: ${/in_progress/.test(claim) ? 'reached' : claim}\n`);
// As somebody else: by variables, cut loose from what started it, and behind a mount that names another.
const tool = [join(process.env.HOME, 'bin', 'tool'), 'team'];
const OWN = ['TOOL_TEAM', 'TOOL_TEAMMATE', 'TOOL_TEAMMATE_RUN'];
const nobody = ['env', ...OWN.flatMap((name) => ['-u', name])];
const carriedOut = (...words) => {
  const { status } = spawnSync(words[0], words.slice(1), { encoding: 'utf8' });
  return status === 0;
};
attempt("the lead's word, with its own variables gone", () => carriedOut(...nobody, ...tool, 'shutdown', 'enough'));
attempt("the lead's word, cut loose", () =>
  carriedOut(...nobody, 'setsid', '--fork', '--wait', ...tool, 'shutdown', 'enough'),
);
attempt("the lead's word, from namespaces of its own", () => {
  const room = readFileSync('/proc/self/mountinfo', 'utf8').match(/toolcrew:\w+:/)?.[0] ?? 'toolcrew:none:';
  const named = `${room}${process.env.TOOL_TEAM}:team-lead:1`;
  const script = `mount -t tmpfs '${named}' /mnt && exec ${tool.join(' ')} shutdown enough`;
  return carriedOut(...nobody, 'unshare', '-Urm', '/bin/sh', '-c', script);
});
const leading = [tool[0], 'team-restart', process.env.TOOL_TEAM, '--command', 'true'];
for (const [how, words] of [
  ['as itself', leading],
  ['with its own variables gone', [...nobody, ...leading]],
])
  attempt(`the lead's place, ${how}`, () => {
    const { stderr } = spawnSync(words[0], words.slice(1), { encoding: 'utf8' });
    return !new RegExp(` ${process.env.TOOL_TEAMMATE} of team .*\\(teammate_cannot_lead\\)$`, 'm').test(stderr);
  });
const other = process.env.TOOL_TEAMMATE === 'frontend-dev' ? 'tester' : 'frontend-dev';
spawnSync(tool[0], ['team', 'send', 'team-lead', 'progress', `truly ${process.env.TOOL_TEAMMATE}`], {
  env: { ...process.env, TOOL_TEAMMATE: other, TOOL_TEAMMATE_RUN: '' },
});
