import type { Unstructured } from "@capstan/apimachinery";
import { clusterBinding, configMap, type NodeConfigurationInput } from "../kube-system.ts";
import { nthAddress } from "../network.ts";
import { versionFacts } from "../versions.ts";

const LABELS = { "k8s-app": "kube-dns" };

/** Builds the CoreDNS objects that kubeadm installs. */
export function coreDNS(input: NodeConfigurationInput): Unstructured[] {
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "coredns", namespace: "kube-system" } },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "system:coredns" },
      rules: [
        { apiGroups: [""], resources: ["endpoints", "services", "pods", "namespaces"], verbs: ["list", "watch"] },
        { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
      ],
    },
    clusterBinding("system:coredns", "system:coredns", [
      { kind: "ServiceAccount", name: "coredns", namespace: "kube-system" },
    ]),
    configMap("coredns", { Corefile: corefile(input.network.serviceDomain) }),
    service(input),
    deployment(input),
  ];
}

function corefile(domain: string): string {
  return [
    ".:53 {",
    "    errors",
    "    health {",
    "       lameduck 5s",
    "    }",
    "    ready",
    `    kubernetes ${domain} in-addr.arpa ip6.arpa {`,
    "       pods insecure",
    "       fallthrough in-addr.arpa ip6.arpa",
    "       ttl 30",
    "    }",
    "    prometheus :9153",
    "    forward . /etc/resolv.conf {",
    "       max_concurrent 1000",
    "    }",
    "    cache 30 {",
    `       disable success ${domain}`,
    `       disable denial ${domain}`,
    "    }",
    "    loop",
    "    reload",
    "    loadbalance",
    "}",
    "",
  ].join("\n");
}

function service(input: NodeConfigurationInput): Unstructured {
  const clusterIPs = input.network.serviceCidrs.map((cidr) => nthAddress(cidr, 10));
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: "kube-dns",
      namespace: "kube-system",
      labels: { ...LABELS, "kubernetes.io/cluster-service": "true", "kubernetes.io/name": "CoreDNS" },
    },
    spec: {
      clusterIP: clusterIPs[0],
      selector: LABELS,
      ports: [
        { name: "dns", port: 53, protocol: "UDP", targetPort: 53 },
        { name: "dns-tcp", port: 53, protocol: "TCP", targetPort: 53 },
        { name: "metrics", port: 9153, protocol: "TCP", targetPort: 9153 },
      ],
    },
  };
}

function deployment(input: NodeConfigurationInput): Unstructured {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "coredns", namespace: "kube-system", labels: LABELS },
    spec: {
      replicas: 2,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
      selector: { matchLabels: LABELS },
      template: {
        metadata: { labels: LABELS },
        spec: {
          priorityClassName: "system-cluster-critical",
          serviceAccountName: "coredns",
          dnsPolicy: "Default",
          nodeSelector: { "kubernetes.io/os": "linux" },
          tolerations: [
            { key: "CriticalAddonsOnly", operator: "Exists" },
            { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" },
          ],
          affinity: {
            podAntiAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                {
                  weight: 100,
                  podAffinityTerm: { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: LABELS } },
                },
              ],
            },
          },
          containers: [container(input)],
          volumes: [
            { name: "config-volume", configMap: { name: "coredns", items: [{ key: "Corefile", path: "Corefile" }] } },
          ],
        },
      },
    },
  };
}

function container(input: NodeConfigurationInput): object {
  return {
    name: "coredns",
    image: `${dnsRepository(input.imageRepository)}:${versionFacts(input.version).coreDNS}`,
    imagePullPolicy: "IfNotPresent",
    args: ["-conf", "/etc/coredns/Corefile"],
    resources: { requests: { cpu: "100m", memory: "70Mi" }, limits: { memory: "170Mi" } },
    ports: [
      { name: "dns", containerPort: 53, protocol: "UDP" },
      { name: "dns-tcp", containerPort: 53, protocol: "TCP" },
      { name: "metrics", containerPort: 9153, protocol: "TCP" },
      { name: "liveness-probe", containerPort: 8080, protocol: "TCP" },
      { name: "readiness-probe", containerPort: 8181, protocol: "TCP" },
    ],
    volumeMounts: [{ name: "config-volume", mountPath: "/etc/coredns", readOnly: true }],
    livenessProbe: {
      httpGet: { path: "/health", port: 8080, scheme: "HTTP" },
      initialDelaySeconds: 60,
      timeoutSeconds: 5,
      failureThreshold: 5,
    },
    readinessProbe: { httpGet: { path: "/ready", port: 8181, scheme: "HTTP" } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { add: ["NET_BIND_SERVICE"], drop: ["ALL"] },
      readOnlyRootFilesystem: true,
    },
  };
}

/** Only the public registry keeps CoreDNS in a folder of its own. */
function dnsRepository(repository: string): string {
  return repository === "registry.k8s.io" ? `${repository}/coredns/coredns` : `${repository}/coredns`;
}
