import { seededRandom, systemClock } from "@capstan/apimachinery";
import type { ApiServer } from "@capstan/apiserver";
import { BACKDATE_MS, buildKubeconfig, createCertificateAuthority, issueCertificate } from "@capstan/pki";

/** Token of the administrator of workload clusters in tests. */
export const TOKEN = "administrator";
const ENDPOINT = "endpoint.test";

/** The API of a workload cluster at a control plane Machine, with real TLS. */
export interface MachineApi {
  /** The Machine's address. */
  readonly address: string;
  /** URL of the endpoint, which is not served here. */
  readonly url: string;
  readonly kubeconfig: string;
}

/** Serves the API of a workload cluster as kubeadm does on a Machine: the certificate names the endpoint. */
export async function serveAtMachine(server: ApiServer, clusterName: string): Promise<MachineApi> {
  const common = { validMs: 3_600_000, random: seededRandom(1), algorithm: "ECDSA-P256" } as const;
  // TLS compares certificates with the real clock.
  const nowMs = systemClock.now();
  const ca = await createCertificateAuthority({
    commonName: "kubernetes",
    notBeforeMs: nowMs - BACKDATE_MS,
    ...common,
  });
  const leaf = await issueCertificate(ca, {
    commonName: "kube-apiserver",
    dnsNames: [ENDPOINT],
    usages: ["server"],
    nowMs,
    ...common,
  });
  const address = "127.0.0.2";
  const { port } = await server.listen({
    host: address,
    port: 0,
    tls: { certPem: leaf.certPem, keyPem: leaf.keyPem },
  });
  const url = `https://${ENDPOINT}:${port}`;
  const kubeconfig = buildKubeconfig({ server: url, caPem: ca.certPem, clusterName, userName: "admin", token: TOKEN });
  return { address, url, kubeconfig };
}
