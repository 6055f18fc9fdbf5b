#!/bin/sh
# Beside the guard that hangs on the team server: silent while that server lives, else the compiled guard decides.
# When the first hook of the session has reached it, the server writes down its process id, and when that process began:
# an id may be another's by now. Nothing here starts a program while the server lives.
dir=${0%/*}

# lives PID BEGAN: whether that very process runs; BEGAN is - where the system keeps no such file.
lives() {
  case $1 in '' | 0* | 1 | *[!0-9]*) return 1 ;; esac
  kill -0 "$1" 2>/dev/null || return 1
  [ "$2" = - ] && [ ! -e /proc/self/stat ] && return 0
  read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
  case $stat in
    *') Z '*) return 1 ;;
    *") "*" ${2:-none} "*) return 0 ;;
  esac
  return 1
}

if [ -n "$CLAUDE_CODE_SESSION_ID" ] && read -r pid began 2>/dev/null <"$dir/../state/server-$CLAUDE_CODE_SESSION_ID"; then
  lives "$pid" "$began" && exit 0
fi
if ! command -v node >/dev/null 2>&1; then
  echo 'toolcrew: nothing can tell whether this may be written: the team server is gone, and node is not on the PATH' >&2
  exit 2
fi
exec node "$dir/pre-tool-use.js"
