#!/bin/bash
# First process of a node, inside its namespaces: builds the machine's file tree, then becomes systemd.
# From the environment: NODE_NAME, NODE_ADDRESS, NODE_NAMESERVER, NODE_DISK (folder), NODE_LAYERS (overlay lower folders),
# NODE_CGROUPS (lines of TYPE NAME OPTIONS), NODE_MACHINE_ID.
set -e
root=$NODE_DISK/root
hostname "$NODE_NAME"
mount -t overlay overlay -o "lowerdir=$NODE_LAYERS,upperdir=$NODE_DISK/upper,workdir=$NODE_DISK/work" "$root"

mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
if [ "${NODE_CGROUPS%% *}" = cgroup2 ]; then
  mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
else
  mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
  while read -r type name options; do
    mkdir -p "$root/sys/fs/cgroup/$name"
    mount -t "$type" -o "$options" cgroup "$root/sys/fs/cgroup/$name"
  done <<< "$NODE_CGROUPS"
fi

# The few devices that programs expect; /dev/kmsg is for the kubelet's watch for out-of-memory kills.
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
while read -r name major minor; do
  mknod -m 666 "$root/dev/$name" c "$major" "$minor"
done << DEVICES
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
kmsg 1 11
DEVICES
mkdir "$root/dev/pts" "$root/dev/shm" "$root/dev/mqueue"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$root/dev/pts"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t mqueue mqueue "$root/dev/mqueue"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/0 "$root/dev/stdin"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"

mount -t tmpfs -o mode=755 tmpfs "$root/run"
mkdir "$root/run/lock"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
# Straight on the disk's file system: an overlay on an overlay cannot hold images.
for name in containerd kubelet etcd; do
  mkdir -p "$root/var/lib/$name"
  mount --bind "$NODE_DISK/$name" "$root/var/lib/$name"
done

echo "$NODE_NAME" > "$root/etc/hostname"
printf '127.0.0.1 localhost\n%s %s\n' "$NODE_ADDRESS" "$NODE_NAME" > "$root/etc/hosts"
rm -f "$root/etc/resolv.conf"
echo "nameserver $NODE_NAMESERVER" > "$root/etc/resolv.conf"
[ -s "$root/etc/machine-id" ] || echo "$NODE_MACHINE_ID" > "$root/etc/machine-id"

cd "$root"
mkdir -p .old
pivot_root . .old
cd /
umount -l /.old
rmdir /.old
# Pods' mounts must reach the kubelet and the other way round.
mount --make-rshared /
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin container=capstan /sbin/init
