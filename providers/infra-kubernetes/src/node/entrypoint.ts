import { CHECKS } from "./checks.ts";

/**
 * First program of a machine's container: gives it cgroups of its own and shared mounts, configures the kubelet, and becomes systemd. All
 * in one process, because systemd must be process 1 and the root cgroup must hold nothing else.
 */
export const ENTRYPOINT = `#!/bin/bash
set -o errexit -o errtrace -o nounset -o pipefail
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

fail() {
  printf '%s\\n' "$*" | tee /dev/termination-log >&2
  exit 1
}
trap 'fail "the entry point failed at line $LINENO: $BASH_COMMAND"' ERR

[ -x /sbin/init ] || fail "the image has no /sbin/init: use a node image, which has systemd, containerd, kubelet and kubeadm"
for program in mount umount unshare containerd kubelet; do
  command -v "$program" >/dev/null || fail "the image has no program $program: use a node image"
done

is_v2() { [ -e /sys/fs/cgroup/cgroup.controllers ]; }

${CHECKS}
check_overlay
check_inotify

# A container that sees more than its own cgroups gets a namespace of its own; the process stays the same.
if [ "$CAPSTAN_STAGE" = outside ]; then
  export CAPSTAN_STAGE=inside
  if ! is_v2 || [ "$(cat /proc/self/cgroup)" != 0::/ ]; then
    exec unshare --cgroup /bin/bash /capstan/entrypoint
  fi
fi

mount_v1() {
  umount -R /sys/fs/cgroup || true
  mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
  local line names folder options name
  while IFS= read -r line; do
    line=\${line#*:}
    names=\${line%%:*}
    case "$names" in
      "")
        mkdir -p /sys/fs/cgroup/unified
        mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified || rmdir /sys/fs/cgroup/unified
        continue
        ;;
      name=*) folder=\${names#name=} options=none,$names ;;
      *) folder=$names options=$names ;;
    esac
    mkdir -p "/sys/fs/cgroup/$folder"
    if ! mount -t cgroup -o "$options" cgroup "/sys/fs/cgroup/$folder"; then
      rmdir "/sys/fs/cgroup/$folder"
      continue
    fi
    case "$folder" in
      *,*) for name in \${folder//,/ }; do ln -s "$folder" "/sys/fs/cgroup/$name"; done ;;
    esac
  done </proc/self/cgroup
}

if is_v2; then
  if [ ! -w /sys/fs/cgroup/cgroup.procs ] || [ "$(cat /sys/fs/cgroup/cgroup.controllers)" = "" ]; then
    umount -R /sys/fs/cgroup || true
    mount -t cgroup2 cgroup2 /sys/fs/cgroup || mount -o remount,rw /sys/fs/cgroup
  fi
else
  mount_v1
fi

take_modules
mount --make-rshared /
[ -e /dev/kmsg ] || ln -s /dev/console /dev/kmsg
# kubeadm checks it, and in a container nothing else sets it.
for setting in net/ipv4/ip_forward net/ipv6/conf/all/forwarding; do
  [ ! -w "/proc/sys/$setting" ] || echo 1 >"/proc/sys/$setting"
done
printf '%s\\n' "$CAPSTAN_MACHINE_ID" >/etc/machine-id

# The kubelet sees the whole outer node: all that the pod may not use is reserved, so that exactly its limits are allocatable.
reserved=
cores=$(grep -c ^processor /proc/cpuinfo)
if [ -n "$CAPSTAN_CPU_MILLIS" ] && [ $((cores * 1000)) -gt "$CAPSTAN_CPU_MILLIS" ]; then
  reserved=cpu=$((cores * 1000 - CAPSTAN_CPU_MILLIS))m
fi
memory=$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)
if [ -n "$CAPSTAN_MEMORY_KI" ] && [ "$memory" -gt "$CAPSTAN_MEMORY_KI" ]; then
  reserved=\${reserved:+$reserved,}memory=$((memory - CAPSTAN_MEMORY_KI))Ki
fi
mkdir -p /etc/systemd/system/kubelet.service.d /etc/systemd/system/multi-user.target.wants
# In front of kubeadm's own arguments, so that those of kubeletExtraArgs win.
cat >/etc/systemd/system/kubelet.service.d/20-capstan.conf <<END
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf --provider-id=$CAPSTAN_PROVIDER_ID --fail-swap-on=false --eviction-hard=nodefs.available<0%%,nodefs.inodesFree<0%%,imagefs.available<0%%\${reserved:+ --system-reserved=$reserved}"
END
# A container that ignores SIGTERM would hold up the end of the pod for its whole grace period.
mkdir -p /etc/systemd/system.conf.d
printf '[Manager]\\nDefaultTimeoutStopSec=10s\\n' >/etc/systemd/system.conf.d/10-capstan.conf
cp /capstan/capstan-bootstrap.service /etc/systemd/system/
ln -sf ../capstan-bootstrap.service /etc/systemd/system/multi-user.target.wants/

trap - ERR
# What published node images prepare themselves fits cgroup v2 alone.
if is_v2 && [ -x /usr/local/bin/entrypoint ]; then
  exec env container=capstan /usr/local/bin/entrypoint /sbin/init
fi
exec env -i PATH="$PATH" container=capstan /sbin/init
`;
