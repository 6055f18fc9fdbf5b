#!/bin/busybox sh
# First process of a virtual machine: runs the cases under the write guard in each round, and switches the machine off.
# A round is a line of /rounds: kernel.yama.ptrace_scope, the user, and the directory of the cases.

/bin/busybox --install -s /bin
export PATH=/bin
mkdir /proc /dev /tmp
mount -t proc proc /proc
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs -o mode=1777 tmpfs /tmp
echo 1 >/proc/sys/kernel/printk # the console is the cases' own
echo 'all rounds begin'
while read -r scope user cases; do
  echo "$scope" >/proc/sys/kernel/yama/ptrace_scope
  rm -rf /tmp/own /tmp/work
  su "$user" -c "sh /run-cases $cases" </dev/null
done </rounds
echo 'all rounds are over'
poweroff -f
