/** Samples of the kinds outside the core group, as samples-core.mjs. */
const meta = (name, more = {}) => ({ name, ...more });
const pod = (name) => ({ containers: [{ name, image: `example.test/${name}:1`, ports: [{ containerPort: 80 }] }] });
const template = (app) => ({ metadata: { labels: { app } }, spec: pod(app) });
const selector = (app) => ({ matchLabels: { app } });
const t = "2026-01-02T03:04:05Z";
const micro = "2026-01-02T03:04:05.000000Z";

/** A certificate request for CN=bob, O=dev, made once with OpenSSL; its key was thrown away. */
const csr =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIWE1INENBUUF3SERFTU1Bb0dBMVVFQ2d3RFpHVjJNUXd3Q2dZRFZRUUREQU5pYjJJd1dUQVRCZ2NxaGtqTwpQUUlCQmdncWhrak9QUU1CQndOQ0FBUzJpM3hyRmtXZXJIbk8zc3lMNmcxMHdTSW50NHBNT2FLTDF3eDVlTjBiCnZiUEpUWEhhNWh6VlVDbFg3WlkrbHNQWGpMOStzemNoNU95VUc0NXh4THVwb0FBd0NnWUlLb1pJemowRUF3SUQKU1FBd1JnSWhBS3NxUkNPRHBJK3d1bFMybkQ2SlMzZElxRFVZL2dYZGI3U3ZKcUxyYUVpbUFpRUFnU2U4cmJQMgpyWWZyRVFuWVJDeHo1Wm5GcWY2VUMrekRBb3RCL3JPdkVqUT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";

