import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clusterNetwork } from "@capstan/controlplane";
import { rangesProblem } from "@capstan/controlplane-hosted/contract-suite";
import { afterAll, expect, it } from "vitest";
import { kubernetesBin, runCommand } from "../real-kubernetes/index.ts";

/** Which ranges of addresses are refused before anything starts: the ones that kubeadm refuses, which asks what the components would. */
const dir = mkdtempSync(join(tmpdir(), "capstan-ranges-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function kubeadmRefuses(services: string[], pods: string[]): Promise<boolean> {
  const file = join(dir, "config.json");
  const networking = { serviceSubnet: services.join(","), podSubnet: pods.join(",") };
  const kind = { apiVersion: "kubeadm.k8s.io/v1beta4", kind: "ClusterConfiguration" };
  writeFileSync(file, JSON.stringify({ ...kind, kubernetesVersion: "v1.37.1", networking }));
  const { code, stderr } = await runCommand(join(kubernetesBin(), "kubeadm"), ["config", "validate", "--config", file]);
  if (code !== 0) expect(stderr).toMatch(/networking\.(serviceSubnet|podSubnet): Invalid value/);
  return code !== 0;
}

const SERVICES = ["10.0.0.0/11", "10.96.0.0/12", "10.96.0.0/28", "10.96.0.0/29", "fd01::/107", "fd01::/108", "ten"];
const PODS = ["172.0.0.0/7", "172.0.0.0/8", "10.244.0.0/24", "10.244.0.0/25", "fd00::/47", "fd00::/48", "fd00::/65"];
const isV6 = (cidr: string): boolean => cidr.includes(":");
const RANGES: { services: string[]; pods: string[] }[] = [
  ...SERVICES.map((cidr) => ({ services: [cidr], pods: [isV6(cidr) ? "fd00::/48" : "10.244.0.0/16"] })),
  ...PODS.map((cidr) => ({ services: [isV6(cidr) ? "fd01::/112" : "10.96.0.0/16"], pods: [cidr] })),
  { services: ["10.96.0.0/16", "10.97.0.0/16"], pods: ["10.244.0.0/16"] },
  { services: ["10.96.0.0/16"], pods: ["10.244.0.0/16", "10.245.0.0/16"] },
  { services: ["10.96.0.0/16", "fd01::/112"], pods: ["10.244.0.0/16", "fd00::/48"] },
];

it.each(RANGES)("services $services and pods $pods", async ({ services, pods }) => {
  const network = clusterNetwork({ services: { cidrBlocks: services }, pods: { cidrBlocks: pods } });
  const problem = rangesProblem(network, { version: "v1.37.1" });
  expect(problem !== undefined, problem).toBe(await kubeadmRefuses(services, pods));
});
