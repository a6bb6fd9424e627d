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

test("a plain control plane has no problem", () => {
  expect(specProblem(spec, network, "Process")).toBeUndefined();
});

test.each([
  ["v1.20.0", "not supported"],
  ["1.34.4", "is not a version like v1.34.4"],
])("version %s is refused: %s", (version, text) => {
  expect(specProblem({ version }, network, "Process")?.message).toContain(text);
});

test("overlapping or malformed networks are refused with the ranges named", () => {
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
  [{ name: "audit-policy-file", value: "/etc/shadow" }, "names a path outside files"],
  [{ name: "audit-policy-file", value: "../../other/files/ca.key" }, "names a path outside files"],
  [{ name: "audit-policy-file", value: "$FILES/ca.key" }, "which is not in files"],
  [{ name: "audit-policy-file", value: "$DATA/x" }, "names a path outside files"],
  [{ name: "audit-webhook-config-file", value: "file:///x" }, "names a path outside files"],
  [{ name: "audit-policy-file", value: "files/sa.key" }, "names a path outside files"],
  [{ name: "x", value: "a=1,b=data/member" }, "names a path outside files"],
  [{ name: "audit-policy-file", value: "etc/kubernetes/pki/sa.key" }, "names a path outside files"],
  [{ name: "tracing-config-file", value: "apiserver.key" }, "names a path outside files"],
  [{ name: "kubelet-certificate-authority", value: "." }, "names a path outside files"],
  [{ name: "authorization-config", value: "$FILES/x" }, "use --authorization-mode"],
  [{ name: "admission-control", value: "AlwaysAdmit" }, "use spec.apiServer.admission"],
  [{ name: "enable-logs-handler", value: "true" }, "belongs to the placement"],
  [{ name: "debug-socket-path", value: "x" }, "belongs to the placement"],
  [{ name: "service-account-signing-endpoint", value: "x" }, "belongs to the placement"],
  [{ name: "disable-admission-plugins", value: "NodeRestriction" }, "use spec.apiServer.admission"],
  [{ name: "enable-admission-plugins", value: "AlwaysAdmit" }, "use spec.apiServer.admission"],
  [{ name: "authorization-mode", value: "AlwaysAllow,Node,RBAC" }, "name Node and RBAC"],
  [{ name: "authorization-mode", value: "RBAC" }, "name Node and RBAC"],
  [{ name: "authorization-mode" }, "name Node and RBAC"],
  [{ name: "anonymous-auth", value: "false" }, "a file for --authentication-config"],
])("an argument that reaches out of the tenant's walls is refused: %j", (argument, text) => {
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

test("an argument may name a file that comes with it, and plain values are fine", () => {
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

test("konnectivity belongs to pods", () => {
  const addons = { konnectivity: { mode: "On" as const } };
  expect(specProblem({ ...spec, addons }, network, "Process")?.message).toContain("spec.addons.konnectivity.mode");
  expect(specProblem({ ...spec, addons }, network, "Pods")).toBeUndefined();
});

test.each([
  [{ shared: { name: "main" } }, "Pods", "placement Pods has no shared etcd"],
  [{ shared: { name: "main" }, replicas: 3 }, "Process", "a shared etcd has one member"],
  [{ shared: { name: "main" }, extraArgs: [{ name: "heartbeat-interval" }] }, "Process", "spec.etcd.extraArgs"],
  [{ shared: { name: "main" }, defragment: {} }, "Process", "spec.etcd.defragment"],
  [{ shared: { name: "main" }, quotaBytes: 33_554_432, replicas: 1 }, "Process", undefined],
] as const)("a shared etcd: %j in %s: %s", (etcd, placement, text) => {
  const problem = specProblem({ ...spec, etcd: structuredClone(etcd) } as typeof spec, network, placement);
  if (text === undefined) expect(problem).toBeUndefined();
  else expect(problem?.message).toContain(text);
});

test("a file named like one of the control plane's own is refused, by the placement and by the schema", () => {
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
    "services: 10.0.0.0/8 is larger than kube-apiserver takes; use a mask of /12 or longer",
  ],
  [{ services: ["10.96.0.0/29"] }, "services: 10.96.0.0/29 has less than 10 addresses"],
  [{ services: ["10.96.0.0/16", "10.97.0.0/16"] }, "services: 10.96.0.0/16 and 10.97.0.0/16 are of one family"],
  [
    { pods: ["10.244.0.0/25"] },
    "pods: 10.244.0.0/25 is smaller than the /24 that each node gets of it; use a range of /24",
  ],
  [{ pods: ["fd00::/47"] }, "pods: fd00::/47 has room for more nodes of /64 each than kube-controller-manager counts"],
])("ranges that the components end for are told before they start: %j", (ranges, text) => {
  const blocks = (cidrBlocks: string[] | undefined) => (cidrBlocks === undefined ? {} : { cidrBlocks });
  const { services, pods } = ranges as { services?: string[]; pods?: string[] };
  const problem = specProblem(spec, clusterNetwork({ services: blocks(services), pods: blocks(pods) }), "Process");
  expect(problem).toEqual({ reason: "InvalidNetwork", message: expect.stringContaining(text) });
});

test("a mask of nodes of one's own, or none, decides about the pods' range", () => {
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
])("an address that is none, or leads nowhere: %j", (more, reason, text) => {
  const problem = specProblem({ ...spec, ...more }, network, "Process");
  expect(problem).toEqual({ reason, message: expect.stringContaining(text) });
});

test("addresses and names that are some", () => {
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
] as const)("settings that do nothing in placement %s are told: %j", (placement, more, fields) => {
  const told = withoutEffect({ ...spec, ...structuredClone(more) } as typeof spec, placement);
  if (fields === undefined) expect(told).toBeUndefined();
  else expect(told?.message).toContain(`Placement ${placement} has no use for ${fields};`);
});
