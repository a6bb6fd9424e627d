import { type Script, type Step, TABLE } from "../harness/script.ts";

const N = "/api/v1/namespaces/<ns>";
const VOLUMES = "/api/v1/persistentvolumes";

/** A Pod that is rejected: the message is compared. */
function pod(spec: object): Step {
  return { do: `POST ${N}/pods`, body: { apiVersion: "v1", kind: "Pod", metadata: { name: "bad" }, spec } };
}

/** A Pod with one container that is refused. */
function container(more: object, spec: object = {}): Step {
  return pod({ containers: [{ name: "c", image: "i", ...more }], ...spec });
}

function volume(spec: object): Step {
  const body = { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "c-pods-bad" }, spec };
  return { do: `POST ${VOLUMES}`, body };
}

function claim(spec: object): Step {
  const body = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "bad" }, spec };
  return { do: `POST ${N}/persistentvolumeclaims`, body };
}

const ROOM = { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } };

/** Invalid Pods, volumes and claims. */
export const pods: Script = {
  name: "pods",
  steps: [
    container({ imagePullPolicy: "Sometimes", terminationMessagePolicy: "Nope" }),
    container({ image: " i " }),
    container({ ports: [{ containerPort: 0 }, { containerPort: 70000, hostPort: -1, protocol: "ICMP", name: "A_b" }] }),
    container({
      ports: [
        { containerPort: 1, name: "a" },
        { containerPort: 2, name: "a" },
        { containerPort: 3, name: "-1--" },
      ],
    }),
    container({ ports: [{ containerPort: 80, hostPort: 81 }] }, { hostNetwork: true }),
    container({ env: [{ name: "" }, { name: "a=b" }, { name: "x", valueFrom: {} }] }),
    container({
      env: [
        { name: "x", value: "v", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        {
          name: "y",
          valueFrom: { fieldRef: { fieldPath: "metadata.name" }, secretKeyRef: { name: "s", key: "k" } },
        },
      ],
    }),
    container({
      volumeMounts: [
        { name: "v", mountPath: "" },
        { name: "w", mountPath: "/a" },
        { name: "w", mountPath: "/a" },
      ],
    }),
    container(
      {
        volumeMounts: [
          { name: "v", mountPath: "/a", subPath: "/b" },
          { name: "v", mountPath: "/b", subPath: "../c" },
        ],
      },
      { volumes: [{ name: "v", emptyDir: {} }] },
    ),
    container({ resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }),
    // One each: upstream reports those of one list in any order.
    container({ resources: { requests: { cpu: "-1" } } }),
    container({ resources: { limits: { nope: "1" } } }),
    container({ livenessProbe: {} }),
    container({ livenessProbe: { exec: {}, successThreshold: 2 } }),
    container({ readinessProbe: { httpGet: { port: 0, scheme: "FTP" }, tcpSocket: { port: 1 }, periodSeconds: -1 } }),
    container(
      {},
      {
        volumes: [
          { name: "A b", emptyDir: {} },
          { name: "v", emptyDir: {}, hostPath: { path: "/x" } },
        ],
      },
    ),
    container(
      {},
      {
        volumes: [
          { name: "v", hostPath: { path: "" } },
          { name: "v", hostPath: { path: "/a/../b" } },
        ],
      },
    ),
    container({}, { volumes: [{ name: "v", hostPath: { path: "/x", type: "Nope" } }, { name: "" }] }),
    container(
      {},
      {
        volumes: [
          { name: "a", secret: {} },
          { name: "b", configMap: {} },
          { name: "c", persistentVolumeClaim: { claimName: "" } },
        ],
      },
    ),
    container({}, { volumes: [{ name: "a", nfs: { server: "", path: "x" } }] }),
    container({}, { dnsPolicy: "Nope", restartPolicy: "Nope", activeDeadlineSeconds: 0 }),
    container({}, { hostname: "A_b", subdomain: "A_b", nodeSelector: { "a b": "c" } }),
    container({}, { tolerations: [{ operator: "Equal" }, { key: "a b", operator: "Exists", value: "x" }] }),
    container(
      {},
      {
        tolerations: [
          { key: "a", operator: "Nope" },
          { key: "a", effect: "Nope" },
        ],
      },
    ),
    container({}, { tolerations: [{ key: "a", effect: "NoSchedule", tolerationSeconds: 5 }] }),
    pod({
      containers: [
        { name: "c", image: "i" },
        { name: "c", image: "i" },
      ],
      initContainers: [{ name: "c", image: "i" }],
    }),
    volume({}),
    volume({ ...ROOM }),
    volume({ ...ROOM, hostPath: { path: "/a" }, nfs: { server: "s", path: "/x" } }),
    volume({ ...ROOM, hostPath: { path: "/a/../b" } }),
    volume({ accessModes: ["Nope"], capacity: { storage: "0", cpu: "1" }, hostPath: { path: "/a" } }),
    volume({ accessModes: ["ReadWriteOncePod", "ReadOnlyMany"], capacity: { storage: "-1" }, hostPath: { path: "" } }),
    volume({ ...ROOM, persistentVolumeReclaimPolicy: "Nope", volumeMode: "Nope", hostPath: { path: "/a" } }),
    volume({ ...ROOM, local: { path: "/a" } }),
    volume({ ...ROOM, csi: { driver: "", volumeHandle: "" } }),
    volume({ ...ROOM, nfs: { server: "", path: "x" }, storageClassName: "A_b" }),
    {
      do: `POST ${VOLUMES}`,
      body: { metadata: { name: "c-pods" }, spec: { ...ROOM, hostPath: { path: "/a" } } },
      only: ["status", "spec"],
    },
    {
      do: `PATCH ${VOLUMES}/c-pods`,
      body: { spec: { volumeMode: "Block" } },
    },
    { do: `GET ${VOLUMES}/c-pods`, accept: TABLE, only: ["rows.0.cells.1", "rows.0.cells.2", "rows.0.cells.3"] },
    { do: `DELETE ${VOLUMES}/c-pods`, only: ["apiVersion"] },
    claim({}),
    claim({ accessModes: ["Nope"], resources: { requests: { storage: "0" } } }),
    claim({ accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, storageClassName: "A_b" }),
    claim({ accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, volumeMode: "Nope" }),
  ],
};