export const groupSamples = [
  {
    path: "apps/v1/deployments",
    body: { metadata: meta("deploy-a"), spec: { replicas: 3, selector: selector("d"), template: template("d") } },
    status: { replicas: 3, readyReplicas: 2, updatedReplicas: 3, availableReplicas: 2 },
  },
  {
    path: "apps/v1/deployments",
    body: {
      metadata: meta("deploy-b"),
      spec: { selector: selector("d"), template: template("d"), strategy: { type: "Recreate" } },
    },
  },
  {
    path: "apps/v1/statefulsets",
    body: {
      metadata: meta("sts-a"),
      spec: {
        serviceName: "s",
        selector: selector("s"),
        template: template("s"),
        volumeClaimTemplates: [
          {
            metadata: meta("v"),
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        ],
      },
    },
    status: { replicas: 1, readyReplicas: 1 },
  },
  {
    path: "apps/v1/daemonsets",
    body: {
      metadata: meta("ds-a"),
      spec: {
        selector: selector("s"),
        template: { ...template("s"), spec: { ...pod("s"), nodeSelector: { a: "b" } } },
      },
    },
    status: {
      desiredNumberScheduled: 3,
      currentNumberScheduled: 2,
      numberReady: 1,
      updatedNumberScheduled: 2,
      numberAvailable: 1,
      numberMisscheduled: 0,
    },
  },
  {
    path: "apps/v1/replicasets",
    body: { metadata: meta("rs-a"), spec: { selector: selector("s"), template: template("s") } },
    status: { replicas: 1, readyReplicas: 1 },
  },
  {
    path: "batch/v1/jobs",
    body: {
      metadata: meta("job-a"),
      spec: { completions: 3, parallelism: 2, template: { spec: { ...pod("j"), restartPolicy: "Never" } } },
    },
    status: { startTime: t, succeeded: 1 },
  },
  {
    path: "batch/v1/jobs",
    body: {
      metadata: meta("job-b"),
      spec: { suspend: true, template: { spec: { ...pod("j"), restartPolicy: "OnFailure" } } },
    },
  },
  {
    path: "policy/v1/poddisruptionbudgets",
    body: { metadata: meta("pdb-a"), spec: { minAvailable: 1, selector: selector("x") } },
    status: { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
  },
  {
    path: "policy/v1/poddisruptionbudgets",
    body: { metadata: meta("pdb-b"), spec: { maxUnavailable: "30%", selector: selector("x") } },
  },
  {
    path: "storage.k8s.io/v1/storageclasses",
    body: {
      metadata: meta("fast", { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } }),
      provisioner: "example.test/p",
    },
  },
  {
    path: "storage.k8s.io/v1/storageclasses",
    body: {
      metadata: meta("slow"),
      provisioner: "example.test/p",
      reclaimPolicy: "Retain",
      allowVolumeExpansion: true,
      volumeBindingMode: "WaitForFirstConsumer",
    },
  },
  {
    path: "storage.k8s.io/v1/volumeattachments",
    body: {
      metadata: meta("va-a"),
      spec: { attacher: "example.test", nodeName: "node-a", source: { persistentVolumeName: "pv-a" } },
    },
    status: { attached: true },
  },
  {
    path: "scheduling.k8s.io/v1/priorityclasses",
    body: { metadata: meta("high"), value: 1000, globalDefault: false, description: "x" },
  },
  {
    path: "discovery.k8s.io/v1/endpointslices",
    body: {
      metadata: meta("slice-a"),
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"] }, { addresses: ["10.0.0.2"], conditions: { ready: true } }],
      ports: [
        { name: "p", port: 80 },
        { port: 81, name: "q", protocol: "UDP" },
      ],
    },
  },
  {
    path: "coordination.k8s.io/v1/leases",
    body: {
      metadata: meta("lease-a"),
      spec: {
        holderIdentity: "me",
        leaseDurationSeconds: 15,
        acquireTime: micro,
        renewTime: micro,
        leaseTransitions: 0,
      },
    },
  },
  { path: "coordination.k8s.io/v1/leases", body: { metadata: meta("lease-b") } },
  {
    path: "rbac.authorization.k8s.io/v1/roles",
    body: { metadata: meta("role-a"), rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }] },
  },
  {
    path: "rbac.authorization.k8s.io/v1/rolebindings",
    body: {
      metadata: meta("rb-a"),
      subjects: [
        { kind: "User", name: "bob" },
        { kind: "ServiceAccount", name: "robot", namespace: "default" },
        { kind: "Group", name: "g" },
      ],
      roleRef: { kind: "Role", name: "role-a" },
    },
  },
  {
    path: "rbac.authorization.k8s.io/v1/clusterroles",
    body: {
      metadata: meta("cr-a"),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] },
      rules: [],
    },
  },
  {
    path: "rbac.authorization.k8s.io/v1/clusterroles",
    body: { metadata: meta("cr-b"), rules: [{ nonResourceURLs: ["/healthz"], verbs: ["get"] }] },
  },
  {
    path: "rbac.authorization.k8s.io/v1/clusterrolebindings",
    body: {
      metadata: meta("crb-a"),
      subjects: [{ kind: "Group", name: "g", apiGroup: "rbac.authorization.k8s.io" }],
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cr-b" },
    },
  },
  {
    path: "certificates.k8s.io/v1/certificatesigningrequests",
    body: {
      metadata: meta("csr-a"),
      spec: {
        request: csr,
        signerName: "kubernetes.io/kube-apiserver-client",
        usages: ["client auth"],
        expirationSeconds: 3600,
      },
    },
  },
  {
    path: "admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    body: {
      metadata: meta("mwc-a"),
      webhooks: [
        {
          name: "a.example.test",
          clientConfig: { service: { namespace: "default", name: "s" } },
          rules: [{ operations: ["CREATE"], apiGroups: ["example.test"], apiVersions: ["*"], resources: ["*"] }],
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    },
  },
  {
    path: "admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    body: {
      metadata: meta("vwc-a"),
      webhooks: [
        {
          name: "a.example.test",
          clientConfig: { url: "https://example.test/x" },
          rules: [],
          sideEffects: "NoneOnDryRun",
          admissionReviewVersions: ["v1"],
          timeoutSeconds: 5,
          failurePolicy: "Ignore",
        },
      ],
    },
  },
  { path: "apiregistration.k8s.io/v1/apiservices", existing: "v1.apps" },
  { path: "apiregistration.k8s.io/v1/apiservices", existing: "v1." },
  {
    path: "autoscaling/v2/horizontalpodautoscalers",
    body: {
      metadata: meta("hpa-metrics"),
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        maxReplicas: 3,
        metrics: [
          { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } } },
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } } },
        ],
        behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
      },
    },
    status: {
      currentReplicas: 2,
      desiredReplicas: 2,
      currentMetrics: [
        { type: "Resource", resource: { name: "memory", current: { averageValue: "500Mi" } } },
        { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 20, averageValue: "100m" } } },
      ],
    },
  },
  {
    path: "autoscaling/v2/horizontalpodautoscalers",
    body: {
      metadata: meta("hpa-plain"),
      spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, maxReplicas: 3 },
    },
  },
  {
    path: "autoscaling/v1/horizontalpodautoscalers",
    body: {
      metadata: meta("hpa-old"),
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        minReplicas: 2,
        maxReplicas: 3,
        targetCPUUtilizationPercentage: 70,
      },
    },
    status: { currentReplicas: 2, desiredReplicas: 2, currentCPUUtilizationPercentage: 40 },
  },
];
