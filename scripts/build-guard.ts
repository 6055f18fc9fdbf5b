// Compiles native/write-guard.c for each platform that a compiler is here for, and packs it: static, so that it runs on any Linux.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { packProgram } from '../src/guard/packed-program.ts';
import { GUARD_ARCHITECTURES, packedGuard } from '../src/guard/rules/program-name.ts';

/** `machine`: in the names of compilers and of the directories of a C library. */
const PLATFORMS = {
  x64: { machine: 'x86_64', debian: 'gcc-x86-64-linux-gnu' },
  arm64: { machine: 'aarch64', debian: 'gcc-aarch64-linux-gnu' },
} as const;
const OPTIONS = ['-std=c11', '-O2', '-Wall', '-Wextra', '-Werror', '-static', '-s'];
/** Leave out what the program never runs or reads. */
const SMALL = ['-ffunction-sections', '-fdata-sections', '-fno-asynchronous-unwind-tables'];
const SMALL_LINK = ['-Wl,--gc-sections', '-Wl,--build-id=none'];

/**
 * Options that link musl in place of the compiler's own C library: a fifth of the size. It brings no headers of the kernel.
 * @returns null: Debian's musl-dev of that architecture is not installed
 */
function muslOptions(machine: string): readonly string[] | null {
  const specs = `/usr/lib/${machine}-linux-musl/musl-gcc.specs`;
  const headers = [`/usr/${machine}-linux-gnu/include`, `/usr/include/${machine}-linux-gnu`, '/usr/include'];
  return existsSync(specs) ? ['-specs', specs, ...headers.flatMap((path) => ['-idirafter', path])] : null;
}

/** What came of one program. */
type Compiled = { readonly made: boolean; readonly said: string };

function compile(compiler: string, options: readonly string[], source: string, program: string): Compiled {
  const args = [...OPTIONS, ...SMALL, ...SMALL_LINK, ...options, '-o', program, source];
  const { failed, code, stderr } = execaSync(compiler, args, { reject: false });
  return { made: !failed, said: code === 'ENOENT' ? 'no such compiler' : stderr };
}

/** Replaces a program with its packed form. */
function pack(program: string, packed: string): void {
  writeFileSync(packed, packProgram(readFileSync(program)));
  rmSync(program);
}

/**
 * Writes `write-guard-linux-ARCH.br` into a directory.
 * @param isForPackage whether other platforms count as well as this one
 * @returns a line for each platform that has none, with what is missing
 */
export function buildGuard(root: string, directory: string, isForPackage: boolean): readonly string[] {
  mkdirSync(directory, { recursive: true });
  const source = join(root, 'native', 'write-guard.c');
  return GUARD_ARCHITECTURES.flatMap((arch) => {
    const { machine, debian } = PLATFORMS[arch];
    const compiler = `${machine}-linux-gnu-gcc`;
    const musl = muslOptions(machine);
    const packed = join(directory, packedGuard('linux', arch));
    const program = packed.replace(/\.br$/, '');
    const isHere = process.platform === 'linux' && process.arch === arch;
    const ways = [
      ...(musl === null ? [] : [{ one: compiler, options: musl }]),
      ...(isHere ? ['cc', compiler] : [compiler]).map((one) => ({ one, options: [] })),
    ];
    let missing = '';
    for (const { one, options } of ways) {
      const { made, said } = compile(one, options, source, program);
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
