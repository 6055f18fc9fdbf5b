// Versions of programs, as they print them.

/** `2.1.331 (Claude Code)` → `2.1.331`; null: the text begins with no version. */
export function parseVersion(text: string): string | null {
  return /^(\d+\.\d+\.\d+)/.exec(text.trim())?.[1] ?? null;
}

/** Whether a version is at least `least`. A pre-release, such as `2.1.32-beta.1`, is below its release. */
export function isVersionAtLeast(version: string, least: string): boolean {
  const read = /^\D{0,2}(\d+)\.(\d+)(?:\.(\d+))?(-[\w.]+)?/.exec(version.trim());
  const wanted = least.split('.').map(Number);
  if (read === null) return false;
  for (const [index, part] of [read[1], read[2], read[3]].entries()) {
    const difference = Number(part ?? 0) - (wanted[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return read[4] === undefined;
}
