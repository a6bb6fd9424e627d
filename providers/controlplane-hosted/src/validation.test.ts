import { clusterNetwork } from "@capstan/controlplane";
import { expect, test } from "vitest";
import { OWN_FILES } from "./components/own-files.ts";
import { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import { konnectivityFiles } from "./placement/pods/konnectivity.ts";
import { secretKey } from "./placement/pods/template.ts";
import { specProblem } from "./validation.ts";
import { withoutEffect } from "./without-effect.ts";

const network = clusterNetwork(undefined);
const spec = { version: "v1.34.4" };

test("accepts a plain control plane", () => {
  expect(specProblem(spec, network, "Process")).toBeUndefined();
});

test.each([
  ["v1.20.0", "not supported"],
  ["1.34.4", "is not a version like v1.37.1"],
])("rejects version %s: %s", (version, text) => {
  expect(specProblem({ version }, network, "Process")?.message).toContain(text);
});

test("rejects overlapping or malformed networks and names the ranges", () => {
  const overlapping = clusterNetwork({ services: { cidrBlocks: ["10.244.0.0/20"] } });
  expect(specProblem(spec, overlapping, "Process")?.message).toContain(
    "services 10.244.0.0/20 and pods 10.244.0.0/16 overlap",
  );
  expect(specProblem(spec, clusterNetwork({ pods: { cidrBlocks: ["ten"] } }), "Process")?.message).toContain(
    "ten is not a CIDR",
  );
});

test.each([
  [{ name: "etcd-servers", value: "https://other:2379" }, "belongs to the placement"],
  [{ name: "tls-cert-file", value: "x" }, "belongs to the placement"],
  [{ name: "audit-policy-file", value: "/etc/shadow" }, "refers to a path outside files"],
  [{ name: "audit-policy-file", value: "../../other/files/ca.key" }, "refers to a path outside files"],
  [{ name: "audit-policy-file", value: "$FILES/ca.key" }, "which is not in files"],
  [{ name: "audit-policy-file", value: "$DATA/x" }, "refers to a path outside files"],
  [{ name: "audit-webhook-config-file", value: "file:///x" }, "refers to a path outside files"],
  [{ name: "audit-policy-file", value: "files/sa.key" }, "refers to a path outside files"],
  [{ name: "x", value: "a=1,b=data/member" }, "refers to a path outside files"],
  [{ name: "audit-policy-file", value: "etc/kubernetes/pki/sa.key" }, "refers to a path outside files"],
  [{ name: "tracing-config-file", value: "apiserver.key" }, "refers to a path outside files"],
  [{ name: "kubelet-certificate-authority", value: "." }, "refers to a path outside files"],
  [{ name: "authorization-config", value: "$FILES/x" }, "use --authorization-mode"],
  [{ name: "admission-control", value: "AlwaysAdmit" }, "use spec.apiServer.admission"],
  [{ name: "enable-logs-handler", value: "true" }, "belongs to the placement"],
  [{ name: "debug-socket-path", value: "x" }, "belongs to the placement"],
  [{ name: "service-account-signing-endpoint", value: "x" }, "belongs to the placement"],
  [{ name: "disable-admission-plugins", value: "NodeRestriction" }, "use spec.apiServer.admission"],
  [{ name: "enable-admission-plugins", value: "AlwaysAdmit" }, "use spec.apiServer.admission"],
  [{ name: "authorization-mode", value: "AlwaysAllow,Node,RBAC" }, "include Node and RBAC"],
  [{ name: "authorization-mode", value: "RBAC" }, "include Node and RBAC"],
  [{ name: "authorization-mode" }, "include Node and RBAC"],
  [{ name: "anonymous-auth", value: "false" }, "a file for --authentication-config"],
])("rejects an argument that breaks the tenant's isolation: %j", (argument, text) => {
  const problem = specProblem({ ...spec, apiServer: { extraArgs: [argument] } }, network, "Process");
  expect(problem?.reason).toBe("InvalidArgument");
  expect(problem?.message).toContain(text);
});

test.each([
  ["etcd", "log-outputs"],
  ["etcd", "discovery-srv"],
  ["etcd", "auth-token"],
  ["etcd", "socket-reuse-port"],
  ["controllerManager", "flex-volume-plugin-dir"],
  ["controllerManager", "enable-hostpath-provisioner"],
  ["scheduler", "write-config-to"],
  ["scheduler", "client-ca-file"],
  ["controllerManager", "client-ca-file"],
  ["controllerManager", "requestheader-client-ca-file"],
  ["controllerManager", "master"],
  ["scheduler", "master"],
])("spec.%s.extraArgs cannot set --%s", (component, name) => {
  const problem = specProblem({ ...spec, [component]: { extraArgs: [{ name, value: "x" }] } }, network, "Process");
  expect(problem?.message).toBe(
    `spec.${component}.extraArgs: --${name} belongs to the placement and cannot be set; remove it`,
  );
});

test("accepts an argument that refers to an entry of files, and plain values", () => {
  const apiServer = {
    files: [{ name: "audit.yaml", content: "x" }],
    extraArgs: [
      { name: "audit-policy-file", value: "$FILES/audit.yaml" },
      { name: "event-ttl", value: "2h" },
      { name: "runtime-config", value: "api/alpha=true" },
      { name: "oidc-issuer-url", value: "https://issuer.example/realm" },
      { name: "tls-min-version", value: "VersionTLS13" },
      { name: "feature-gates", value: "A=true,B=false" },
      { name: "authorization-mode", value: "Node,RBAC,Webhook" },
      { name: "x", value: "profiles/data" },
    ],
  };
  expect(specProblem({ ...spec, apiServer }, network, "Process")).toBeUndefined();
});

test("konnectivity requires placement Pods", () => {
  const addons = { konnectivity: { mode: "On" as const } };
  expect(specProblem({ ...spec, addons }, network, "Process")?.message).toContain("spec.addons.konnectivity.mode");
  expect(specProblem({ ...spec, addons }, network, "Pods")).toBeUndefined();
});

test.each([
  [{ shared: { name: "main" } }, "Pods", "placement Pods does not support a shared etcd"],
  [{ shared: { name: "main" }, replicas: 3 }, "Process", "a shared etcd has one member"],
  [{ shared: { name: "main" }, extraArgs: [{ name: "heartbeat-interval" }] }, "Process", "spec.etcd.extraArgs"],
  [{ shared: { name: "main" }, defragment: {} }, "Process", "spec.etcd.defragment"],
  [{ shared: { name: "main" }, quotaBytes: 33_554_432, replicas: 1 }, "Process", undefined],
] as const)("a shared etcd: %j in %s: %s", (etcd, placement, text) => {
  const problem = specProblem({ ...spec, etcd: structuredClone(etcd) } as typeof spec, network, placement);
  if (text === undefined) expect(problem).toBeUndefined();
  else expect(problem?.message).toContain(text);
});

test("the placement and the schema reject a file with the name of one of the control plane's own", () => {
  const settings = { files: [{ name: "ca.crt", content: "x" }] };
  for (const component of ["apiServer", "controllerManager", "scheduler"])
    expect(specProblem({ ...spec, [component]: settings }, network, "Pods")).toEqual({
      reason: "InvalidArgument",
      message: `spec.${component}.files: ca.crt is a file of the control plane itself; choose another name`,
    });
  expect(OWN_FILES).toEqual(expect.arrayContaining(Object.keys(konnectivityFiles({}, "c1", ""))));
  // In a Secret it would be the CA that kube-apiserver trusts as etcd.
  const files = [{ name: secretKey("etcd/ca.crt"), content: "" }];
  expect(specProblem({ ...spec, apiServer: { files } }, network, "Pods")?.message).toContain("choose another name");
  const crd = JSON.stringify(HostedControlPlane.crd());
  expect(crd).toContain("!(self in ['ca.crt',");
  const fine = { files: [{ name: "issuer-ca.crt", content: "x" }] };
  expect(specProblem({ ...spec, apiServer: fine }, network, "Pods")).toBeUndefined();
});

test.each([
  [
    { services: ["10.0.0.0/8"], pods: ["192.168.0.0/16"] },
    "services: 10.0.0.0/8 is larger than kube-apiserver accepts; use a mask of /12 or longer",
  ],
  [{ services: ["10.96.0.0/29"] }, "services: 10.96.0.0/29 has fewer than 10 addresses"],
  [{ services: ["10.96.0.0/16", "10.97.0.0/16"] }, "services: 10.96.0.0/16 and 10.97.0.0/16 belong to one IP family"],
  [{ pods: ["10.244.0.0/25"] }, "pods: 10.244.0.0/25 is smaller than the /24 that each node gets; use a range of /24"],
  [
    { pods: ["fd00::/47"] },
    "pods: fd00::/47 has room for more node ranges of /64 than kube-controller-manager supports",
  ],
])("reports ranges for which components would exit, before they start: %j", (ranges, text) => {
  const blocks = (cidrBlocks: string[] | undefined) => (cidrBlocks === undefined ? {} : { cidrBlocks });
  const { services, pods } = ranges as { services?: string[]; pods?: string[] };
  const problem = specProblem(spec, clusterNetwork({ services: blocks(services), pods: blocks(pods) }), "Process");
  expect(problem).toEqual({ reason: "InvalidNetwork", message: expect.stringContaining(text) });
});

test("the node mask of the spec decides whether the range of pods is valid", () => {
  const small = clusterNetwork({ pods: { cidrBlocks: ["10.244.0.0/26"] } });
  for (const argument of [
    { name: "node-cidr-mask-size", value: "28" },
    { name: "node-cidr-mask-size-ipv4", value: "28" },
    { name: "allocate-node-cidrs", value: "false" },
  ])
    expect(specProblem({ ...spec, controllerManager: { extraArgs: [argument] } }, small, "Process")).toBeUndefined();
});

test.each([
  [{ controlPlaneEndpoint: { host: "https://api", port: 6443 } }, "InvalidAddress", "spec.controlPlaneEndpoint.host"],
  [{ controlPlaneEndpoint: { host: "10.244.3.4", port: 6443 } }, "InvalidNetwork", "contains the endpoint 10.244.3.4"],
  [{ expose: { bindAddress: "eth0" } }, "InvalidAddress", "spec.expose.bindAddress"],
  [{ expose: { certSANs: ["api.example.org", "not a name"] } }, "InvalidAddress", 'spec.expose.certSANs: "not a name"'],
])("rejects an invalid or unreachable address: %j", (more, reason, text) => {
  const problem = specProblem({ ...spec, ...more }, network, "Process");
  expect(problem).toEqual({ reason, message: expect.stringContaining(text) });
});

test("accepts valid addresses and names", () => {
  const expose = { bindAddress: "::", certSANs: ["*.example.org", "API.example.org", "192.0.2.1", "fd00::1"] };
  expect(specProblem({ ...spec, expose }, network, "Process")).toBeUndefined();
});

test.each([
  [
    "Process",
    { hostCluster: { secretName: "x" }, apiServer: { image: "x" } },
    "spec.hostCluster, spec.apiServer.image",
  ],
  ["Process", { apiServer: { resources: { requests: { cpu: "1" } } } }, "spec.apiServer.resources.requests"],
  ["Process", { apiServer: { resources: { limits: { cpu: "1" } }, encryption: {} } }, undefined],
  ["Pods", { expose: { bindAddress: "0.0.0.0" } }, "spec.expose.bindAddress"],
  ["Embedded", { apiServer: { encryption: {} }, etcd: { quotaBytes: 1 } }, "spec.apiServer, spec.etcd.quotaBytes"],
  ["Embedded", { addons: {}, replicas: 1 }, undefined],
] as const)("reports settings without effect in placement %s: %j", (placement, more, fields) => {
  const told = withoutEffect({ ...spec, ...structuredClone(more) } as typeof spec, placement);
  if (fields === undefined) expect(told).toBeUndefined();
  else expect(told?.message).toContain(`Placement ${placement} ignores ${fields};`);
});
