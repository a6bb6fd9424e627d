import { versionFacts } from "@capstan/controlplane";
import { stringify } from "yaml";
import type { CertificateSpec } from "../../certificates.ts";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import { fileKubeconfig } from "../component-files.ts";
import { API_PORT, KONNECTIVITY_PORT } from "./exposure.ts";
import { FILES_DIR, restricted } from "./template.ts";

const SOCKET_DIR = "/run/konnectivity";
const SOCKET = `${SOCKET_DIR}/konnectivity-server.socket`;
const ADMIN_PORT = 8133;
const HEALTH_PORT = 8134;

/** User name of the konnectivity server. */
export const KONNECTIVITY_USER = "system:konnectivity-server";
/** Name of the file with kube-apiserver's egress selector configuration. */
export const EGRESS_FILE = "egress-selector.yaml";
/** Volume that kube-apiserver and the konnectivity server share for their socket. */
export const SOCKET_VOLUME = { name: "konnectivity", emptyDir: {} };
/** Mount of SOCKET_VOLUME. */
export const SOCKET_MOUNT = { name: "konnectivity", mountPath: SOCKET_DIR };

/** Client certificate with which the konnectivity server verifies tokens of agents at kube-apiserver. */
export const KONNECTIVITY_CERTIFICATE: CertificateSpec = {
  name: "konnectivity-server",
  issuer: "cluster",
  commonName: KONNECTIVITY_USER,
  organizations: [],
  usages: ["client"],
  dnsNames: [],
  ipAddresses: [],
};

/** Returns the files that kube-apiserver and the konnectivity server next to it need. */
export function konnectivityFiles(
  files: Record<string, string>,
  clusterName: string,
  caPem: string,
): Record<string, string> {
  const { name } = KONNECTIVITY_CERTIFICATE;
  return {
    [EGRESS_FILE]: stringify({
      apiVersion: "apiserver.k8s.io/v1beta1",
      kind: "EgressSelectorConfiguration",
      // etcd and admission webhooks of the host stay direct; calls to nodes, pods and Services go through the tunnel.
      egressSelections: [
        {
          name: "cluster",
          connection: { proxyProtocol: "GRPC", transport: { uds: { udsName: SOCKET } } },
        },
      ],
    }),
    [`${name}.conf`]: fileKubeconfig(name, KONNECTIVITY_USER, `https://127.0.0.1:${API_PORT}`, clusterName, caPem),
    [`${name}.crt`]: files[`${name}.crt`] ?? "",
    [`${name}.key`]: files[`${name}.key`] ?? "",
  };
}

/** Returns the container of the konnectivity server, which kube-apiserver reaches through a socket in a shared volume. */
export function konnectivityServer(spec: HostedControlPlaneSpec, version: string): object {
  const repository = spec.imageRepository ?? "registry.k8s.io";
  const probe = (path: string): object => ({ httpGet: { path, port: HEALTH_PORT, scheme: "HTTP" } });
  return {
    name: "konnectivity-server",
    image: `${repository}/kas-network-proxy/proxy-server:${versionFacts(version).konnectivity}`,
    imagePullPolicy: "IfNotPresent",
    command: [
      "/proxy-server",
      "--mode=grpc",
      `--uds-name=${SOCKET}`,
      "--delete-existing-uds-file",
      "--server-port=0",
      `--agent-port=${KONNECTIVITY_PORT}`,
      `--admin-port=${ADMIN_PORT}`,
      `--health-port=${HEALTH_PORT}`,
      `--cluster-cert=${FILES_DIR}/apiserver.crt`,
      `--cluster-key=${FILES_DIR}/apiserver.key`,
      "--agent-namespace=kube-system",
      "--agent-service-account=konnectivity-agent",
      `--kubeconfig=${FILES_DIR}/${KONNECTIVITY_CERTIFICATE.name}.conf`,
      `--authentication-audience=${KONNECTIVITY_USER}`,
      `--server-count=${Math.max(spec.replicas ?? 1, 1)}`,
      "--server-id=$(POD_NAME)",
      // Nodes of different sites cannot reach each other: a call to a node goes through the agent of that node.
      "--proxy-strategies=destHost,default",
    ],
    env: [{ name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
    ports: [
      { name: "agents", containerPort: KONNECTIVITY_PORT, protocol: "TCP" },
      { name: "health", containerPort: HEALTH_PORT, protocol: "TCP" },
    ],
    livenessProbe: { ...probe("/healthz"), periodSeconds: 10, timeoutSeconds: 15, failureThreshold: 8 },
    resources: { requests: { cpu: "20m", memory: "32Mi" } },
    securityContext: restricted(),
    terminationMessagePolicy: "FallbackToLogsOnError",
    volumeMounts: [{ name: "files", mountPath: FILES_DIR, readOnly: true }, SOCKET_MOUNT],
  };
}
