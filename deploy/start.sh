#!/bin/sh
# Starts `tool` with a variable for each secret: its name is that of the file, its value what the file holds.
# The files come from compose (/run/secrets) or from systemd ($CREDENTIALS_DIRECTORY).
set -eu
for file in "${CREDENTIALS_DIRECTORY:-/run/secrets}"/*; do
  [ -f "$file" ] || continue
  name=${file##*/}
  case $name in
    *[!A-Za-z0-9_]* | [0-9]*)
      echo "start.sh: expected the name of a variable, like GITHUB_TOKEN, got the secret \"$name\"" >&2
      exit 2
      ;;
  esac
  value=$(cat "$file")
  export "$name=$value"
done
unset file name value
exec tool "$@"
