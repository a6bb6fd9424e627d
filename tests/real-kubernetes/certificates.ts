import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mustRun } from "./run-command.ts";

/** Which certificates to make and what they are valid for. */
export interface CertificateRequestSet {
  readonly bin: string;
  readonly dir: string;
  readonly kubernetesVersion: string;
  /** Address that the server is reached at. */
  readonly address: string;
  readonly port: number;
  readonly clusterName: string;
  readonly serviceSubnet: string;
}

/** Where kubeadm put its files: `pki` in kubeadm's layout, `kubeconfigs` with one file per user. */
export interface CertificateFiles {
  readonly pki: string;
  readonly kubeconfigs: string;
}

/**
 * Certificates and kubeconfigs made by the real kubeadm: the same layout and subjects as on any kubeadm cluster, and
 * independent of our own PKI code. kubeadm refuses loopback as an address, hence the documentation address with the real one
 * as an extra name.
 */
export async function makeCertificates(request: CertificateRequestSet): Promise<CertificateFiles> {
  const { bin, dir, address, port } = request;
  const pki = join(dir, "pki");
  const kubeconfigs = join(dir, "kubeconfig");
  const config = join(dir, "kubeadm.yaml");
  writeFileSync(
    config,
    `apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {advertiseAddress: ${advertisedAddress(address)}, bindPort: ${port}}
nodeRegistration: {name: real}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
clusterName: ${request.clusterName}
kubernetesVersion: ${request.kubernetesVersion}
controlPlaneEndpoint: ${address}:${port}
certificatesDir: ${pki}
encryptionAlgorithm: ECDSA-P256
networking: {serviceSubnet: ${request.serviceSubnet}}
apiServer: {certSANs: [${address}, localhost]}
`,
  );
  const kubeadm = join(bin, "kubeadm");
  await mustRun(kubeadm, ["init", "phase", "certs", "all", "--config", config]);
  for (const user of ["admin", "super-admin", "controller-manager", "scheduler"]) {
    await mustRun(kubeadm, ["init", "phase", "kubeconfig", user, "--config", config, "--kubeconfig-dir", kubeconfigs]);
    // The control plane's own kubeconfigs name the advertised address, which nobody can dial when it is the stand-in.
    const file = join(kubeconfigs, `${user}.conf`);
    const text = readFileSync(file, "utf8").replace(/server: .*/, `server: https://${address}:${port}`);
    writeFileSync(file, text, { mode: 0o600 });
  }
  return { pki, kubeconfigs };
}

/** The address for `--advertise-address`: Kubernetes refuses loopback there, so a documentation address stands in. */
export function advertisedAddress(address: string): string {
  return address.startsWith("127.") ? "192.0.2.1" : address;
}

/** The certificate and key inside a kubeconfig made by kubeadm. */
export function clientCertificate(kubeconfig: string): { certPem: string; keyPem: string } {
  const text = readFileSync(kubeconfig, "utf8");
  const field = (name: string): string => {
    const value = new RegExp(`${name}: (\\S+)`).exec(text)?.[1];
    if (value === undefined) throw new Error(`${kubeconfig} has no ${name}`);
    return Buffer.from(value, "base64").toString("utf8");
  };
  return { certPem: field("client-certificate-data"), keyPem: field("client-key-data") };
}
