#!/bin/bash
# Runs a command in a node. node-enter.sh PID CGROUP_FOLDER... -- COMMAND...; PID is the node's first process as seen from outside.
set -e
pid=$1
shift
while [ "$1" != -- ]; do
  echo $$ > "$1/cgroup.procs"
  shift
done
shift
exec nsenter --target "$pid" --mount --uts --ipc --net --pid --cgroup --root --wd \
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb "$@"
