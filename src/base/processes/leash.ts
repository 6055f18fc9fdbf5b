// A program that ends with the process that started it, however that process ends.

/**
 * Becomes a program, and ends its group when file descriptor 3 ends. The watcher is no child of the program, which may wait
 * for all of its own. It ignores requests to end, which the program may not heed, from before the program begins.
 */
const LEASH = `( trap '' TERM INT HUP; { read -r _ <&3; kill -TERM 0; sleep "$0"; kill -KILL 0; } </dev/null >/dev/null 2>&1 & )
exec 3<&-
exec "$@"`;

/**
 * Command line of a program for the option `leash`. A missing program ends with exit code 127 then.
 * @param graceSeconds between SIGTERM and SIGKILL
 */
export function leashed(file: string, args: readonly string[], graceSeconds = 0): [string, readonly string[]] {
  return ['/bin/sh', ['-c', LEASH, String(graceSeconds), file, ...args]];
}
