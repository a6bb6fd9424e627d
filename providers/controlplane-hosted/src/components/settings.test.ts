import { clusterNetwork } from "@capstan/controlplane";
import { expect, test } from "vitest";
import type { HostedControlPlaneSpec } from "../kinds/hosted-control-plane.ts";
import { specProblem } from "../validation.ts";
import type { ComponentContext } from "./context.ts";
import { kubeApiserverArguments } from "./kube-apiserver.ts";
import { kubeControllerManagerArguments } from "./kube-controller-manager.ts";
import { kubeSchedulerArguments } from "./kube-scheduler.ts";

const files = [
  { name: "policy.yaml", content: "x" },
  { name: "oidc-ca.crt", content: "x" },
  { name: "admission.yaml", content: "x" },
];

function context(
  spec: Omit<HostedControlPlaneSpec, "version">,
  more: Partial<ComponentContext> = {},
): ComponentContext {
  return {
    clusterName: "c1",
    version: "v1.34.4",
    network: clusterNetwork(undefined),
    spec: { version: "v1.34.4", ...spec },
    endpoint: { host: "10.0.0.1", port: 6443 },
    bindAddress: "10.0.0.1",
    apiPort: 6443,
    ports: { controllerManager: 1, scheduler: 2 },
    etcd: [],
    ...more,
  };
}

test("passes feature gates to the component that they belong to", () => {
  const spec = {
    apiServer: { featureGates: { B: false, A: true } },
    controllerManager: { featureGates: { C: true } },
    scheduler: { featureGates: { D: true } },
  };
  expect(kubeApiserverArguments(context(spec))).toContain("--feature-gates=A=true,B=false");
  expect(kubeControllerManagerArguments(context(spec))).toContain("--feature-gates=C=true");
  expect(kubeSchedulerArguments(context(spec))).toContain("--feature-gates=D=true");
  expect(kubeSchedulerArguments(context({})).join(" ")).not.toContain("feature-gates");
});

test("renders OIDC, an audit log and admission plugins as flags of kube-apiserver", () => {
  const apiServer = {
    files,
    oidc: { issuerURL: "https://login.example", clientID: "k8s", groupsClaim: "groups", caFile: "oidc-ca.crt" },
    audit: { policyFile: "policy.yaml", maxAgeDays: 7 },
    admission: { enable: ["AlwaysPullImages"], disable: ["DefaultStorageClass"], configFile: "admission.yaml" },
  };
  const args = kubeApiserverArguments(context({ apiServer }, { auditLog: "$DATA/audit.log" }));
  expect(args).toEqual(
    expect.arrayContaining([
      "--oidc-issuer-url=https://login.example",
      "--oidc-client-id=k8s",
      "--oidc-groups-claim=groups",
      "--oidc-ca-file=$FILES/oidc-ca.crt",
      "--audit-policy-file=$FILES/policy.yaml",
      "--audit-log-path=$DATA/audit.log",
      "--audit-log-maxage=7",
      "--audit-log-maxbackup=10",
      "--enable-admission-plugins=NodeRestriction,AlwaysPullImages",
      "--disable-admission-plugins=DefaultStorageClass",
      "--admission-control-config-file=$FILES/admission.yaml",
    ]),
  );
  expect(args.filter((argument) => argument.startsWith("--enable-admission-plugins"))).toHaveLength(1);
  expect(specProblem({ version: "v1.34.4", apiServer }, clusterNetwork(undefined), "Process")).toBeUndefined();
});

test("encryption at rest reads its keys from a file and reloads them when they change", () => {
  expect(kubeApiserverArguments(context({}, { encrypted: true }))).toEqual(
    expect.arrayContaining([
      "--encryption-provider-config=$FILES/capstan-encryption.yaml",
      "--encryption-provider-config-automatic-reload=true",
    ]),
  );
});

test.each([
  [
    { audit: { policyFile: "other.yaml" } },
    "spec.apiServer.audit.policyFile refers to other.yaml, which is not in files",
  ],
  [
    { oidc: { issuerURL: "https://x", clientID: "y", caFile: "ca.key" } },
    "oidc.caFile refers to ca.key, which is not in",
  ],
  [{ admission: { configFile: "sa.key" } }, "admission.configFile refers to sa.key, which is not in files"],
  [{ admission: { disable: ["NodeRestriction"] } }, "NodeRestriction isolates nodes"],
  [{ featureGates: { "A=true,B": true } }, "is not the name of a feature gate"],
  [{ featureGates: { A: true }, extraArgs: [{ name: "feature-gates", value: "B=true" }] }, "set it in one place"],
  [{ encryption: { resources: ["secret"] } }, 'encryption.resources: "secret" is not a resource, so nothing would be'],
  [
    { encryption: { resources: ["secrets", "no such/thing"] } },
    'encryption.resources: "no such/thing" is not a resource',
  ],
  [{ resources: { limits: { memory: "lots" } } }, 'resources.limits.memory: "lots" is not a quantity'],
])("rejects %j: %s", (apiServer, text) => {
  const problem = specProblem({ version: "v1.34.4", apiServer }, clusterNetwork(undefined), "Process");
  expect(problem?.reason).toBe("InvalidArgument");
  expect(problem?.message).toContain(text);
});

test.each(["secrets", "configmaps", "deployments.apps", "*.", "*.*", "*.apps", "ingresses.networking.k8s.io"])(
  "%s can be encrypted",
  (resource) => {
    const apiServer = { encryption: { resources: [resource] } };
    expect(specProblem({ version: "v1.34.4", apiServer }, clusterNetwork(undefined), "Process")).toBeUndefined();
  },
);
