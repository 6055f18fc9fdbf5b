// Compiles native/write-guard.c for each platform that a compiler is here for, and packs it: static, so that it runs on any Linux.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { GUARD_ARCHITECTURES, packedGuard } from '../src/guard/rules/program-name.ts';

const COMPILERS = {
  x64: { compiler: 'x86_64-linux-gnu-gcc', debian: 'gcc-x86-64-linux-gnu' },
  arm64: { compiler: 'aarch64-linux-gnu-gcc', debian: 'gcc-aarch64-linux-gnu' },
} as const;
const OPTIONS = ['-std=c11', '-O2', '-Wall', '-Wextra', '-Werror', '-static', '-s'];

/** What came of one program. */
type Compiled = { readonly made: boolean; readonly said: string };

function compile(compiler: string, source: string, program: string): Compiled {
  const { status, error, stderr } = spawnSync(compiler, [...OPTIONS, '-o', program, source], { encoding: 'utf8' });
  return { made: status === 0, said: error === undefined ? stderr.trim() : 'no such compiler' };
}

/** Replaces a program with its packed form, which is the same bytes for the same program. */
function pack(program: string, packed: string): void {
  writeFileSync(packed, gzipSync(readFileSync(program), { level: 9 }));
  rmSync(program);
}

/**
 * Writes `write-guard-linux-ARCH.gz` into a directory.
 * @param isForPackage whether other platforms count as well as this one
 * @returns a line for each platform that has none, with what is missing
 */
export function buildGuard(root: string, directory: string, isForPackage: boolean): readonly string[] {
  mkdirSync(directory, { recursive: true });
  const source = join(root, 'native', 'write-guard.c');
  return GUARD_ARCHITECTURES.flatMap((arch) => {
    const { compiler, debian } = COMPILERS[arch];
    const packed = join(directory, packedGuard('linux', arch));
    const program = packed.replace(/\.gz$/, '');
    const isHere = process.platform === 'linux' && process.arch === arch;
    const compilers = isHere ? ['cc', compiler] : [compiler];
    let missing = '';
    for (const one of compilers) {
      const { made, said } = compile(one, source, program);
      if (made) {
        pack(program, packed);
        return [];
      }
      if (missing === '') missing = `${one}: ${said.split('\n')[0]}`;
    }
    if (!isHere && !isForPackage) return [];
    return [`no write guard for linux-${arch}: ${missing} (Debian: ${isHere ? 'gcc libc6-dev' : debian})`];
  });
}
