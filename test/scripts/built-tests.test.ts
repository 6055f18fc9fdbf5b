// Network tests have a second form, against sources as the build bundles them.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { compileBuiltTests, networkTests } from '../../scripts/built-tests.ts';
import { compiledFile, compileTests } from '../../scripts/compile-tests.ts';
import { tempDir } from '../support/temp.ts';

/** A test that prints whether its source stands in a bundle with the settings of dist/: these define the version. */
const FILES = {
  'package.json': '{"version": "1.2.3", "type": "module"}',
  'src/cli.ts': "import './served.ts';",
  'src/served.ts': `import { createServer } from 'node:http';
declare const TOOL_VERSION: string | undefined;
export const versionOf = () => (typeof TOOL_VERSION === 'string' ? TOOL_VERSION : 'none');
export const serve = () => createServer();`,
  'src/plain.ts': 'export const plain = 1;',
  'src/address.ts': "import { isIP } from 'node:net'; export const isAddress = isIP;",
  'test/support/programs/none.ts': '',
  'test/support/service.ts': "import { serve, versionOf } from '../../src/served.ts'; export { serve, versionOf };",
  'test/own.test.ts': `import { versionOf } from '../src/served.ts';
import * as support from './support/service.ts';
console.log(versionOf(), support.versionOf === versionOf);`,
  'test/plain.test.ts': "import { plain } from '../src/plain.ts'; console.log(plain);",
  'test/address.test.ts': "import { isAddress } from '../src/address.ts'; console.log(isAddress(''));",
  'test/played.test.ts': `import { isAddress } from '../src/address.ts';
import { serve } from './support/service.ts';
console.log(isAddress('') + serve().listenerCount(''));`,
  'test/served-only.test.ts': `import { plain } from '../src/plain.ts';
import { serve } from './support/service.ts';
console.log(plain + serve().listenerCount(''));`,
} as const;

test('tests whose own sources reach the network are found, and run against the bundle of these sources', async (t) => {
  const root = tempDir(t);
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const [source, bundle] = [join(root, 'out', 'source'), join(root, 'out', 'bundle')];
  const files = Object.keys(FILES).filter((file) => file.endsWith('.test.ts'));
  const metafile = await compileTests(root, files, source);
  const found = networkTests(metafile, files);
  assert.deepEqual(found, ['test/own.test.ts', 'test/played.test.ts']);
  await compileBuiltTests(root, found, metafile, bundle);
  const said = async (directory: string) => {
    const { stdout } = await promisify(execFile)(process.execPath, [compiledFile(directory, 'test/own.test.ts')]);
    return stdout.trim();
  };
  assert.equal(await said(source), 'none true');
  assert.equal(await said(bundle), '1.2.3 true');
});
