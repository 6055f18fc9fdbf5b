// A virtual machine with one of Debian's kernels, whose only programs are those of its initramfs.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { execaSync } from 'execa';
import type { GUARD_ARCHITECTURES } from '../../src/guard/rules/program-name.ts';

type Architecture = (typeof GUARD_ARCHITECTURES)[number];

const MACHINES = {
  x64: {
    program: 'qemu-system-x86_64',
    debian: { program: 'qemu-system-x86', architecture: 'amd64' },
    options: ['-machine', 'q35', '-cpu', 'max'],
    console: 'ttyS0',
  },
  arm64: {
    program: 'qemu-system-aarch64',
    debian: { program: 'qemu-system-arm', architecture: 'arm64' },
    options: ['-machine', 'virt', '-cpu', 'cortex-a72'],
    console: 'ttyAMA0',
  },
} as const;

/** For a slow machine that runs other tests beside it. */
const LONGEST_MS = 5 * 60_000;

function fetched(arch: Architecture, name: 'vmlinuz' | 'busybox'): string {
  return join('.cache', 'kernels', MACHINES[arch].debian.architecture, name);
}

/** The reason why this machine cannot be started here, with the command that helps; '': it can. */
export function noMachine(arch: Architecture): string {
  const { program, debian } = MACHINES[arch];
  if (execaSync(program, ['--version'], { reject: false }).failed)
    return `there is no ${program}: apt-get install ${debian.program}`;
  return existsSync(fetched(arch, 'vmlinuz')) ? '' : `there is no kernel for ${arch}: run scripts/fetch-kernels.sh`;
}

type Entry = { readonly mode: number; readonly content: string | Buffer };

/** An archive as the kernel unpacks it: cpio's format "newc", where each part ends at a multiple of four bytes. */
function archiveOf(entries: ReadonlyMap<string, Entry>): Buffer {
  const padded = (part: Buffer) => Buffer.concat([part, Buffer.alloc(-part.length & 3)]);
  const parts = [...entries, ['TRAILER!!!', { mode: 0, content: '' }] as const].flatMap(([path, entry], at) => {
    const content = Buffer.from(entry.content);
    const name = `${path}\0`;
    const [inode, user, group, links, time, device] = [at + 1, 0, 0, 1, 0, 0];
    const file = [inode, entry.mode, user, group, links, time, content.length, device, device, device, device];
    const header = [...file, Buffer.byteLength(name), 0].map((field) => field.toString(16).padStart(8, '0'));
    return [padded(Buffer.from(`070701${header.join('')}${name}`)), padded(content)];
  });
  return Buffer.concat(parts);
}

/** The archive's entries for these files, with their directories and busybox. */
function entriesOf(arch: Architecture, files: Readonly<Record<string, string | Buffer>>): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  const addDirectory = (path: string) => {
    if (path === '.' || entries.has(path)) return;
    addDirectory(dirname(path));
    entries.set(path, { mode: 0o040755, content: '' });
  };
  const programs = { 'bin/busybox': readFileSync(fetched(arch, 'busybox')) };
  for (const [path, content] of Object.entries({ ...programs, ...files })) {
    addDirectory(dirname(path));
    entries.set(path, { mode: 0o100755, content });
  }
  return entries;
}

/**
 * Starts the machine, and waits until it has switched itself off.
 * @param files of its initramfs by path; `init` is the first process
 * @param place a directory for the archive
 * @returns the lines of its console
 */
export function runMachine(
  arch: Architecture,
  files: Readonly<Record<string, string | Buffer>>,
  place: string,
): readonly string[] {
  const { program, options, console } = MACHINES[arch];
  const archive = join(place, `initramfs-${arch}`);
  writeFileSync(archive, gzipSync(archiveOf(entriesOf(arch, files)), { level: 1 }));
  const machine = ['-accel', 'tcg', ...options, '-m', '256', '-nodefaults', '-display', 'none', '-serial', 'stdio'];
  const kernel = ['-kernel', fetched(arch, 'vmlinuz'), '-initrd', archive];
  // A kernel that panics ends the machine. On a busy computer its own check of the timer comes too late, and x64 would panic.
  const words = [...machine, '-no-reboot', ...kernel, '-append', `console=${console} panic=-1 no_timer_check`];
  const limits = { timeout: LONGEST_MS, killSignal: 'SIGKILL' } as const;
  const { stdout, stderr, timedOut } = execaSync(program, words, { ...limits, input: '', reject: false });
  const lines = stdout.split(/\r*\n/);
  if (timedOut) throw new Error(`${program} has not ended in time\n${stderr}${lines.slice(-40).join('\n')}`);
  return lines;
}
