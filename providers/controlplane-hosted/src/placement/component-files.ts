import { type Authorities, trusted } from "@capstan/controlplane";
import type { CertificateAndKey } from "@capstan/pki";
import { stringify } from "yaml";

/** Returns all files of a control plane, with kubeadm's names relative to its pki folder. */
export function componentFiles(
  authorities: Authorities,
  leaves: Record<string, CertificateAndKey>,
  localServer: string,
  clusterName: string,
): Record<string, string> {
  const files: Record<string, string> = {
    "ca.crt": trusted(authorities, "cluster"),
    // kube-controller-manager accepts one signing certificate and no bundle.
    "ca-signing.crt": (authorities.nodeSigner ?? authorities.cluster).certPem,
    "ca-signing.key": (authorities.nodeSigner ?? authorities.cluster).keyPem,
    "etcd/ca.crt": trusted(authorities, "etcd"),
    "front-proxy-ca.crt": trusted(authorities, "frontProxy"),
    "sa.pub": trusted(authorities, "serviceAccount"),
    "sa.key": authorities.serviceAccount.privateKeyPem,
  };
  for (const [name, leaf] of Object.entries(leaves)) {
    files[`${name}.crt`] = leaf.certPem;
    files[`${name}.key`] = leaf.keyPem;
  }
  for (const name of ["controller-manager", "scheduler"])
    files[`${name}.conf`] = fileKubeconfig(
      name,
      `system:kube-${name}`,
      localServer,
      clusterName,
      trusted(authorities, "cluster"),
    );
  return files;
}

/**
 * Returns a kubeconfig that refers to its certificate by a relative path. client-go reloads such files but not embedded data, so a renewal
 * needs no restart.
 */
export function fileKubeconfig(name: string, user: string, server: string, clusterName: string, caPem: string): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: clusterName, cluster: { "certificate-authority-data": Buffer.from(caPem).toString("base64"), server } },
    ],
    contexts: [{ name: "default", context: { cluster: clusterName, user } }],
    "current-context": "default",
    users: [{ name: user, user: { "client-certificate": `${name}.crt`, "client-key": `${name}.key` } }],
  });
}

/** Returns only the named files. */
export function pickFiles(files: Record<string, string>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (files[name] === undefined ? [] : [[name, files[name]]])));
}
