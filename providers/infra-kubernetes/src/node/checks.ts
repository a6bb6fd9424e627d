/** Where the entry point finds /lib of the outer node. */
export const OUTER_LIB = "/mnt/outer-lib";

/**
 * Functions of the entry point that check the outer node, or take something from it, before systemd starts. Each problem ends in `fail`, so
 * that its message, with what to do, is the pod's termination message.
 */
export const CHECKS = `# Kernel modules of the outer node, if it has any; nothing else of it stays visible.
take_modules() {
  [ -d ${OUTER_LIB} ] || return 0
  if [ -d ${OUTER_LIB}/modules ]; then
    mkdir -p /lib/modules
    mount --bind ${OUTER_LIB}/modules /lib/modules
  fi
  umount -R ${OUTER_LIB} || true
}

# systemd, containerd and the kubelet need about ten instances of inotify, and all nodes of an outer node share its limits. tail reports
# when it gets none, and exits with the process that it watches.
check_inotify() {
  local probe=/run/capstan-inotify errors holder n
  : >"$probe"
  errors=$(
    exec 2>&1
    sleep 0.3 &
    holder=$!
    for n in 1 2 3 4 5 6 7 8; do tail --lines 0 --follow --sleep-interval 0.1 --pid "$holder" "$probe" & done
    wait
  )
  rm -f "$probe"
  case "$errors" in
    *inotify*)
      fail "the outer node has no inotify instances or watches left (fs.inotify.max_user_instances=$(cat /proc/sys/fs/inotify/max_user_instances), fs.inotify.max_user_watches=$(cat /proc/sys/fs/inotify/max_user_watches)): raise them on every outer node: sysctl fs.inotify.max_user_instances=8192 fs.inotify.max_user_watches=524288"
      ;;
  esac
}

# The kernel accepts no overlay as the upper layer of another one.
check_overlay() {
  [ "$(stat --file-system --format %T /var/lib/containerd)" = overlayfs ] || return 0
  fail "/var/lib/containerd is on an overlay file system, in which containers cannot have one of their own: mount an emptyDir or a claim there; if the outer nodes are containers themselves, give their /var/lib/kubelet a volume"
}
`;
