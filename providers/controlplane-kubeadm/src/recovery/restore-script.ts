import { RESTORE_FOLDER } from "@capstan/capi";

/** Where a snapshot is fetched from, and what proves that it is the right one. */
export interface SnapshotSource {
  readonly url: string;
  /** CA of the server that has the snapshot. */
  readonly caPem: string;
  readonly sha256: string;
  readonly dataDir: string;
}

const FOLDER = RESTORE_FOLDER;
/** Each after two seconds. */
const FETCH_TRIES = 150;
/** Each after a second. */
const ASK_TRIES = 300;

/**
 * A script that fills etcd's data directory on the first Machine before `kubeadm init` starts etcd. It asks kubeadm itself for the member's
 * name, address and image, so that both agree. Without etcdutl on the host it runs the one in etcd's own image. Once data exists it does
 * nothing, so that a repeated bootstrap keeps what was written since. Until the bootstrap is over the folder says that the data is a copy.
 */
export function restoreScript({ url, caPem, sha256, dataDir }: SnapshotSource): string {
  for (const value of [url, sha256, dataDir])
    if (!/^[A-Za-z0-9:/._[\]-]+$/.test(value)) throw new Error(`${JSON.stringify(value)} cannot be part of a script`);
  return `#!/bin/sh
# Restores etcd before kubeadm starts it. Running it again changes nothing.
set -eu
umask 077
data=${dataDir}
dir=${FOLDER}
manifest=/etc/kubernetes/manifests/etcd.yaml
if [ -d "$data/member" ]; then echo "etcd has data in $data: nothing is restored"; exit 0; fi
mkdir -p "$dir"
cat > "$dir/ca.pem" <<'PEM'
${caPem.trim()}
PEM
# In a file, so that the address is in no argument that other users of the host can read.
cat > "$dir/fetch.conf" <<'CONF'
url = "${url}"
cacert = "${FOLDER}/ca.pem"
output = "${FOLDER}/snapshot.part"
fail
silent
show-error
CONF
sum() { printf '%s  %s\\n' ${sha256} "$1" | sha256sum -c - >/dev/null 2>&1; }
if ! sum "$dir/snapshot.db"; then
  # The manager may be restarting; it serves the snapshot again at the same address.
  tries=${FETCH_TRIES}
  until curl --config "$dir/fetch.conf"; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || exit 1
    sleep 2
  done
  sum "$dir/snapshot.part" || { echo "the snapshot that was fetched is damaged; fetch it again: run this script again" >&2; exit 1; }
  mv "$dir/snapshot.part" "$dir/snapshot.db"
fi
kubeadm init phase etcd local --config /run/kubeadm/kubeadm.yaml
flag() { sed -n "s/^ *- --$1=//p" "$manifest"; }
name=$(flag name)
peer=$(flag initial-advertise-peer-urls)
image=$(sed -n 's/^ *image: *//p' "$manifest")
rm -f "$manifest"
# Below the data, which may have a disk of its own, so that the last step is a renaming.
new=$data/.restored
mkdir -p "$data"
chmod 700 "$data"
rm -rf "$new"
set -- snapshot restore "$dir/snapshot.db" --data-dir "$new" --name "$name" \\
  --initial-cluster "$name=$peer" --initial-advertise-peer-urls "$peer" --bump-revision 1000000000 --mark-compacted
if command -v etcdutl >/dev/null 2>&1; then
  etcdutl "$@"
elif command -v ctr >/dev/null 2>&1; then
  # It may have been brought to a host that reaches no registry.
  [ -n "$(ctr -n k8s.io images list -q "name==$image")" ] || ctr -n k8s.io images pull "$image" >/dev/null
  ctr -n k8s.io containers delete capstan-restore >/dev/null 2>&1 || true
  ctr -n k8s.io run --rm --net-host --mount "type=bind,src=$data,dst=$data,options=rbind:rw" \\
    --mount "type=bind,src=$dir,dst=$dir,options=rbind:ro" "$image" capstan-restore etcdutl "$@"
elif command -v podman >/dev/null 2>&1; then
  podman run --rm --net host -v "$data:$data" -v "$dir:$dir:ro" --entrypoint etcdutl "$image" "$@"
else
  echo "this host has neither etcdutl nor ctr nor podman: install one of them and run this script again" >&2
  exit 1
fi
mv "$new/member" "$data/member"
rm -rf "$new"
rm -f "$dir"/*
echo "etcd is restored"
`;
}

/**
 * A script for after `kubeadm init`. The restored data may have a Node of this host's name, with the provider ID of an earlier Machine, which
 * cannot be changed. The Node is deleted, and the kubelet registers a new one. Running it again does the same again.
 */
export const newNodeScript = `#!/bin/sh
# Replaces the Node of this name that the restored data may have: it belonged to an earlier machine.
set -eu
umask 077
dir=${FOLDER}
mkdir -p "$dir"
name=$(sed -n 's/^ *- --name=//p' /etc/kubernetes/manifests/etcd.yaml)
field() { sed -n "s/^ *$1: *//p" /etc/kubernetes/admin.conf | head -n 1; }
field certificate-authority-data | base64 -d > "$dir/ca.pem"
field client-certificate-data | base64 -d > "$dir/client.pem"
field client-key-data | base64 -d > "$dir/client.key"
# Asks until the answer is one of these; the address of the API may still move to this machine.
ask() {
  method=$1 wanted=$2 tries=${ASK_TRIES}
  until status=$(curl --silent --output "$dir/answer" --write-out '%{http_code}' --max-time 10 --cacert "$dir/ca.pem" \\
    --cert "$dir/client.pem" --key "$dir/client.key" -X "$method" "$(field server)/api/v1/nodes/$name") &&
    printf %s "$status" | grep -qxE "$wanted"; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || { echo "$method of Node $name: $status" >&2; cat "$dir/answer" >&2 || true; exit 1; }
    sleep 1
  done
}
ask DELETE '200|404'
if [ -d /run/systemd/system ]; then systemctl restart kubelet; else pkill -x kubelet || true; fi
ask GET 200
kubeadm init phase mark-control-plane --config /run/kubeadm/kubeadm.yaml
rm -rf "$dir"
`;
