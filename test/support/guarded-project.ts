// A ticket for the write guard in a project: its policy, its log, and the script that starts it.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitRows } from '../../src/domain/guard/git-calls.ts';
import { endingsOf, KEPT, policyText } from '../../src/domain/guard/policy.ts';
import { ticketScript } from '../../src/domain/guard/ticket.ts';
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
  writeFileSync(path, ticketScript(guard, policy, log), { mode: 0o755 });
  return { path, log: () => (existsSync(log) ? readFileSync(log, 'utf8') : '') };
}
