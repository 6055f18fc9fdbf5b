// A machine with the built command, as a person uses it: a home of its own, perhaps a Claude Code, and a project.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
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
      const options = { cwd, env, extendEnv: false, reject: false, stripFinalNewline: false, ...user } as const;
      return execaSync(process.execPath, [cli, ...args], options);
    },
  };
}
