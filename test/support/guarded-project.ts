// A ticket for the write guard in a project: its policy, its log, and the script that starts it.

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GUARD_PROGRAM } from '../../src/adapters/guard-program.ts';
import { gitRows } from '../../src/domain/guard/git-calls.ts';
import { endingsOf, KEPT, policyText } from '../../src/domain/guard/policy.ts';
import { shellScript, ticketScript } from '../../src/domain/guard/ticket.ts';
import { DEFAULT_OWNERSHIP } from '../../src/domain/team/ownership.ts';

export type Ticket = { readonly path: string; readonly log: () => string };

/** @param directory where it is put; its path has no spaces */
export function ticketIn(directory: string, guard: string, root: string, member: string): Ticket {
  const [policy, log, path] = [join(directory, 'policy'), join(directory, 'log'), join(directory, 'a-ticket')];
  mkdirSync(join(directory, 'leases'));
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
  const text = policyText({
    root,
    member,
    ownership: DEFAULT_OWNERSHIP,
    leases: join(directory, 'leases'),
    claims: true,
    allow: [],
    keep: KEPT,
    elsewhere: [],
    gitDirectories: [join(root, '.git')],
    gitPrograms: [execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim()],
    endings: endingsOf(tracked),
    git: gitRows('shared', 'src/components'),
  });
  writeFileSync(policy, text);
  writeFileSync(path, ticketScript(guard, policy, log, true), { mode: 0o755 });
  return { path, log: () => (existsSync(log) ? readFileSync(log, 'utf8') : '') };
}

/** Our shell with the program of the guard beside it, as `tool init` places them; gives the shell's path. */
export function shellIn(directory: string, guard: string): string {
  const shell = join(directory, 'bash');
  mkdirSync(directory, { recursive: true });
  copyFileSync(guard, join(directory, GUARD_PROGRAM));
  writeFileSync(shell, shellScript('/bin/bash'), { mode: 0o755 });
  return shell;
}
