// The command that installs optional packages where this package finds them.

import { shellWord } from './rules/command-line.ts';

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
