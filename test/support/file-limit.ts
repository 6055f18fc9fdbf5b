// A disk that is soon full, played by the system's limit of a file's size.

import { execa } from 'execa';
import { scriptFile } from './compiled.ts';

/** Runs a script with the argument in a process whose files may not grow beyond so many KB; gives what it printed. */
export async function runWithSmallFiles(text: string, argument: string, kilobytes = 4): Promise<string> {
  const node = [process.execPath, scriptFile(text), argument];
  const script = `ulimit -f ${kilobytes}; exec "$@"`;
  const { stdout } = await execa({ reject: false })`/bin/bash -c ${script} bash ${node}`;
  return stdout;
}
