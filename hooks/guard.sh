#!/bin/sh
# Beside the guard that hangs on the team server: silent while that server lives, else the compiled guard decides.
# The server writes its process id, or "gone" once it cannot be reached by this session's hooks any more.
dir=$(dirname "$0")
if [ -n "$CLAUDE_CODE_SESSION_ID" ] && read -r pid 2>/dev/null <"$dir/../state/server-$CLAUDE_CODE_SESSION_ID"; then
  case $pid in
  '' | *[!0-9]*) ;;
  *) kill -0 "$pid" 2>/dev/null && exit 0 ;;
  esac
fi
exec node "$dir/pre-tool-use.js"
