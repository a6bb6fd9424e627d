import type { Unstructured } from "@capstan/apimachinery";
import { clusterBinding, type NodeConfigurationInput, versionFacts } from "@capstan/controlplane";

const LABELS = { "k8s-app": "konnectivity-agent" };
/** User name of the server next to kube-apiserver, and the audience of the agents' tokens. */
const SERVER_USER = "system:konnectivity-server";
const SECRETS = "/var/run/secrets/konnectivity";
const ADMIN_PORT = 8133;
const HEALTH_PORT = 8134;

/**
 * Returns the objects of the konnectivity agents in the workload cluster. They connect nodes to the server next to kube-apiserver, which
 * thereby reaches kubelets, webhooks and pods of a network that it cannot route to.
 */
export function konnectivity(
  input: NodeConfigurationInput,
  server: { readonly host: string; readonly port: number },
): Unstructured[] {
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "konnectivity-agent", namespace: "kube-system" } },
    // It may review the tokens of agents, and nothing else.
    clusterBinding(SERVER_USER, "system:auth-delegator", [
      { kind: "User", name: SERVER_USER, apiGroup: "rbac.authorization.k8s.io" },
    ]),
    daemonSet(input, server),
  ];
}

function daemonSet(input: NodeConfigurationInput, server: { host: string; port: number }): Unstructured {
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "konnectivity-agent", namespace: "kube-system", labels: LABELS },
    spec: {
      selector: { matchLabels: LABELS },
      updateStrategy: { type: "RollingUpdate" },
      template: {
        metadata: { labels: LABELS },
        spec: {
          priorityClassName: "system-cluster-critical",
          // Must work before the pod network, whose webhooks may need it.
          hostNetwork: true,
          serviceAccountName: "konnectivity-agent",
          automountServiceAccountToken: false,
          nodeSelector: { "kubernetes.io/os": "linux" },
          tolerations: [{ operator: "Exists" }],
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 65532,
            runAsGroup: 65532,
            fsGroup: 65532,
            seccompProfile: { type: "RuntimeDefault" },
          },
          containers: [container(input, server)],
          volumes: [
            {
              name: "access",
              projected: {
                sources: [
                  { serviceAccountToken: { path: "token", audience: SERVER_USER, expirationSeconds: 3600 } },
                  { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
                ],
              },
            },
          ],
        },
      },
    },
  };
}

function container(input: NodeConfigurationInput, server: { host: string; port: number }): object {
  const probe = (path: string): object => ({ httpGet: { path, port: HEALTH_PORT, scheme: "HTTP" } });
  return {
    name: "konnectivity-agent",
    image: `${input.imageRepository}/kas-network-proxy/proxy-agent:${versionFacts(input.version).konnectivity}`,
    imagePullPolicy: "IfNotPresent",
    command: [
      "/proxy-agent",
      `--ca-cert=${SECRETS}/ca.crt`,
      `--service-account-token-path=${SECRETS}/token`,
      `--proxy-server-host=${server.host}`,
      `--proxy-server-port=${server.port}`,
      // Calls to this node go through this agent, because nodes of different sites cannot reach each other.
      "--agent-identifiers=host=$(HOST_IP)",
      "--admin-bind-address=127.0.0.1",
      `--admin-server-port=${ADMIN_PORT}`,
      `--health-server-port=${HEALTH_PORT}`,
      "--sync-interval=1s",
      "--sync-interval-cap=10s",
      "--sync-forever",
    ],
    env: [{ name: "HOST_IP", valueFrom: { fieldRef: { fieldPath: "status.hostIP" } } }],
    ports: [{ name: "health", containerPort: HEALTH_PORT, protocol: "TCP" }],
    livenessProbe: { ...probe("/healthz"), initialDelaySeconds: 15, timeoutSeconds: 15, periodSeconds: 10 },
    readinessProbe: { ...probe("/readyz"), timeoutSeconds: 15, periodSeconds: 5 },
    resources: { requests: { cpu: "10m", memory: "24Mi" } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      readOnlyRootFilesystem: true,
    },
    terminationMessagePolicy: "FallbackToLogsOnError",
    volumeMounts: [{ name: "access", mountPath: SECRETS, readOnly: true }],
  };
}
