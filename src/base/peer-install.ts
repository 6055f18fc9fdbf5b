// The command that installs optional packages where this package finds them.

import { shellWord } from './rules/command-line.ts';
import { errorCode, messageOf } from './rules/errors.ts';

/**
 * @param root directory of this package
 * @param packages each as `<name>@<version>`
 * @param command what npx runs with them, where this package was started by npx
 */
export function peerInstall(root: string, packages: readonly string[], command: string): string {
  const [, above = root] = /^(.*)\/node_modules\/[^/]+$/.exec(root) ?? [];
  if (above === root) return 'npm ci';
  if (above.includes('/_npx/')) return `npx -p toolcrew ${packages.map((one) => `-p ${one}`).join(' ')} ${command}`;
  const prefix = above.endsWith('/lib') ? above.slice(0, -'/lib'.length) : null;
  return prefix === null
    ? `npm install --prefix ${shellWord(above)} ${packages.join(' ')}`
    : `npm install --global --prefix ${shellWord(prefix)} ${packages.join(' ')}`;
}

/** Whether loading a module failed since one of these packages is not installed. */
export function isPackageMissing(error: unknown, packages: readonly string[]): boolean {
  // The second: of `require`, to which the build turns imports.
  const isNotFound = /^(?:ERR_)?MODULE_NOT_FOUND$/.test(String(errorCode(error)));
  return isNotFound && packages.some((name) => messageOf(error).includes(`'${name}'`));
}
