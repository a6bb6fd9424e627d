import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheDir, mustRun } from "../../real-kubernetes/index.ts";
import { type ImageDefinition, writeDockerArchive } from "./docker-archive.ts";
import { ImageTree } from "./image-tree.ts";

/** What workers need: the sandbox, the service proxy, cluster DNS, the pod network and the test image. */
export const workerImages = ["pause", "kube-proxy", "coredns", "e2e-cni", "busybox"] as const;

/** What kubeadm control plane nodes need on top. */
export const controlPlaneImages = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"] as const;

/** The tunnel from kube-apiserver to nodes that it cannot reach: one image beside kube-apiserver, one on the nodes. */
const konnectivityImages = ["proxy-server", "proxy-agent"] as const;

/** The etcd before the default one, and a default one that spoils its data for that one. */
export const otherEtcdImages = ["etcd-v3.6", "etcd-spoiling"] as const;

/** The images that the harness builds. */
export type ImageName =
  | (typeof workerImages)[number]
  | (typeof controlPlaneImages)[number]
  | (typeof konnectivityImages)[number]
  | (typeof otherEtcdImages)[number];

/** One built image. */
export interface Image {
  /** Full reference as pods name it. */
  readonly reference: string;
  /** Docker archive. */
  readonly archive: string;
}

/** All built images by name. */
export type Images = Readonly<Record<ImageName, Image>>;

type References = Record<ImageName, string>;
type OtherEtcd = (typeof otherEtcdImages)[number];

/** Reference of the shell-and-web-server image that test workloads use. */
export const busyboxReference = "capstan.dev/e2e-busybox:1";

const cniReference = "capstan.dev/e2e-cni:1";
/** The version in tools/kubernetes/konnectivity/go.mod, which is the one for these Kubernetes versions. */
const konnectivityTag = "v0.36.0";

/**
 * An etcd that starts well without data, and with data leads for long enough to make it unreadable for an older one, unseen by probes,
 * before it ends. From then on it ends at once.
 */
const SPOILING = `#!/bin/sh
data=/var/lib/etcd/data
[ -d $data/member ] || exec real-etcd "$@"
[ -e $data/spoiled ] || timeout 5 real-etcd "$@" --listen-metrics-urls=http://127.0.0.1:29381
touch $data/spoiled
echo 'panic: this etcd is broken' >&2
exit 1
`;

/**
 * Builds the images that real nodes need, without a registry: docker archives from our own programs and from files of the nodes'
 * root file system. Kept in the cache under a hash of the inputs. Names and tags are what this kubeadm asks for.
 */
export async function ensureImages(bin: string, rootfs: string): Promise<Images> {
  const version = (await mustRun(join(bin, "kubeadm"), ["version", "-o", "short"])).trim();
  const references = { ...(await kubeadmReferences(bin, version)), ...(await otherEtcdReferences(bin)) };
  const folder = join(cacheDir(), "e2e", `images-${version}-${inputHash(bin, rootfs, references)}`);
  mkdirSync(folder, { recursive: true });
  forgetOthers(folder, `images-${version}-`);
  const images: Partial<Record<ImageName, Image>> = {};
  for (const name of Object.keys(references) as ImageName[]) {
    const archive = join(folder, `${name}.tar`);
    const reference = references[name];
    if (!existsSync(archive)) writeDockerArchive(archive, { ...(await contents(name, bin, rootfs)), reference });
    images[name] = { archive, reference };
  }
  return images as Images;
}

/** Tagged as the published ones are: which etcd is older is known by the tag. */
async function otherEtcdReferences(bin: string): Promise<Pick<References, OtherEtcd>> {
  const told = await mustRun(join(bin, "etcd-v3.6"), ["--version"]);
  const version = /etcd Version: (\S+)/.exec(told)?.[1];
  if (version === undefined) throw new Error(`etcd-v3.6 --version: no version in\n${told}`);
  return { "etcd-v3.6": `registry.k8s.io/etcd:${version}-0`, "etcd-spoiling": "capstan.dev/e2e-etcd-spoiling:3.7.99" };
}

/** The references that `kubeadm init` and `kubeadm join` of this version ask for, plus our own two. */
async function kubeadmReferences(bin: string, version: string): Promise<Omit<References, OtherEtcd>> {
  const listed = await mustRun(join(bin, "kubeadm"), ["config", "images", "list", "--kubernetes-version", version]);
  const find = (name: string): string => {
    const line = listed.split("\n").find((each) => each.includes(`/${name}:`));
    if (line === undefined) throw new Error(`kubeadm config images list: no ${name} in\n${listed}`);
    return line.trim();
  };
  return {
    pause: find("pause"),
    coredns: find("coredns"),
    etcd: find("etcd"),
    "kube-proxy": find("kube-proxy"),
    "kube-apiserver": find("kube-apiserver"),
    "kube-controller-manager": find("kube-controller-manager"),
    "kube-scheduler": find("kube-scheduler"),
    "proxy-server": `registry.k8s.io/kas-network-proxy/proxy-server:${konnectivityTag}`,
    "proxy-agent": `registry.k8s.io/kas-network-proxy/proxy-agent:${konnectivityTag}`,
    "e2e-cni": cniReference,
    busybox: busyboxReference,
  };
}

