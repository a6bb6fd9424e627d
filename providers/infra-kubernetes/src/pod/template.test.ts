import { describe, expect, test } from "vitest";
import { templateProblems } from "./template.ts";

const problems = (spec: object): string => templateProblems({ podTemplate: { spec: { ...spec } } }).join("\n");
const node = (fields: object): object => ({ containers: [{ name: "node", ...fields }] });

describe("a template is refused", () => {
  test.each([
    ["with a service account", { serviceAccountName: "admin" }, "serviceAccountName"],
    ["with a service account by its older name", { serviceAccount: "admin" }, "serviceAccount"],
    ["with the token of its service account", { automountServiceAccountToken: true }, "automountServiceAccountToken"],
    [
      "with a projected token",
      { volumes: [{ name: "t", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }] },
      "volumes t: a service account token or certificate",
    ],
    [
      "with a certificate of its service account",
      { volumes: [{ name: "t", projected: { sources: [{ podCertificate: { signerName: "a/b" } }] } }] },
      "volumes t: a service account token or certificate",
    ],
    ["in the network of the outer node", { hostNetwork: true }, "hostNetwork"],
    ["with the processes of the outer node", { hostPID: true }, "hostPID"],
    ["with the IPC of the outer node", { hostIPC: true }, "hostIPC"],
    ["with a port of the outer node", node({ ports: [{ containerPort: 80, hostPort: 80 }] }), "hostPort"],
    ["with a command of its own", node({ command: ["sleep", "1000"] }), "command"],
    ["with arguments of its own", node({ args: ["a"] }), "args"],
    ["with another restart policy", { restartPolicy: "Always" }, "restartPolicy"],
    ["with a mount over the entry point", node({ volumeMounts: [{ name: "a", mountPath: "/capstan/" }] }), "/capstan"],
    [
      "with a mount over a file of the entry point",
      node({ volumeMounts: [{ name: "a", mountPath: "/capstan/run" }] }),
      "/capstan",
    ],
    ["with a volume of the entry point's name", { volumes: [{ name: "capstan", emptyDir: {} }] }, "volumes capstan"],
    ["with containers that are no list", { containers: "node" }, "containers must be a list"],
    ["with a volume without a name", { volumes: [{ emptyDir: {} }] }, "volumes must be a list"],
    ["with mounts that are no list", node({ volumeMounts: 5 }), "volumeMounts has the wrong type"],
    ["with ephemeral containers", { ephemeralContainers: [] }, "ephemeralContainers"],
    ["with limits that are no quantities", node({ resources: { limits: { cpu: "many" } } }), "resources"],
    ["with limits that are no map", node({ resources: { limits: 5 } }), "resources"],
    [
      "with capabilities that are no list",
      node({ securityContext: { capabilities: { add: "ALL" } } }),
      "securityContext",
    ],
    [
      "with terms of an affinity that are no list",
      { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: "a" } } } },
      "affinity: nodeSelectorTerms",
    ],
    ["for another operating system", { os: { name: "windows" } }, "os is refused"],
    ["that runs as a user", { securityContext: { runAsUser: 1000 } }, "securityContext.runAsUser"],
    [
      "whose node must not run as root",
      node({ securityContext: { runAsNonRoot: true } }),
      "containers node: securityContext.runAsNonRoot",
    ],
    [
      "whose root file system is read-only",
      node({ securityContext: { readOnlyRootFilesystem: true } }),
      "readOnlyRootFilesystem",
    ],
    ["without privileges", node({ securityContext: { privileged: false } }), "set hostUsers: false"],
    ["with a startup probe of its own", node({ startupProbe: { tcpSocket: { port: 1 } } }), "startupProbe"],
    ["with its message elsewhere", node({ terminationMessagePath: "/tmp/message" }), "terminationMessagePath"],
    [
      "with a read-only folder of the kubelet",
      node({ volumeMounts: [{ name: "a", mountPath: "/var/lib/kubelet/", readOnly: true }] }),
      "volumes a: the node writes to /var/lib/kubelet",
    ],
    [
      "with a ConfigMap in place of a folder",
      { volumes: [{ name: "var-lib-containerd", configMap: { name: "c" } }] },
      "volumes var-lib-containerd: the node writes to /var/lib/containerd",
    ],
    ["with mounts that have no folder", node({ volumeMounts: [{ name: "a" }] }), "volumeMounts has the wrong type"],
    ["with an affinity that is no object", { affinity: "zone" }, "affinity"],
  ])("%s", (_, spec, words) => {
    expect(problems(spec)).toContain(words);
  });

  test("with such fields directly in the spec", () => {
    expect(templateProblems({ hostNetwork: true }).join()).toContain("hostNetwork");
  });
});

test("a template with the default service account, sidecars and volumes is accepted", () => {
  const spec = {
    serviceAccountName: "default",
    automountServiceAccountToken: false,
    restartPolicy: "Never",
    containers: [{ name: "node" }, { name: "proxy", command: ["proxy"] }],
    volumes: [{ name: "c", projected: { sources: [{ configMap: { name: "c" } }] } }],
  };
  expect(problems(spec)).toBe("");
});

test.each([
  { hostUsers: false, ...node({ securityContext: { privileged: false } }) },
  { runtimeClassName: "sysbox-runc", ...node({ securityContext: { privileged: false } }) },
  node({ securityContext: { privileged: false, capabilities: { add: ["SYS_ADMIN"] } } }),
  node({ securityContext: { runAsUser: 0 }, terminationMessagePath: "/dev/termination-log" }),
  { os: { name: "linux" }, volumes: [{ name: "run", emptyDir: {} }] },
])("a template that leaves the node what it needs is accepted: %j", (spec) => {
  expect(problems(spec)).toBe("");
});
