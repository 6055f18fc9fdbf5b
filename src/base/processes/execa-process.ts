// Processes as execa makes them: what `startProgram` starts.

import { type MakeProcess, pipesOf } from './node-process.ts';

export const makeWithExeca: MakeProcess = async (file, args, options) => {
  // Late: many commands start no program.
  const { execa } = await import('execa');
  const { cwd, env } = options;
  const child = execa(file, args, {
    ...{ cwd, env, extendEnv: false, detached: true, stdio: pipesOf(options) },
    // Groups are ended, output is read and failures are told by whoever starts it.
    ...{ buffer: false, cleanup: false, reject: false, stripFinalNewline: false },
  });
  return { child, failed: child.then(({ cause, originalMessage }) => cause ?? new Error(originalMessage)) };
};
