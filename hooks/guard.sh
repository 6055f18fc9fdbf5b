#!/bin/sh
# Beside the guard that hangs on the team server: silent while that server answers, else the compiled guard decides.
# With an exit code: what becomes of a compiled guard that ended with it. Hosts take all but 2 for a yes.
# When the first hook of the session has reached it, the server writes down its process id, and when that process began:
# an id may be another's by now. It moves the time of that mark ahead for as long as it answers.
# Nothing here starts a program while the server answers.
dir=${0%/*}

# lives PID BEGAN: whether that very process runs; BEGAN is - where the system keeps no such file.
lives() {
  case $1 in '' | 0* | 1 | *[!0-9]*) return 1 ;; esac
  kill -0 "$1" 2>/dev/null || return 1
  [ "$2" = - ] && [ ! -e /proc/self/stat ] && return 0
  read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
  case $stat in
    # Dead, or stopped.
    *') '[ZXTt]' '*) return 1 ;;
    *") "*" ${2:-none} "*) return 0 ;;
  esac
  return 1
}

# answers MARK: whether the time of the mark has not come yet. A file's time is the only clock here that is no program.
answers() {
  now=$dir/../state/now
  true 2>/dev/null >"$now" && [ "$1" -nt "$now" ]
}

# stands: whether the project has a team, or the checkout in which the host made a worktree for an agent.
stands() (
  cd "${CLAUDE_PROJECT_DIR:-.}" 2>/dev/null || return 0
  at=$(pwd -P)
  case $at in */.tool/worktrees/*) return 0 ;; esac
  while [ -n "$at" ] && [ ! -e "$at/.git" ] && [ ! -d "$at/.tool" ]; do at=${at%/*}; done
  at=${at%%/.claude/worktrees/agent-*}
  for log in "$at"/.tool/teams/*/log.jsonl; do [ ! -e "$log" ] || return 0; done
  return 1
)

# judged CODE: ends as a guard has to that ended with it.
judged() {
  case $1 in
    0 | 2) exit "$1" ;;
    127) why='node is not on the PATH' ;;
    *) why="exit code $1" ;;
  esac
  stands || exit 0
  echo "toolcrew: the guard did not start ($why), so this call is refused while a team is active. Tell the user to run \`tool init\`. (guard_cannot_decide)" >&2
  exit 2
}

[ $# -eq 0 ] || judged "$1"
mark=$dir/../state/server-$CLAUDE_CODE_SESSION_ID
if [ -n "$CLAUDE_CODE_SESSION_ID" ] && read -r pid began 2>/dev/null <"$mark"; then
  lives "$pid" "$began" && answers "$mark" && exit 0
fi
node "$dir/pre-tool-use"
judged $?
