/** Objects sent to the real server: what it stores and prints of them is recorded. `status` is written through /status. */
const meta = (name, more = {}) => ({ name, ...more });
const pod = (name) => ({ containers: [{ name, image: `example.test/${name}:1`, ports: [{ containerPort: 80 }] }] });
const t = "2026-01-02T03:04:05Z";
const micro = "2026-01-02T03:04:05.000000Z";

export const coreSamples = [
  { path: "v1/namespaces", body: { metadata: meta("plain") } },
  {
    path: "v1/namespaces",
    body: {
      metadata: meta("labelled", { labels: { team: "a", "kubernetes.io/metadata.name": "no" } }),
      spec: { finalizers: ["example.test/hold"] },
    },
  },
  {
    path: "v1/secrets",
    body: { metadata: meta("opaque"), stringData: { a: "b", c: "d" }, data: { a: "eA==", z: "" } },
  },
  {
    path: "v1/secrets",
    body: { metadata: meta("basic"), type: "kubernetes.io/basic-auth", stringData: { username: "u" }, immutable: true },
  },
  { path: "v1/secrets", body: { metadata: meta("empty") } },
  { path: "v1/configmaps", body: { metadata: meta("config"), data: { a: "b" }, binaryData: { b: "eA==" } } },
  { path: "v1/configmaps", body: { metadata: meta("config-empty") } },
  {
    path: "v1/serviceaccounts",
    body: { metadata: meta("robot"), secrets: [{ name: "s" }], automountServiceAccountToken: false },
  },
  {
    path: "v1/events",
    body: {
      metadata: meta("event-old"),
      involvedObject: {
        kind: "Pod",
        namespace: "default",
        name: "p",
        uid: "u1",
        apiVersion: "v1",
        fieldPath: "spec.containers{c}",
      },
      reason: "Started",
      message: "Started container c \n",
      source: { component: "kubelet", host: "n1" },
      firstTimestamp: t,
      lastTimestamp: "2026-01-02T03:10:05Z",
      count: 7,
      type: "Normal",
    },
  },
  {
    path: "v1/events",
    body: {
      metadata: meta("event-series"),
      involvedObject: { kind: "Node", namespace: "default", name: "n" },
      reason: "R",
      message: "m",
      eventTime: micro,
      series: { count: 3, lastObservedTime: "2026-01-02T03:06:05.000000Z" },
      action: "Do",
      reportingComponent: "example.test/c",
      reportingInstance: "c-1",
      type: "Warning",
    },
  },
  { path: "v1/events", body: { metadata: meta("event-bare"), involvedObject: { namespace: "default" } } },
  {
    path: "events.k8s.io/v1/events",
    body: {
      metadata: meta("event-new"),
      eventTime: micro,
      reportingController: "example.test/c",
      reportingInstance: "c-1",
      action: "Bind",
      reason: "Bound",
      regarding: { kind: "Machine", namespace: "default", name: "m", apiVersion: "cluster.x-k8s.io/v1beta2" },
      note: "bound it",
      type: "Normal",
    },
  },
  {
    path: "v1/nodes",
    body: {
      metadata: meta("node-a", {
        labels: {
          "node-role.kubernetes.io/control-plane": "",
          "node-role.kubernetes.io/a": "",
          "kubernetes.io/role": "old",
        },
      }),
      spec: { unschedulable: true, providerID: "x://1" },
    },
    status: {
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: t, lastHeartbeatTime: t }],
      addresses: [
        { type: "Hostname", address: "h" },
        { type: "InternalIP", address: "10.0.0.1" },
        { type: "ExternalIP", address: "192.0.2.1" },
      ],
      nodeInfo: {
        kubeletVersion: "v1.34.4",
        osImage: "Debian",
        kernelVersion: "6.1",
        containerRuntimeVersion: "containerd://2",
        machineID: "",
        systemUUID: "",
        bootID: "",
        kubeProxyVersion: "",
        operatingSystem: "linux",
        architecture: "amd64",
      },
    },
  },
  {
    path: "v1/nodes",
    body: { metadata: meta("node-b"), spec: { taints: [{ key: "k", effect: "NoSchedule" }], podCIDR: "10.1.0.0/24" } },
  },
  {
    path: "v1/nodes",
    body: { metadata: meta("node-c") },
    status: { conditions: [{ type: "Ready", status: "False" }] },
  },
  {
    path: "v1/pods",
    body: {
      metadata: meta("pod-run", { labels: { app: "x" } }),
      spec: {
        ...pod("c"),
        nodeName: "node-b",
        initContainers: [{ name: "i", image: "i" }],
        readinessGates: [{ conditionType: "example.test/a" }],
      },
    },
    status: {
      phase: "Running",
      podIP: "10.1.0.2",
      podIPs: [{ ip: "10.1.0.2" }],
      nominatedNodeName: "",
      conditions: [
        { type: "Ready", status: "True" },
        { type: "example.test/a", status: "True" },
      ],
      initContainerStatuses: [
        {
          name: "i",
          image: "i",
          imageID: "",
          ready: true,
          restartCount: 1,
          state: { terminated: { exitCode: 0, reason: "Completed" } },
        },
      ],
      containerStatuses: [
        {
          name: "c",
          image: "c",
          imageID: "",
          ready: true,
          restartCount: 2,
          state: { running: { startedAt: t } },
          lastState: { terminated: { exitCode: 1, finishedAt: t } },
        },
      ],
    },
  },
  {
    path: "v1/pods",
    body: { metadata: meta("pod-crash"), spec: pod("c") },
    status: {
      phase: "Running",
      containerStatuses: [
        {
          name: "c",
          image: "c",
          imageID: "",
          ready: false,
          restartCount: 5,
          state: { waiting: { reason: "CrashLoopBackOff" } },
        },
      ],
    },
  },
  {
    path: "v1/pods",
    body: {
      metadata: meta("pod-init"),
      spec: {
        ...pod("c"),
        initContainers: [
          { name: "i", image: "i" },
          { name: "j", image: "j" },
        ],
      },
    },
    status: {
      phase: "Pending",
      initContainerStatuses: [
        { name: "i", image: "i", imageID: "", ready: true, restartCount: 0, state: { terminated: { exitCode: 0 } } },
        {
          name: "j",
          image: "j",
          imageID: "",
          ready: false,
          restartCount: 0,
          state: { waiting: { reason: "PodInitializing" } },
        },
      ],
    },
  },
  {
    path: "v1/pods",
    body: { metadata: meta("pod-done"), spec: { ...pod("c"), restartPolicy: "Never" } },
    status: {
      phase: "Succeeded",
      containerStatuses: [
        {
          name: "c",
          image: "c",
          imageID: "",
          ready: false,
          restartCount: 0,
          state: { terminated: { exitCode: 0, reason: "Completed" } },
        },
      ],
    },
  },
  {
    path: "v1/pods",
    body: {
      metadata: meta("pod-new"),
      spec: {
        containers: [
          {
            name: "c",
            image: "i",
            resources: { requests: { cpu: "0.5", memory: "1Gi" }, limits: { cpu: 1, memory: "1Gi" } },
            env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
            livenessProbe: { httpGet: { port: 80 } },
            volumeMounts: [{ name: "v", mountPath: "/v" }],
          },
        ],
        volumes: [
          { name: "v", secret: { secretName: "s" } },
          { name: "w", hostPath: { path: "/x" } },
          { name: "x", configMap: { name: "c" } },
        ],
      },
    },
  },
  {
    path: "v1/persistentvolumes",
    body: {
      metadata: meta("pv-a"),
      spec: {
        capacity: { storage: "8Gi" },
        accessModes: ["ReadWriteOnce", "ReadOnlyMany"],
        hostPath: { path: "/x" },
        storageClassName: "fast",
        claimRef: { namespace: "default", name: "claim" },
      },
    },
    status: { phase: "Bound", message: "", reason: "because" },
  },
  {
    path: "v1/persistentvolumeclaims",
    body: {
      metadata: meta("claim"),
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "8Gi" } },
        storageClassName: "fast",
        volumeName: "pv-a",
      },
    },
    status: { phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "8Gi" } },
  },
  {
    path: "v1/persistentvolumeclaims",
    body: {
      metadata: meta("claim-new"),
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    },
  },
  {
    path: "v1/services",
    body: {
      metadata: meta("svc-headless"),
      spec: {
        clusterIP: "None",
        selector: { app: "x", tier: "y" },
        ports: [
          { name: "a", port: 80 },
          { name: "b", port: 53, protocol: "UDP", targetPort: "dns" },
        ],
      },
    },
  },
  {
    path: "v1/services",
    body: { metadata: meta("svc-external"), spec: { type: "ExternalName", externalName: "example.test" } },
  },
  {
    path: "v1/services",
    body: {
      metadata: meta("svc-lb"),
      spec: {
        type: "LoadBalancer",
        clusterIP: "10.96.7.7",
        ports: [{ name: "a", port: 80, nodePort: 30080 }],
        externalIPs: ["192.0.2.9"],
      },
    },
    status: { loadBalancer: { ingress: [{ ip: "192.0.2.5" }, { hostname: "lb.example.test" }] } },
  },
  {
    path: "v1/endpoints",
    body: {
      metadata: meta("ep-a"),
      subsets: [
        {
          addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }],
          ports: [
            { name: "p", port: 80 },
            { name: "q", port: 81 },
          ],
        },
      ],
    },
  },
  { path: "v1/endpoints", body: { metadata: meta("ep-empty") } },
  {
    path: "v1/podtemplates",
    body: { metadata: meta("template"), template: { metadata: { labels: { app: "a" } }, spec: pod("c") } },
  },
];
