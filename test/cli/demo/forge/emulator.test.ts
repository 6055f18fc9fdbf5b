import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { EMULATOR, emulatorInstall } from '../../../../src/cli/demo/forge/emulator.ts';

test('the version is that of the manifest', () => {
  const { peerDependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  assert.equal(EMULATOR, `emulate@${peerDependencies.emulate}`);
  assert.equal(peerDependencies.emulate, devDependencies.emulate);
});

test('the command installs it where the package of toolcrew looks for it', () => {
  for (const [root, command] of [
    ['/usr/local/lib/node_modules/toolcrew', `npm install --global --prefix '/usr/local' ${EMULATOR}`],
    ['/home/me/.local/lib/node_modules/toolcrew', `npm install --global --prefix '/home/me/.local' ${EMULATOR}`],
    ['/home/me/my app/node_modules/toolcrew', `npm install --prefix '/home/me/my app' ${EMULATOR}`],
    ['/home/me/.npm/_npx/1a2b/node_modules/toolcrew', `npx -p toolcrew -p ${EMULATOR} tool demo`],
    ['/home/me/src/toolcrew', 'npm ci'],
  ] as const)
    assert.equal(emulatorInstall(root), command);
});
