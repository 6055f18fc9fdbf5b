// A machine with the built command, as a person uses it: a home of its own, perhaps a Claude Code, and a project.

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnv } from './daemon.ts';
import { builtPackage, projectOf, type Tree } from './installed.ts';
import { type Cleanup, tempDir } from './temp.ts';

/** A machine with this Claude Code on the PATH, or with none, and a project on it. */
export function machine(t: Cleanup, host: string | null, files: Tree = {}) {
  const root = projectOf(t, { 'package.json': '{}', ...files });
  const home = tempDir(t);
  const bin = join(home, 'bin');
  mkdirSync(bin);
  if (host !== null) writeFileSync(join(bin, 'claude'), `#!/bin/sh\necho "${host} (Claude Code)"\n`, { mode: 0o755 });
  const cli = join(
    builtPackage(t, (name) => `// ${name}\n`),
    'dist',
    'cli.js',
  );
  return {
    root,
    home,
    cli,
    tool: (args: readonly string[], cwd = root, user = {}) => {
      const env = { ...cleanEnv(home), PATH: `${bin}:/usr/bin:/bin` };
      const options = { cwd, env, encoding: 'utf8', ...user } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], options);
      return { status, stdout, stderr };
    },
  };
}
