/** Requests the real server refuses; its field errors are recorded. `create` sends a new object, `update` changes a sample. */
const meta = (name, more = {}) => ({ name, ...more });
const pod = (name) => ({ containers: [{ name, image: "i" }] });
const template = (app) => ({ metadata: { labels: { app } }, spec: pod(app) });
const rbac = "rbac.authorization.k8s.io/v1";
const webhook = (more) => ({
  name: "a.example.test",
  clientConfig: { url: "https://example.test/x" },
  rules: [],
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  ...more,
});
const rule = { operations: ["CREATE"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] };

export const refusals = [
  { create: "v1/namespaces", body: { metadata: meta("Bad_Name") } },
  { create: "v1/namespaces", body: { metadata: meta("a.b") } },
  { create: "v1/namespaces", body: { metadata: meta("x"), spec: { finalizers: ["nope"] } } },
  { create: "v1/secrets", body: { metadata: meta("x"), data: { "a/b": "eA==", "": "eA==" } } },
  { create: "v1/secrets", body: { metadata: meta("x"), type: "kubernetes.io/tls", data: { "tls.crt": "eA==" } } },
  { create: "v1/secrets", body: { metadata: meta("x"), type: "kubernetes.io/tls" } },
  { create: "v1/secrets", body: { metadata: meta("x"), type: "kubernetes.io/basic-auth" } },
  { create: "v1/secrets", body: { metadata: meta("x"), type: "kubernetes.io/ssh-auth" } },
  {
    create: "v1/secrets",
    body: { metadata: meta("x"), type: "kubernetes.io/ssh-auth", data: { "ssh-privatekey": "" } },
  },
  { create: "v1/secrets", body: { metadata: meta("x"), type: "kubernetes.io/dockercfg" } },
  { create: "v1/secrets", body: { metadata: meta("x"), type: "kubernetes.io/dockerconfigjson" } },
  {
    create: "v1/secrets",
    body: { metadata: meta("x"), type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": "eA==" } },
  },
  { create: "v1/secrets", body: { metadata: meta("x"), type: "kubernetes.io/service-account-token" } },
  { create: "v1/secrets", body: { metadata: meta("x"), data: { big: "A".repeat(4 * 350000) } }, big: true },
  { update: "v1/secrets/opaque", change: { type: "other" } },
  { update: "v1/secrets/basic", change: { data: { username: "eA==" } } },
  { update: "v1/secrets/basic", change: { immutable: false } },
  {
    create: "v1/configmaps",
    body: { metadata: meta("x"), data: { "a b": "x", ok: "y" }, binaryData: { ok: "eA==", "..": "eA==" } },
  },
  { create: "v1/configmaps", body: { metadata: meta("x"), data: { "..a": "x", ".": "y" } } },
  { create: "v1/configmaps", body: { metadata: meta("x"), data: { big: "A".repeat(1048577) } }, big: true },
  {
    create: "v1/configmaps",
    body: { metadata: meta("x"), immutable: true, data: { a: "b" } },
    afterwards: { data: { a: "c" }, binaryData: { b: "eA==" }, immutable: false },
  },
  { create: "v1/serviceaccounts", body: { metadata: meta("A") } },
  { create: "v1/events", body: { metadata: meta("x"), involvedObject: { namespace: "other", kind: "Pod" } } },
  {
    create: "v1/events",
    body: { metadata: meta("x"), involvedObject: { namespace: "default" }, eventTime: "2026-01-02T03:04:05.000000Z" },
  },
  { create: "events.k8s.io/v1/events", body: { metadata: meta("x"), eventTime: "2026-01-02T03:04:05.000000Z" } },
  { create: "events.k8s.io/v1/events", body: { metadata: meta("x"), regarding: { namespace: "default" } } },
  {
    create: "events.k8s.io/v1/events",
    body: {
      metadata: meta("x"),
      regarding: { namespace: "default", kind: "Pod" },
      eventTime: "2026-01-02T03:04:05.000000Z",
      reportingController: "not valid",
      reportingInstance: "i",
      action: "A",
      reason: "R",
      type: "Odd",
      series: { count: 1 },
    },
  },
  {
    create: "v1/nodes",
    body: {
      metadata: meta("x"),
      spec: {
        taints: [
          { key: "a b", effect: "NoSchedule" },
          { key: "k", effect: "Bad" },
          { key: "d", effect: "NoExecute" },
          { key: "d", effect: "NoExecute" },
          { key: "e", value: "?", effect: "" },
        ],
        podCIDRs: ["nope"],
        podCIDR: "nope",
      },
    },
  },
  { update: "v1/nodes/node-a", change: { spec: { providerID: "x://2", unschedulable: true } } },
  { update: "v1/nodes/node-b", change: { spec: { podCIDR: "10.2.0.0/24", podCIDRs: ["10.2.0.0/24"] } } },
  { create: "v1/pods", body: { metadata: meta("x"), spec: { containers: [] } } },
  {
    create: "v1/pods",
    body: {
      metadata: meta("x"),
      spec: {
        containers: [{ name: "Bad", image: "" }, { name: "c" }, { name: "c", image: "i" }],
        restartPolicy: "Odd",
      },
    },
  },
  { update: "v1/pods/pod-new", change: { spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Never" } } },
  { create: "v1/persistentvolumes", body: { metadata: meta("x"), spec: {} } },
  { create: "v1/persistentvolumeclaims", body: { metadata: meta("x"), spec: {} } },
  {
    update: "v1/persistentvolumeclaims/claim-new",
    change: { spec: { accessModes: ["ReadWriteMany"], resources: { requests: { storage: "1Gi" } } } },
  },
  { create: "v1/services", body: { metadata: meta("x"), spec: {} } },
  {
    create: "v1/services",
    body: {
      metadata: meta("1x"),
      spec: { type: "Odd", ports: [{ port: 0 }, { name: "A", port: 70000, protocol: "X" }] },
    },
  },
  { create: "v1/services", body: { metadata: meta("x"), spec: { ports: [{ port: 80 }, { port: 81 }] } } },
  { create: "v1/services", body: { metadata: meta("x"), spec: { type: "ExternalName" } } },
  {
    update: "v1/services/svc-lb",
    change: {
      spec: { type: "LoadBalancer", clusterIP: "10.96.7.8", clusterIPs: ["10.96.7.8"], ports: [{ port: 80 }] },
    },
  },
  {
    create: "v1/endpoints",
    body: { metadata: meta("x"), subsets: [{ addresses: [{ ip: "nope" }], ports: [{ port: 0 }] }, {}] },
  },
  { create: "apps/v1/deployments", body: { metadata: meta("x"), spec: {} } },
  {
    create: "apps/v1/deployments",
    body: {
      metadata: meta("x"),
      spec: { replicas: -1, selector: { matchLabels: { a: "b" } }, template: template("d") },
    },
  },
  { create: "apps/v1/deployments", body: { metadata: meta("x"), spec: { selector: {}, template: template("d") } } },
  {
    update: "apps/v1/deployments/deploy-a",
    change: { spec: { selector: { matchLabels: { app: "e" } }, template: template("e") } },
  },
  {
    create: "apps/v1/statefulsets",
    body: { metadata: meta("x"), spec: { selector: { matchLabels: { app: "x" } }, template: template("d") } },
  },
  {
    update: "apps/v1/statefulsets/sts-a",
    change: { spec: { serviceName: "other", selector: { matchLabels: { app: "s" } }, template: template("s") } },
  },
  {
    create: "apps/v1/daemonsets",
    body: { metadata: meta("x"), spec: { selector: { matchLabels: { app: "x" } }, template: template("d") } },
  },
  {
    update: "apps/v1/daemonsets/ds-a",
    change: { spec: { selector: { matchLabels: { app: "e" } }, template: template("e") } },
  },
  {
    create: "apps/v1/replicasets",
    body: { metadata: meta("x"), spec: { selector: { matchLabels: { app: "x" } }, template: template("d") } },
  },
  { create: "batch/v1/jobs", body: { metadata: meta("x"), spec: { parallelism: -1, template: { spec: pod("c") } } } },
  { update: "batch/v1/jobs/job-a", changeSpec: { completions: 4 } },
  {
    create: "policy/v1/poddisruptionbudgets",
    body: { metadata: meta("x"), spec: { minAvailable: 1, maxUnavailable: 1 } },
  },
  {
    create: "policy/v1/poddisruptionbudgets",
    body: {
      metadata: meta("x"),
      spec: { minAvailable: -1, selector: { matchExpressions: [{ key: "a", operator: "Odd" }] } },
    },
  },
  { create: "policy/v1/poddisruptionbudgets", body: { metadata: meta("x"), spec: { minAvailable: "x" } } },
  { create: "policy/v1/poddisruptionbudgets", body: { metadata: meta("x"), spec: { maxUnavailable: "101%" } } },
  { create: "storage.k8s.io/v1/storageclasses", body: { metadata: meta("x") } },
  {
    create: "storage.k8s.io/v1/storageclasses",
    body: { metadata: meta("x"), provisioner: "p", reclaimPolicy: "Odd", volumeBindingMode: "Odd" },
  },
  {
    update: "storage.k8s.io/v1/storageclasses/fast",
    change: {
      provisioner: "q",
      parameters: { a: "b" },
      reclaimPolicy: "Retain",
      volumeBindingMode: "WaitForFirstConsumer",
    },
  },
  {
    create: "storage.k8s.io/v1/volumeattachments",
    body: { metadata: meta("x"), spec: { attacher: "", nodeName: "", source: {} } },
  },
  {
    update: "storage.k8s.io/v1/volumeattachments/va-a",
    change: { spec: { attacher: "b", nodeName: "n", source: { persistentVolumeName: "q" } } },
  },
  { create: "scheduling.k8s.io/v1/priorityclasses", body: { metadata: meta("system-x"), value: 1 } },
  {
    create: "scheduling.k8s.io/v1/priorityclasses",
    body: { metadata: meta("x"), value: 2000000000, preemptionPolicy: "Odd" },
  },
  { update: "scheduling.k8s.io/v1/priorityclasses/high", change: { value: 2, preemptionPolicy: "Never" } },
  { create: "discovery.k8s.io/v1/endpointslices", body: { metadata: meta("x"), endpoints: [] } },
  {
    create: "discovery.k8s.io/v1/endpointslices",
    body: {
      metadata: meta("x"),
      addressType: "IPv4",
      endpoints: [{ addresses: [] }, { addresses: ["nope"] }],
      ports: [{ name: "A B" }, { protocol: "X" }],
    },
  },
  { update: "discovery.k8s.io/v1/endpointslices/slice-a", change: { addressType: "IPv6", endpoints: [] } },
  {
    create: "coordination.k8s.io/v1/leases",
    body: { metadata: meta("x"), spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
  },
  {
    create: `${rbac}/roles`,
    body: {
      metadata: meta("x"),
      rules: [
        { apiGroups: [""], resources: ["a"] },
        { verbs: ["get"], resources: ["a"] },
        { verbs: ["get"], apiGroups: [""] },
        { verbs: ["get"], nonResourceURLs: ["/x"] },
      ],
    },
  },
  {
    create: `${rbac}/clusterroles`,
    body: {
      metadata: meta("x"),
      rules: [
        { verbs: ["get"], nonResourceURLs: ["/x"], resources: ["a"] },
        { verbs: ["get"], apiGroups: ["a"], nonResourceURLs: ["/x"] },
      ],
      aggregationRule: { clusterRoleSelectors: [] },
    },
  },
  {
    create: `${rbac}/rolebindings`,
    body: {
      metadata: meta("x"),
      roleRef: { kind: "Odd", name: "" },
      subjects: [
        { kind: "ServiceAccount", name: "A" },
        { kind: "User", name: "", apiGroup: "x" },
        { kind: "Odd", name: "n" },
      ],
    },
  },
  {
    create: `${rbac}/rolebindings`,
    body: {
      metadata: meta("x"),
      roleRef: { kind: "Role", name: "a/b", apiGroup: "no" },
      subjects: [{ kind: "Group", name: "", apiGroup: "" }],
    },
  },
  {
    create: `${rbac}/clusterrolebindings`,
    body: {
      metadata: meta("x"),
      roleRef: { kind: "Role", name: "a" },
      subjects: [{ kind: "ServiceAccount", name: "sa", apiGroup: "x" }],
    },
  },
  {
    update: `${rbac}/rolebindings/rb-a`,
    change: { roleRef: { kind: "Role", name: "other", apiGroup: "rbac.authorization.k8s.io" } },
  },
  {
    update: `${rbac}/clusterrolebindings/crb-a`,
    change: { roleRef: { kind: "ClusterRole", name: "other", apiGroup: "rbac.authorization.k8s.io" } },
  },
  {
    create: "certificates.k8s.io/v1/certificatesigningrequests",
    body: { metadata: meta("x"), spec: { request: "eA==", signerName: "nope", usages: [], expirationSeconds: 1 } },
  },
  {
    create: "certificates.k8s.io/v1/certificatesigningrequests",
    body: {
      metadata: meta("x"),
      spec: {
        request: "eA==",
        signerName: "kubernetes.io/legacy-unknown",
        usages: ["odd", "client auth", "client auth"],
      },
    },
  },
  {
    create: "admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    body: { metadata: meta("x"), webhooks: [{ name: "short" }] },
  },
  {
    create: "admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    body: {
      metadata: meta("x"),
      webhooks: [
        webhook({
          clientConfig: { url: "http://x" },
          timeoutSeconds: 40,
          sideEffects: "Some",
          failurePolicy: "Odd",
          matchPolicy: "Odd",
          admissionReviewVersions: ["v9"],
        }),
        webhook({ clientConfig: {} }),
        webhook({ name: "b.example.test", clientConfig: { url: "https://x", service: { name: "s", namespace: "n" } } }),
      ],
    },
  },
  {
    create: "admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    body: {
      metadata: meta("x"),
      webhooks: [
        webhook({
          rules: [
            { ...rule, operations: [], apiGroups: [] },
            { ...rule, operations: ["ODD"], resources: ["*", "pods"], scope: "Odd" },
            { ...rule, apiVersions: ["*", "v1"] },
          ],
        }),
      ],
    },
  },
  {
    create: "admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    body: {
      metadata: meta("x"),
      webhooks: [webhook({ reinvocationPolicy: "Odd", clientConfig: { service: { name: "", namespace: "" } } })],
    },
  },
  { create: "autoscaling/v2/horizontalpodautoscalers", body: { metadata: meta("x"), spec: { maxReplicas: 0 } } },
  {
    create: "autoscaling/v2/horizontalpodautoscalers",
    body: {
      metadata: meta("x"),
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        minReplicas: 7,
        maxReplicas: 3,
      },
    },
  },
  {
    create: "autoscaling/v2/horizontalpodautoscalers",
    body: {
      metadata: meta("x"),
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        minReplicas: 0,
        maxReplicas: 3,
      },
    },
  },
  {
    create: "autoscaling/v2/horizontalpodautoscalers",
    body: {
      metadata: meta("x"),
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        maxReplicas: 3,
        metrics: [
          { type: "Resource" },
          { type: "Nope" },
          { type: "Pods", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 1 } } },
        ],
      },
    },
  },
  {
    create: "autoscaling/v2/horizontalpodautoscalers",
    body: {
      metadata: meta("x"),
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        maxReplicas: 3,
        metrics: [{ type: "Resource", resource: { name: "", target: { type: "Value", averageUtilization: 0 } } }],
      },
    },
  },
  {
    create: "autoscaling/v2/horizontalpodautoscalers",
    body: {
      metadata: meta("x"),
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        maxReplicas: 3,
        metrics: [
          {
            type: "Resource",
            resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 5, averageValue: "1" } },
          },
        ],
      },
    },
  },
  {
    create: "autoscaling/v2/horizontalpodautoscalers",
    body: {
      metadata: meta("x"),
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        maxReplicas: 3,
        metrics: [
          {
            type: "Object",
            object: { target: { type: "Value" }, metric: { name: "" }, describedObject: { kind: "" } },
          },
        ],
      },
    },
  },
  {
    create: "autoscaling/v2/horizontalpodautoscalers",
    body: {
      metadata: meta("x"),
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        maxReplicas: 3,
        behavior: {
          scaleUp: { selectPolicy: "Nope", stabilizationWindowSeconds: 5000 },
          scaleDown: { policies: [{ type: "Nope", value: 0, periodSeconds: 9000 }] },
        },
      },
    },
  },
  {
    create: "autoscaling/v2/horizontalpodautoscalers",
    body: {
      metadata: meta("x"),
      spec: { scaleTargetRef: { kind: "a/b", name: "..", apiVersion: "v1" }, maxReplicas: 3 },
    },
  },
  { create: "v1/podtemplates", body: { metadata: meta("x") } },
];
