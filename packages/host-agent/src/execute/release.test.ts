import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { systemClock } from "@capstan/apimachinery";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Footprint } from "./footprint.ts";
import { lookBefore, releaseHost } from "./release.ts";
import type { RunCommand } from "./run-command.ts";

let root: string;
let state: string;
let images: string[];
let tables: string[];
let routes: string[];
let addresses: string[];
let ran: string[];
let broken: string | undefined;

const run: RunCommand = (command) => {
  const line = typeof command === "string" ? command : command.join(" ");
  ran.push(line);
  const isList = line.includes("images list --quiet");
  const failed = broken !== undefined && line.includes(broken);
  const output = failed ? "resource busy" : isList ? images.join("\n") : listed(line).join("\n");
  return Promise.resolve({ exitCode: failed ? 1 : 0, output, timedOut: false });
};

const listed = (line: string): string[] => {
  if (line.includes("nft list tables")) return tables;
  if (line.includes("addr show")) return addresses;
  return line.includes("-4 route show") ? routes : [];
};

const put = async (...paths: string[]): Promise<void> => {
  for (const path of paths) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), "x");
  }
};

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-release-"));
  state = await mkdtemp(join(tmpdir(), "capstan-state-"));
  images = ["registry.example/owners:1"];
  tables = ["table inet owners", "table ip kube-owners"];
  routes = ["default via 192.0.2.1 dev eth0", "10.9.0.0/24 via 192.0.2.9 dev eth0 proto 77"];
  addresses = [
    "2: eth0    inet 192.0.2.5/24 brd 192.0.2.255 scope global eth0\\       valid_lft forever preferred_lft forever",
    "2: eth0    inet 192.0.2.50/32 scope global eth0\\       valid_lft forever preferred_lft forever",
  ];
  ran = [];
  broken = undefined;
  await put("etc/cni/net.d/10-owners.conflist", "opt/cni/bin/bridge", "sys/class/net/eth0", "sys/class/net/veth-owner");
  new Footprint(state, root).noteBefore(await lookBefore(systemClock, root, run));
  // What a node leaves.
  await put("etc/cni/net.d/05-cluster.conf", "opt/cni/bin/flannel", "sys/class/net/cni0", "sys/class/net/veth1");
  await put("etc/kubernetes/kubelet.conf", "var/lib/kubelet/pki/key", "var/lib/etcd/member/db", "run/kubeadm/x");
  images.push("registry.k8s.io/pause:3.10");
  tables.push("table inet pod-cni", "table ip nat");
  routes.push("10.244.1.0/24 via 192.0.2.7 dev eth0 proto 89 onlink", "10.0.0.0/8 via 192.0.2.1 dev eth0 proto bgp");
  addresses.push(
    "2: eth0    inet 192.0.2.100/32 scope global eth0\\       valid_lft forever preferred_lft forever",
    "2: eth0    inet6 2001:db8::64/128 scope global nodad\\       valid_lft forever preferred_lft forever",
    "2: eth0    inet 192.0.2.7/32 scope global dynamic eth0\\       valid_lft 3000sec preferred_lft 3000sec",
    "2: eth0    inet 198.51.100.4/24 scope global eth0\\       valid_lft forever preferred_lft forever",
  );
  ran = [];
});
afterEach(async () => {
  for (const folder of [root, state]) await rm(folder, { recursive: true, force: true });
});

const release = (more: object = {}) => releaseHost({ clock: systemClock, stateDir: state, root, run, ...more });

test("removes what the node added, and keeps what the owner had", async () => {
  const stopped: string[] = [];
  expect(
    await release({ programs: { stop: (name: string) => Promise.resolve(void stopped.push(name)) } }),
  ).toBeUndefined();
  expect(await readdir(join(root, "etc/cni/net.d"))).toEqual(["10-owners.conflist"]);
  expect(await readdir(join(root, "opt/cni/bin"))).toEqual(["bridge"]);
  expect(await readdir(join(root, "etc"))).toEqual(["cni"]);
  expect(await readdir(join(root, "var/lib/kubelet"))).toEqual([]);
  expect(await readdir(join(root, "var/lib/etcd"))).toEqual([]);
  expect(ran.filter((line) => line.startsWith("ip link"))).toEqual(["ip link delete cni0", "ip link delete veth1"]);
  expect(ran.filter((line) => line.includes("images remove"))).toEqual([
    "ctr --connect-timeout 3s --namespace k8s.io images remove registry.k8s.io/pause:3.10",
  ]);
  expect(ran.filter((line) => line.startsWith("nft delete table inet"))).toEqual(["nft delete table inet pod-cni"]);
  expect(ran.filter((line) => /^ip -\d route delete/.test(line))).toEqual([
    "ip -4 route delete 10.244.1.0/24 proto 89",
  ]);
  expect(ran.filter((line) => line.startsWith("ip address"))).toEqual([
    "ip address delete 192.0.2.100/32 dev eth0",
    "ip address delete 2001:db8::64/128 dev eth0",
  ]);
  expect(ran[0]).toContain("kubeadm reset --force");
  expect(ran.join("\n")).toMatch(/iptables-save.*ip6tables-save/s);
  // The kubelet first, or it would restart what kubeadm stops; containerd last, because it is needed until then.
  expect(stopped).toEqual(["kubelet", "containerd"]);
  expect(await readdir(state)).toEqual([]);
});

test("a failed step is reported with its own message, nothing is lost, and a retry continues", async () => {
  broken = "kubeadm reset";
  expect(await release()).toBe('"kubeadm reset" exited with code 1: resource busy');
  expect(await readdir(state)).toEqual(["footprint.jsonl"]);
  broken = undefined;
  expect(await release()).toBeUndefined();
  expect(await release()).toBeUndefined();
});

const MANIFEST = "etc/kubernetes/manifests/etcd.yaml";

async function etcdIn(folder: string): Promise<void> {
  await put(MANIFEST);
  await writeFile(join(root, MANIFEST), `- --data-dir=${folder}\n`);
}

test("removes only what etcd makes from the folder that its manifest names", async () => {
  await put("srv/db/member/snap/db", "srv/db/owners.txt");
  await etcdIn("/srv/db");
  expect(await release()).toBeUndefined();
  expect(await readdir(join(root, "srv/db"))).toEqual(["owners.txt"]);
});

test.each(["/", "/srv", "/srv/db/../../home/owner", "srv/db"])(
  "removes nothing from %s when a manifest of etcd names it",
  async (folder) => {
    await put("member/x", "srv/member/x", "home/owner/member/x", "srv/db/member/x");
    await etcdIn(folder);
    expect(await release()).toBeUndefined();
    for (const kept of ["member", "srv/member", "home/owner/member", "srv/db/member"])
      expect(await readdir(join(root, kept))).toEqual(["x"]);
  },
);

test("keeps the data of an etcd that was there before the Machine", async () => {
  await rm(join(state, "footprint.jsonl"));
  await put("srv/db/member/owners");
  new Footprint(state, root).noteBefore(await lookBefore(systemClock, root, run));
  await etcdIn("/srv/db");
  expect(await release()).toBeUndefined();
  expect(await readdir(join(root, "srv/db/member"))).toEqual(["owners"]);
});

test("a host without a recorded state keeps its images, plugins and routes", async () => {
  await rm(join(state, "footprint.jsonl"));
  expect(await release()).toBeUndefined();
  expect(ran.some((line) => line.includes("images remove") || line.includes("route delete"))).toBe(false);
  expect(await readdir(join(root, "opt/cni/bin"))).toEqual(["bridge", "flannel"]);
});
