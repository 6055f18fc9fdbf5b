// The package of the emulated service: an optional peer, so that only those who watch the demo install it.

import { packageRoot } from '../../../base/package-root.ts';
import { isPackageMissing, peerInstall } from '../../../base/peer-install.ts';
import { failure } from '../../../base/rules/errors.ts';
import { CLI_CODES } from '../../rules/cli-codes.ts';

/** The manifest names the same version. */
export const EMULATOR = 'emulate@0.12.2';

/** The command that puts the emulator where this package finds it. @param root directory of this package */
export function emulatorInstall(root: string): string {
  return peerInstall(root, [EMULATOR], 'tool demo');
}

/** @throws where the package is not installed */
export async function loadEmulator() {
  return import('emulate').catch((error: unknown) => {
    if (!isPackageMissing(error, ['emulate'])) throw error;
    const values = { package: EMULATOR, command: emulatorInstall(packageRoot()) };
    throw failure(CLI_CODES.demo_package_missing, values, { cause: error });
  });
}
