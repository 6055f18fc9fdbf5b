#!/bin/sh
# Beside the guard that hangs on the team server: silent while that server lives, else the compiled guard decides.
# The server writes its process id when the first hook of the session has reached it.
dir=$(dirname "$0")
if [ -n "$CLAUDE_CODE_SESSION_ID" ] && read -r pid 2>/dev/null <"$dir/../state/server-$CLAUDE_CODE_SESSION_ID"; then
  kill -0 "$pid" 2>/dev/null && exit 0
fi
exec node "$dir/pre-tool-use.js"
