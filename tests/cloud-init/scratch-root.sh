#!/bin/bash
# scratch-root.sh FOLDER COMMAND...: runs a command in a copy of this machine's file system whose changes are kept in memory, and lists
# them: PATH KIND MODE OWNER GROUP, then the sum of a file (without comments and order where those do not count) or the target of a link. The folder has
# what is in the copy besides, below "extra".
set -euo pipefail
if [ "${SCRATCH:-}" = "" ]; then SCRATCH=1 exec unshare --mount --pid --fork --kill-child --propagation private "$0" "$@"; fi
folder=$1
shift
mount -t tmpfs tmpfs "$folder/memory"
mkdir "$folder/memory/"{changes,work,root}
cp -a "$folder/extra" "$folder/memory/extra" # layers must not contain each other
root=$folder/memory/root
mount -t overlay overlay -o "lowerdir=$folder/memory/extra:/,upperdir=$folder/memory/changes,workdir=$folder/memory/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
for each in $SCRATCH_BINDS; do
  mkdir -p "$root$each"
  mount --bind "$each" "$root$each"
done
chroot "$root" "$@" > "$folder/output" 2>&1 || echo "exit code $?" >> "$folder/output"
cd "$folder/memory/changes"
sum() {
  case $1 in
    ./etc/sudoers.d/*) grep -v '^#' "$1" | grep . | sha256sum ;;
    */authorized_keys) sort "$1" | sha256sum ;; # cloud-init keeps them in no order
    *) sha256sum < "$1" ;;
  esac | cut -c1-64
}
find . -mindepth 1 -printf '%y %m %U %G %l %p\n' | sort -k 6 | while read -r kind mode owner group rest; do
  path=./${rest#*./}
  [ "$kind" != f ] || rest=$(sum "$path")
  printf '%s %s %s %s %s %s\n' "$path" "$kind" "$mode" "$owner" "$group" "${rest%% ./*}"
done | sort