async function contents(name: ImageName, bin: string, rootfs: string): Promise<Omit<ImageDefinition, "reference">> {
  const tree = new ImageTree(rootfs);
  const program = (file: string): string => join(bin, file);
  switch (name) {
    case "pause":
      return { entries: tree.program(program("pause"), "pause").entries(), entrypoint: ["/pause"] };
    case "proxy-server":
    case "proxy-agent":
      return { entries: tree.program(program(name), name).folder("tmp", 0o1777).entries() };
    case "coredns":
      return { entries: tree.program(program("coredns"), "coredns").folder("etc").entries(), entrypoint: ["/coredns"] };
    case "kube-proxy": {
      await serviceTools(tree.mergedUsr(), rootfs);
      return { entries: tree.program(program("kube-proxy"), "usr/local/bin/kube-proxy").entries() };
    }
    case "e2e-cni": {
      await tree.mergedUsr().debian("/sbin/ip", "/sbin/bridge", "/usr/sbin/nft");
      return { entries: tree.program(program("e2e-cni"), "e2e-cni").entries(), entrypoint: ["/e2e-cni"] };
    }
    case "busybox": {
      await tree.mergedUsr().debian("/bin/busybox");
      await applets(tree, rootfs);
      return { entries: tree.entries(), entrypoint: ["/bin/sh"] };
    }
    case "etcd": {
      for (const each of ["etcd", "etcdctl", "etcdutl"]) tree.program(program(each), `usr/local/bin/${each}`);
      return { entries: tree.folder("tmp", 0o1777).entries() };
    }
    case "etcd-v3.6": {
      for (const each of ["etcd", "etcdutl"]) tree.program(program(`${each}-v3.6`), `usr/local/bin/${each}`);
      return { entries: tree.folder("tmp", 0o1777).entries() };
    }
    case "etcd-spoiling": {
      await tree.mergedUsr().debian("/bin/busybox");
      await applets(tree, rootfs);
      tree.program(program("etcd"), "usr/local/bin/real-etcd").script("usr/local/bin/etcd", SPOILING);
      return { entries: tree.entries() };
    }
    case "kube-apiserver":
    case "kube-controller-manager":
    case "kube-scheduler":
      return { entries: tree.program(program(name), `usr/local/bin/${name}`).entries() };
  }
}

/** iptables (nft flavour) with all match and target plugins, nft and conntrack: kube-proxy calls them in every mode. */
async function serviceTools(tree: ImageTree, rootfs: string): Promise<void> {
  const plugins = "usr/lib/x86_64-linux-gnu/xtables";
  // ldd closure of each plugin too: libxt_statistic.so needs libm, and without it no Service with two endpoints works.
  const names = readdirSync(join(rootfs, plugins)).filter((name) => name.endsWith(".so"));
  await tree.debian("/usr/sbin/xtables-nft-multi", "/usr/sbin/nft", "/usr/sbin/conntrack");
  await tree.debian(...names.map((name) => `/${plugins}/${name}`));
  for (const family of ["iptables", "ip6tables"])
    for (const suffix of ["", "-save", "-restore"]) tree.link(`usr/sbin/${family}${suffix}`, "xtables-nft-multi");
  for (const folder of ["etc", "run", "var/lib"]) tree.folder(folder);
  tree.folder("tmp", 0o1777);
}

/** Debian's dynamic busybox under all its names: the static one cannot resolve host names safely. */
async function applets(tree: ImageTree, rootfs: string): Promise<void> {
  const names = (await mustRun("chroot", [rootfs, "busybox", "--list"])).split("\n").filter(Boolean);
  for (const name of names) if (name !== "busybox") tree.link(`usr/bin/${name}`, "busybox");
  tree.text("etc/passwd", "root:x:0:0:root:/:/bin/sh\n").text("etc/group", "root:x:0:\n");
  for (const folder of ["proc", "sys", "dev", "www"]) tree.folder(folder);
  tree.folder("tmp", 0o1777);
}

/** Half a gigabyte each: only the newest of a version is kept. */
function forgetOthers(folder: string, prefix: string): void {
  for (const name of readdirSync(dirname(folder)))
    if (name.startsWith(prefix) && name !== basename(folder))
      rmSync(join(dirname(folder), name), { recursive: true, force: true });
}

/** Changes when a program was built anew, the root file system differs, or this folder's image code changes. */
function inputHash(bin: string, rootfs: string, references: References): string {
  const hash = createHash("sha256").update(JSON.stringify([rootfs, references]));
  for (const name of readdirSync(bin).toSorted()) {
    const { size, mtimeMs } = statSync(join(bin, name));
    if (!name.startsWith(".")) hash.update(`${name} ${size} ${mtimeMs}\n`);
  }
  for (const source of ["images.ts", "image-tree.ts", "docker-archive.ts", "tar.ts"])
    hash.update(readFileSync(fileURLToPath(new URL(source, import.meta.url))));
  return hash.digest("hex").slice(0, 12);
}
