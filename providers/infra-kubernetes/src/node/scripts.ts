import { ENTRYPOINT } from "./entrypoint.ts";

/** Where the scripts and the bootstrap script are mounted. */
export const SCRIPTS_DIR = "/capstan";
/** Lies with the data of the kubelet, so that it is kept exactly as long as that. */
const SENTINEL = "/var/lib/kubelet/.capstan-bootstrapped";
/** Whether the machine has been bootstrapped, in this life of its pod. */
const UP = "/run/capstan/bootstrapped";

const UNIT = `[Unit]
Description=Bootstrap data of the machine
Wants=containerd.service network.target
After=containerd.service network.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/bash ${SCRIPTS_DIR}/run
StandardOutput=journal+console
StandardError=journal+console

[Install]
WantedBy=multi-user.target
`;

const run = (timeoutSeconds: number): string => `#!/bin/bash
# Imports the images that the node image brings, and runs the bootstrap script unless it has run before.
set -o nounset -o pipefail
mkdir -p /run/capstan /run/cluster-api

# The end of the container: its message explains why.
give_up() {
  printf '%s\\n' "$1" | tail -c 4000 >/dev/termination-log
  printf '%s\\n' "$1"
  systemctl --no-block exit 1
  exit 1
}

succeed() {
  [ -e /run/cluster-api/bootstrap-success.complete ] || echo success >/run/cluster-api/bootstrap-success.complete
  touch ${UP}
  exit 0
}

# An archive is imported once into each store of images.
for archive in /usr/share/capstan/images/*.tar; do
  [ -e "$archive" ] || continue
  imported=/var/lib/containerd/.capstan-imported-$(basename "$archive")
  [ -e "$imported" ] && continue
  output=$(ctr --namespace k8s.io images import "$archive" 2>&1) || give_up "importing $archive failed: $output"
  touch "$imported"
done

if [ -e ${SENTINEL} ]; then
  [ -e /etc/kubernetes/kubelet.conf ] ||
    give_up "/var/lib/kubelet was kept but /etc/kubernetes was not: give the machine a volumeClaimTemplate etc-kubernetes as well"
  output=$(systemctl enable --now kubelet 2>&1) || give_up "starting the kubelet failed: $output"
  succeed
fi

[ -e ${SCRIPTS_DIR}/bootstrap ] || give_up "the Secret with the bootstrap script is missing"
export CAPSTAN_REPORT=/run/capstan/report
timeout --kill-after=10 ${timeoutSeconds} /bin/bash ${SCRIPTS_DIR}/bootstrap
code=$?
if [ $code -ne 0 ]; then
  report=$(cat /run/capstan/report 2>/dev/null || true)
  [ $code -ne 124 ] && [ $code -ne 137 ] || report="not done after ${timeoutSeconds} s (bootstrapTimeout); $report"
  [ -n "$report" ] || report="the bootstrap script exited with code $code; its output is on the console"
  # What kubeadm says of a kubelet that does not start is not why.
  if [ -e /var/lib/kubelet/config.yaml ] && { ! systemctl is-active --quiet kubelet || [[ $report == *kubelet* ]]; }; then
    report="$report
kubelet: $(journalctl --unit kubelet --output cat --no-pager --lines 3 2>/dev/null | cut -c -300)"
  fi
  give_up "$report"
fi
touch ${SENTINEL}
sync ${SENTINEL}
succeed
`;

const PROBE = `#!/bin/bash
[ -e ${UP} ]
`;

/** Returns the files that every machine's container has, by name; they hold no secrets. */
export function nodeScripts(bootstrapTimeoutSeconds: number): Record<string, string> {
  return {
    entrypoint: ENTRYPOINT,
    "capstan-bootstrap.service": UNIT,
    run: run(bootstrapTimeoutSeconds),
    probe: PROBE,
  };
}
