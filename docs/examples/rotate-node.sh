#!/bin/sh
# Lets one node follow a rotation of the cluster's CA: run as root on the host in phase Trust.
# Afterwards the node trusts the old and the new CA and has a certificate of the new one. Safe to repeat.
set -eu
pki=/var/lib/kubelet/pki
conf=/etc/kubernetes/kubelet.conf
server=$(sed -n 's/^ *server: *//p' "$conf")
node=$(openssl x509 -in "$pki/kubelet-client-current.pem" -noout -subject -nameopt multiline | sed -n 's/^ *commonName *= *system:node://p')
api() {
  path=$1
  shift
  curl -sSf --max-time 30 --cacert /etc/kubernetes/pki/ca.crt --cert "$pki/kubelet-client-current.pem" \
    --key "$pki/kubelet-client-current.pem" "$@" "$server$path"
}

# 1. Both CAs, from where joining nodes read them: anonymously, over a connection that the old CA vouches for.
bundle=$(curl -sSf --max-time 30 --cacert /etc/kubernetes/pki/ca.crt \
  "$server/api/v1/namespaces/kube-public/configmaps/cluster-info" |
  grep -o 'certificate-authority-data: [A-Za-z0-9+/=]*' | head -n1 | cut -d' ' -f2)
[ -n "$bundle" ] || { echo "cluster-info cannot be read from $server" >&2; exit 1; }
echo "$bundle" | base64 -d >/etc/kubernetes/pki/ca.crt.new
mv /etc/kubernetes/pki/ca.crt.new /etc/kubernetes/pki/ca.crt
sed -i "s|certificate-authority-data: .*|certificate-authority-data: $bundle|" "$conf"

# 2. A certificate of the new one: approved and signed as every renewal of a kubelet is.
name="rotate-$node-$(date +%s)"
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$pki/rotated.key" \
  -subj "/O=system:nodes/CN=system:node:$node" -out "$pki/rotated.csr" 2>/dev/null
request=$(base64 <"$pki/rotated.csr" | tr -d '\n')
api /apis/certificates.k8s.io/v1/certificatesigningrequests -o /dev/null -H 'Content-Type: application/json' -d "{
  \"apiVersion\": \"certificates.k8s.io/v1\", \"kind\": \"CertificateSigningRequest\", \"metadata\": {\"name\": \"$name\"},
  \"spec\": {\"request\": \"$request\", \"signerName\": \"kubernetes.io/kube-apiserver-client-kubelet\",
             \"usages\": [\"digital signature\", \"client auth\"]}}"
for _ in $(seq 60); do
  certificate=$(api "/apis/certificates.k8s.io/v1/certificatesigningrequests/$name" |
    grep -o '"certificate": *"[A-Za-z0-9+/=]*"' | cut -d'"' -f4) || certificate=
  [ -n "$certificate" ] && break
  sleep 1
done
[ -n "$certificate" ] || { echo "$name was not signed within a minute: kubectl describe csr $name" >&2; exit 1; }
file="$pki/kubelet-client-$(date +%Y-%m-%d-%H-%M-%S).pem"
umask 077
{ echo "$certificate" | base64 -d; cat "$pki/rotated.key"; } >"$file"
rm -f "$pki/rotated.key" "$pki/rotated.csr"
ln -sfn "$file" "$pki/kubelet-client-current.pem"
systemctl restart kubelet
echo "$node trusts both CAs and has a certificate of the new one"
