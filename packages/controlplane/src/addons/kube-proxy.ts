import type { Unstructured } from "@capstan/apimachinery";
import { stringify } from "yaml";
import { configMap, type NodeConfigurationInput } from "../kube-system.ts";
import { hostPort } from "../network.ts";

const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * Builds the kube-proxy objects that kubeadm installs; kube-proxy reaches the API at its endpoint, not through the Service it implements.
 */
export function kubeProxy(input: NodeConfigurationInput, mode: string | undefined): Unstructured[] {
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "kube-proxy", namespace: "kube-system" } },
    configMap(
      "kube-proxy",
      {
        "config.conf": yamlOf(proxyConfiguration(input, mode)),
        "kubeconfig.conf": yamlOf(proxyKubeconfig(input)),
      },
      { app: "kube-proxy" },
    ),
    daemonSet(input),
  ];
}

const MAX_KNOWN = 100;
const known = new Map<string, string>();

/** Most clusters of a manager have the same networks and endpoint: rendering YAML costs more than a cache lookup. */
function yamlOf(value: object): string {
  const key = JSON.stringify(value);
  let text = known.get(key);
  if (text === undefined) {
    text = stringify(value);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(key, text);
  }
  return text;
}

function proxyConfiguration(input: NodeConfigurationInput, mode: string | undefined): object {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    bindAddress: "0.0.0.0",
    clientConnection: { kubeconfig: "/var/lib/kube-proxy/kubeconfig.conf" },
    clusterCIDR: input.network.podCidrs.join(","),
    mode: mode ?? "",
    // The size of the connection table is a setting of the machine, and cannot be written from a container's network namespace.
    conntrack: { maxPerCore: 0, min: 0 },
  };
}

function proxyKubeconfig(input: NodeConfigurationInput): object {
  const server = `https://${hostPort(input.endpoint.host, input.endpoint.port)}`;
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "default", cluster: { "certificate-authority": `${SERVICE_ACCOUNT}/ca.crt`, server } }],
    contexts: [{ name: "default", context: { cluster: "default", namespace: "default", user: "default" } }],
    "current-context": "default",
    users: [{ name: "default", user: { tokenFile: `${SERVICE_ACCOUNT}/token` } }],
  };
}

function daemonSet(input: NodeConfigurationInput): Unstructured {
  const labels = { "k8s-app": "kube-proxy" };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "kube-proxy", namespace: "kube-system", labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: "RollingUpdate" },
      template: {
        metadata: { labels },
        spec: {
          priorityClassName: "system-node-critical",
          hostNetwork: true,
          serviceAccountName: "kube-proxy",
          nodeSelector: { "kubernetes.io/os": "linux" },
          tolerations: [{ operator: "Exists" }],
          containers: [
            {
              name: "kube-proxy",
              image: `${input.imageRepository}/kube-proxy:${input.version}`,
              imagePullPolicy: "IfNotPresent",
              command: [
                "/usr/local/bin/kube-proxy",
                "--config=/var/lib/kube-proxy/config.conf",
                "--hostname-override=$(NODE_NAME)",
              ],
              env: [{ name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
              securityContext: { privileged: true },
              volumeMounts: [
                { name: "kube-proxy", mountPath: "/var/lib/kube-proxy" },
                { name: "xtables-lock", mountPath: "/run/xtables.lock" },
                { name: "lib-modules", mountPath: "/lib/modules", readOnly: true },
              ],
            },
          ],
          volumes: [
            { name: "kube-proxy", configMap: { name: "kube-proxy" } },
            { name: "xtables-lock", hostPath: { path: "/run/xtables.lock", type: "FileOrCreate" } },
            { name: "lib-modules", hostPath: { path: "/lib/modules" } },
          ],
        },
      },
    },
  };
}
