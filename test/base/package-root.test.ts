import assert from 'node:assert/strict';
import test from 'node:test';
import { programPlace } from '../../src/base/package-root.ts';

test('the place of the program holds the packages that npm or pnpm puts around it', () => {
  const places = {
    '/usr/lib/node_modules/toolcrew': '/usr/lib/node_modules',
    '/srv/app/node_modules/toolcrew': '/srv/app/node_modules',
    '/srv/app/node_modules/.pnpm/toolcrew@1.0.0/node_modules/toolcrew': '/srv/app/node_modules',
    '/home/me/.npm/_npx/0a1b/node_modules/toolcrew': '/home/me/.npm/_npx/0a1b/node_modules',
    '/home/me/toolcrew': '/home/me/toolcrew',
  };
  for (const [root, place] of Object.entries(places)) assert.equal(programPlace(root), place);
});
