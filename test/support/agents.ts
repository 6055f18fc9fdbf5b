// Small agents: shell scripts for the command runtime.

/** Front matter for an agent that runs this script. */
export function agentRunning(script: string, more = ''): string {
  return `tool: { runtime: command, command: ${JSON.stringify(['/bin/sh', '-e', '-c', script])}${more === '' ? '' : `, ${more}`} }`;
}

/** Writes a file, commits it, and is done. */
export const COMMITS =
  'cat >/dev/null; echo "working on it"; echo "done for $TOOL_ISSUE" > work.txt; git add work.txt; git commit -qm "Do the work"; echo "finished"';

/** Fails with words. */
export const FAILS = 'echo "cannot do it" >&2; exit 3';
