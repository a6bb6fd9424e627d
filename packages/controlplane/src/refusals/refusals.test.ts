import type { KubeadmConfigSpec } from "@capstan/capi";
import { describe, expect, test } from "vitest";
import { refusedSettings, withoutRefusedSettings } from "./refusals.ts";

const args = (flags: Record<string, string>) => Object.entries(flags).map(([name, value]) => ({ name, value }));
const kubelet = (flags: Record<string, string>): KubeadmConfigSpec => ({
  joinConfiguration: { nodeRegistration: { kubeletExtraArgs: args(flags) } },
});
const apiServer = (flags: Record<string, string>): KubeadmConfigSpec => ({
  clusterConfiguration: { apiServer: { extraArgs: args(flags) } },
});
const reasons = (spec: KubeadmConfigSpec, version: string): string[] =>
  refusedSettings(spec, version).map(({ field, why }) => `${field}: ${why}`);

describe("flags", () => {
  test("rejects a kubelet flag from the version on that removed it", () => {
    const spec = kubelet({ "container-runtime": "remote" });
    expect(reasons(spec, "v1.26.4")).toEqual([]);
    expect(reasons(spec, "v1.27.0")).toEqual([
      "joinConfiguration.nodeRegistration.kubeletExtraArgs[container-runtime]: kubelet v1.27.0 has no flag --container-runtime: v1.27 removed it",
    ]);
    expect(reasons(kubelet({ "network-plugin": "cni" }), "v1.37.1")[0]).toContain("v1.24 removed it");
  });

  test("keeps deprecated flags that the kubelet still takes", () => {
    // Seen with the kubelet v1.37.1: it starts with both.
    expect(reasons(kubelet({ "cgroup-driver": "systemd", "node-labels": "a=b", v: "2" }), "v1.37.1")).toEqual([]);
  });

  test("rejects flags of the control plane that no version has", () => {
    expect(reasons(apiServer({ "insecure-port": "0" }), "v1.37.1")).toEqual([
      "clusterConfiguration.apiServer.extraArgs[insecure-port]: kube-apiserver v1.37.1 has no flag --insecure-port",
    ]);
    expect(reasons(apiServer({ audit_log_maxage: "3" }), "v1.37.1")).toEqual([]);
  });

  test("checks flags of etcd by etcd's version", () => {
    const etcd = (imageTag?: string): KubeadmConfigSpec => ({
      clusterConfiguration: {
        etcd: {
          local: {
            imageTag,
            extraArgs: args({ "experimental-compaction-batch-limit": "1000" }),
          },
        },
      },
    });
    expect(reasons(etcd(), "v1.36.3")).toEqual([]);
    expect(reasons(etcd(), "v1.37.1")[0]).toContain(
      "etcd 3.7.0-0 has no flag --experimental-compaction-batch-limit: v3.7 removed it",
    );
    expect(reasons(etcd("3.6.8-0"), "v1.37.1")).toEqual([]);
  });

  test.each(["v1.22.0", "v1.99.0", "latest"])("rejects nothing of %s, which is not recorded", (version) => {
    expect(reasons(kubelet({ "container-runtime": "remote" }), version)).toEqual([]);
  });
});

test("tells what an earlier version had from what none had or this one locks", () => {
  const gates = "Nope=true,HostnameOverride=false";
  const refused = refusedSettings(
    kubelet({ "container-runtime": "remote", nope: "1", "feature-gates": gates }),
    "v1.37.1",
  );
  expect(refused.map(({ removed }) => removed)).toEqual([true, false, false, false]);
});

describe("feature gates", () => {
  test("rejects gates that are unknown, removed, or locked to the other value", () => {
    const value = "Nope=true,HostnameOverride=false,NodeDeclaredFeatures=True";
    const spec = apiServer({ "feature-gates": value });
    expect(reasons(spec, "v1.36.3")).toEqual([
      "clusterConfiguration.apiServer.extraArgs[feature-gates]: v1.36.3 has no feature gate Nope",
    ]);
    // Seen with kube-apiserver v1.37.1: "cannot set feature gate HostnameOverride to false, feature is locked to true".
    expect(reasons(spec, "v1.37.1")).toEqual([
      "clusterConfiguration.apiServer.extraArgs[feature-gates]: v1.37.1 has no feature gate Nope",
      "clusterConfiguration.apiServer.extraArgs[feature-gates]: v1.37.1 locks the feature gate HostnameOverride to true",
    ]);
  });

  test("rejects gates that kubeadm removed", () => {
    const spec: KubeadmConfigSpec = { clusterConfiguration: { featureGates: { PublicKeysECDSA: true } } };
    expect(reasons(spec, "v1.36.3")).toEqual([]);
    expect(reasons(spec, "v1.37.1")).toEqual([
      "clusterConfiguration.featureGates[PublicKeysECDSA]: kubeadm v1.37.1 has no feature gate PublicKeysECDSA: v1.37 removed it",
    ]);
  });
});

test("drops exactly the rejected settings", () => {
  const spec: KubeadmConfigSpec = {
    clusterConfiguration: {
      apiServer: { extraArgs: args({ "feature-gates": "Nope=true,AllBeta=false", v: "2" }), certSANs: ["a.example"] },
      featureGates: { PublicKeysECDSA: true },
    },
    initConfiguration: { nodeRegistration: { kubeletExtraArgs: args({ "container-runtime": "remote" }) } },
    joinConfiguration: {
      nodeRegistration: { name: "x", kubeletExtraArgs: args({ "container-runtime": "remote", v: "4" }) },
    },
    preKubeadmCommands: ["true"],
  };
  expect(withoutRefusedSettings(spec, "v1.37.1")).toEqual({
    clusterConfiguration: {
      apiServer: { extraArgs: args({ "feature-gates": "AllBeta=false", v: "2" }), certSANs: ["a.example"] },
    },
    joinConfiguration: { nodeRegistration: { name: "x", kubeletExtraArgs: args({ v: "4" }) } },
    preKubeadmCommands: ["true"],
  });
  expect(refusedSettings(withoutRefusedSettings(spec, "v1.37.1"), "v1.37.1")).toEqual([]);
  expect(withoutRefusedSettings(spec, "v1.22.0")).toEqual(spec);
});
