// The plugin as it is packed, held by the host's own validator and loaded by the host itself.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { cleanEnv } from '../support/daemon.ts';
import { availableHosts, hostProgram } from '../support/host.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

/** Without warnings; what a catalog of plugins would like besides, an icon, is no warning of the validator's own. */
const PASSED = /Validation passed$/m;

/** What is packed, asked for once. */
function packedFiles(): readonly { readonly path: string }[] {
  const { stdout, stderr } = execaSync({ reject: false })`npm pack --json --dry-run --ignore-scripts`;
  const [{ files }] = JSON.parse(stdout || '[{}]');
  assert.ok(Array.isArray(files), stderr);
  return files;
}

const FILES = packedFiles();

/** The packed files, in a directory of their own. */
function packed(t: Cleanup): string {
  const root = join(tempDir(t), 'tool');
  for (const { path } of FILES) cpSync(path, join(root, path), { recursive: true });
  return root;
}

// The newest looks at all that those before it look at; the oldest alone takes no manifest with a key that it does not know.
for (const version of availableHosts(['2.1.33', '2.1.331'])) {
  test(`${version}: finds nothing wrong with the plugin, nor with the marketplace`, (t) => {
    const root = packed(t);
    const home = join(tempDir(t), 'home');
    mkdirSync(home);
    const validate = (path: string) => {
      const options = { cwd: home, env: cleanEnv(home), extendEnv: false, reject: false } as const;
      const { exitCode, stdout, stderr } = execaSync(hostProgram(version), ['plugin', 'validate', path], options);
      return { exitCode, said: stdout + stderr };
    };
    const check = (path: string, words: RegExp) => {
      const { exitCode, said } = validate(path);
      assert.equal(exitCode, 0, said);
      assert.match(said, words);
      assert.match(said, PASSED);
    };
    check(root, /marketplace manifest/i);
    // Beside a marketplace the plugin's own parts are not looked at.
    rmSync(join(root, '.claude-plugin', 'marketplace.json'));
    check(root, /plugin manifest/i);
    if (version === '2.1.33') return;
    const hooks = join(root, 'hooks', 'hooks.json');
    writeFileSync(hooks, readFileSync(hooks, 'utf8').replace('"Stop"', '"Stopp"'));
    assert.ok(!PASSED.test(validate(root).said), 'it has looked at the hooks');
  });
}
