// Compiles native/write-guard.c for each platform that a compiler is here for: static, so that it runs on any Linux.

import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

type Target = { readonly arch: 'x64' | 'arm64'; readonly compiler: string; readonly debian: string };

const TARGETS: readonly Target[] = [
  { arch: 'x64', compiler: 'x86_64-linux-gnu-gcc', debian: 'gcc-x86-64-linux-gnu' },
  { arch: 'arm64', compiler: 'aarch64-linux-gnu-gcc', debian: 'gcc-aarch64-linux-gnu' },
];
const OPTIONS = ['-std=c11', '-O2', '-Wall', '-Wextra', '-Werror', '-static', '-s'];

/** What came of one program. */
type Compiled = { readonly made: boolean; readonly said: string };

function compile(compiler: string, source: string, program: string): Compiled {
  const { status, error, stderr } = spawnSync(compiler, [...OPTIONS, '-o', program, source], { encoding: 'utf8' });
  return { made: status === 0, said: error === undefined ? stderr.trim() : 'no such compiler' };
}

/**
 * Writes `write-guard-linux-ARCH` into a directory.
 * @param isForPackage whether other platforms count as well as this one
 * @returns a line for each platform that has none, with what is missing
 */
export function buildGuard(root: string, directory: string, isForPackage: boolean): readonly string[] {
  mkdirSync(directory, { recursive: true });
  const source = join(root, 'native', 'write-guard.c');
  return TARGETS.flatMap(({ arch, compiler, debian }) => {
    const program = join(directory, `write-guard-linux-${arch}`);
    const isHere = process.platform === 'linux' && process.arch === arch;
    const compilers = isHere ? ['cc', compiler] : [compiler];
    let missing = '';
    for (const one of compilers) {
      const { made, said } = compile(one, source, program);
      if (made) return [];
      if (missing === '') missing = `${one}: ${said.split('\n')[0]}`;
    }
    if (!isHere && !isForPackage) return [];
    return [`no write guard for linux-${arch}: ${missing} (Debian: ${isHere ? 'gcc libc6-dev' : debian})`];
  });
}
