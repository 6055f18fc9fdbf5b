// Scripts of the write guard on macOS: its program, which starts Seatbelt, and a git that reads the table of calls.

import { WITH_VALUE } from './git-calls.ts';
import { GIT_ROW_PREFIX } from './seatbelt.ts';

/** The directory of our git, beside the program. */
export const GIT_DIRECTORY = 'toolcrew-git';

/**
 * The program, which is called as the one of Linux: `POLICY LOG -- COMMAND…`, where the policy is a profile.
 * @param sandbox absolute path of sandbox-exec
 */
export function seatbeltProgram(sandbox: string): string {
  return `#!/bin/sh
# toolcrew: POLICY LOG -- COMMAND... runs the command under Seatbelt, with our git first on its PATH.
policy=$1
log=$2
shift 3
place=\${0%/*}/${GIT_DIRECTORY}
export PATH="$place:$PATH" TOOL_GUARD_TABLE="$policy"
# Claude Code's call sets PATH before it comes to the command behind eval.
left=$#
case "\${1##*/} $2" in *sh*" -c")
  for word in "$@"; do
    shift
    left=$((left - 1))
    if [ "$left" = 0 ]; then
      case $word in
      *"&& eval "*) word="\${word%%&& eval *}&& PATH=$place:\\$PATH && eval \${word#*&& eval }" ;;
      *) word="PATH=$place:\\$PATH
$word" ;;
      esac
    fi
    set -- "$@" "$word"
  done ;;
esac
# Seatbelt does not nest: the outer profile holds.
[ -z "$TOOL_GUARD_ACTIVE" ] || exec "$@"
export TOOL_GUARD_ACTIVE=1
# An empty log: when it has been quiet for long, the call's ticket goes with it.
touch "$log"
exec ${sandbox} -f "$policy" "$@"
`;
}

/** Refuses calls of git as the table says, and has the next git on the PATH run all others. */
export const GIT_SHIM = `#!/bin/sh
# toolcrew: refuses calls of git over the whole tree; the table is in $TOOL_GUARD_TABLE.
mark='\x1f'
call=
named=0
skips=0
for word in "$@"; do
  if [ "$skips" = 1 ]; then
    skips=0
  elif [ "$named" = 1 ]; then
    call=$call$mark$word
  else
    case $word in
    ${[...WITH_VALUE].join(' | ')}) skips=1 ;;
    -*) ;;
    *)
      call=$word
      named=1
      ;;
    esac
  fi
done
# An environment has limits; no row of the table needs more.
[ "\${#call}" -le 16000 ] || call=$(printf '%.16000s' "$call")
advice=
if [ -n "$call" ] && [ -n "$TOOL_GUARD_TABLE" ]; then
  advice=$(CALL=$call LC_ALL=C awk -F '\\t' '$1 == "${GIT_ROW_PREFIX}" && ENVIRON["CALL"] ~ $2 { print $3; exit }' "$TOOL_GUARD_TABLE")
fi
if [ -n "$advice" ]; then
  printf 'toolcrew: not run: git %s; %s (guard_git_refused)\\n' "\${call%%"$mark"*}" "$advice" >&2
  exit 1
fi
IFS=:
set -f
for place in $PATH; do
  case $place in */${GIT_DIRECTORY}) continue ;; esac
  [ -f "\${place:-.}/git" ] && [ -x "\${place:-.}/git" ] && exec "\${place:-.}/git" "$@"
done
echo 'toolcrew: git: not found (guard_command_not_started)' >&2
exit 127
`;
