// A disk that is soon full, played by the system's limit of a file's size.

import { spawn } from 'node:child_process';
import { scriptFile } from './compiled.ts';

/** Runs a script with the argument in a process whose files may not grow beyond so many KB; gives what it printed. */
export async function runWithSmallFiles(text: string, argument: string, kilobytes = 4): Promise<string> {
  const node = [process.execPath, scriptFile(text), argument];
  const child = spawn('/bin/bash', ['-c', `ulimit -f ${kilobytes}; exec "$@"`, 'bash', ...node], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  await new Promise((resolve) => child.once('close', resolve));
  return printed;
}
