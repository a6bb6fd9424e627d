import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type HostProbe, probeHost, unfitForBootstrap, unfitHost } from "./checks.ts";

const GOOD: HostProbe = { hostname: "host-1", swap: [], leftovers: [], freeMiB: 50_000, missingPrograms: [] };
const JOIN = "#cloud-config\nruncmd: [kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml]\n";

test.each<[string, Partial<HostProbe>, string | undefined]>([
  ["an ordinary host", {}, undefined],
  ["an upper-case host name", { hostname: "Host-1.EXAMPLE" }, undefined],
  ["a host name no Node can have", { hostname: "host_1" }, "HostNameInvalid"],
  ["leftovers of an earlier Kubernetes", { leftovers: ["/etc/kubernetes/kubelet.conf"] }, "LeftoversFound"],
])("%s", (_, probe, reason) => {
  expect(unfitHost({ ...GOOD, ...probe }, false)?.reason).toBe(reason);
});

test("files of the agent's own node are not leftovers", () => {
  expect(unfitHost({ ...GOOD, leftovers: ["/etc/kubernetes/kubelet.conf"] }, true)).toBeUndefined();
});

test.each<[string, Partial<HostProbe>, string, string | undefined]>([
  ["an ordinary host", {}, JOIN, undefined],
  ["swap on", { swap: ["/swap.img"] }, JOIN, "SwapOn"],
  ["swap that the kubelet is configured to tolerate", { swap: ["/swap.img"] }, `${JOIN}# failSwapOn: false`, undefined],
  ["swap on, allowed by flag", { swap: ["/swap.img"] }, `${JOIN}- name: fail-swap-on\n  value: "false"`, undefined],
  ["a nearly full disk", { freeMiB: 12 }, JOIN, "DiskFull"],
  ["no kubelet", { missingPrograms: ["kubelet"] }, JOIN, "ProgramsMissing"],
  ["no kubelet when none is needed", { missingPrograms: ["kubelet"] }, "#cloud-config\n", undefined],
])("bootstrap data on %s", (_, probe, data, reason) => {
  expect(unfitForBootstrap({ ...GOOD, ...probe }, data)?.reason).toBe(reason);
});

test("probes the real host", async () => {
  const root = await mkdtemp(join(tmpdir(), "capstan-probe-"));
  const put = async (path: string, text = ""): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  await put("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/swap.img file 1 0 -2\n");
  await put("etc/kubernetes/manifests/etcd.yaml");
  await put("var/lib/kubelet/config.yaml");
  await put("usr/bin/kubelet");
  expect(await probeHost(root, "/usr/sbin:/usr/bin")).toMatchObject({
    swap: ["/swap.img"],
    leftovers: ["/var/lib/kubelet/config.yaml", "/etc/kubernetes/manifests/etcd.yaml"],
    missingPrograms: ["kubeadm", "containerd"],
  });
  await rm(root, { recursive: true, force: true });
});
