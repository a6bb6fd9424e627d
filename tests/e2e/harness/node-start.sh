#!/bin/bash
# The node's outer process. node-start.sh NETNS CGROUP_FOLDER...: goes into the cgroups and namespaces, then becomes node-init.
set -e
namespace=$1
shift
for folder in "$@"; do echo $$ > "$folder/cgroup.procs"; done
exec ip netns exec "$namespace" unshare --mount --uts --ipc --pid --cgroup --fork --kill-child --propagation private \
  "$(dirname "$0")/node-init.sh"
