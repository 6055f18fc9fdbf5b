// Names of the write guard's program, packed, in the package.

export const GUARD_ARCHITECTURES = ['x64', 'arm64'] as const;

/** @param platform and `arch`, as Node names them */
export function packedGuard(platform: string, arch: string): string {
  return `write-guard-${platform}-${arch}.br`;
}
