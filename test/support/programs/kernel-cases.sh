# Runs each case of a directory in a fresh project under the write guard: its output, the exit code, the guard's log.
# usage: sh kernel-cases.sh DIRECTORY
# A process takes long in a virtual machine, so the loop starts few.

# With the times of the user's own copy, so that each case begins with the same bytes.
fresh() { rm -rf /tmp/work && cp -a /tmp/own /tmp/work; }
theirs() { tar -cf - -C /tmp/work/project theirs | md5sum; }

round="$(cat /proc/sys/kernel/yama/ptrace_scope) $(id -u)"
cp -r /work /tmp/own
fresh
before=$(theirs)
for file in "/cases/$1"/*; do
  fresh
  cd /tmp/work/project
  echo "= $round ${file##*/}"
  { guard ../policy ../log -- sh "$file"; echo "exit $?"; } 2>&1 |
    sed 's/^.*: \(Permission denied\|Function not implemented\)$/\1/' - ../log
  [ "$(theirs)" = "$before" ] || echo 'the files of others have changed'
done
