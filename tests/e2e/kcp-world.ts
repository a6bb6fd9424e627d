import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Shell } from "../docs/shell.ts";
import { kubernetesBin, mustRun } from "../real-kubernetes/index.ts";
import { type Asked, askAgainAndAgain } from "./ask.ts";
import { Capstan, CLI } from "./capstan/instance.ts";
import {
  controlPlaneImages,
  ensureImages,
  ensureKeepalived,
  ensureRootfs,
  eventually,
  type Image,
  Lab,
  type Node,
  timed,
  workerImages,
} from "./harness/index.ts";

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
export const AGENT = "capstan-host-agent";
/** What the API may be away for when the machine with the virtual IP and the leader of etcd loses its power. */
export const OUTAGE_MS = 15_000;
const PKI = "/etc/kubernetes/pki/etcd";

/** One member of etcd as etcd itself lists it. */
export interface Member {
  readonly id: string;
  readonly name: string;
  readonly started: boolean;
  readonly isLearner: boolean;
}

/** An object that was written, as the API acknowledged it. */
export interface Written {
  readonly name: string;
  /** Revision of etcd. */
  readonly revision: bigint;
}

/** Clusters whose control plane is made by kubeadm on bring-your-own hosts, seen from outside. */
export class KcpWorld {
  readonly lab: Lab;
  readonly capstan: Capstan;
  readonly controlPlaneHosts: readonly Node[];
  readonly worker: Node;
  readonly cluster = "demo";
  /** Where the commands of pages are typed. */
  readonly shell: Shell;

  private constructor(lab: Lab, capstan: Capstan, shell: Shell, hosts: readonly Node[], worker: Node) {
    this.lab = lab;
    this.capstan = capstan;
    this.shell = shell;
    this.controlPlaneHosts = hosts;
    this.worker = worker;
  }

  /** Hosts with an agent, images and programs of both versions to install, and a manager. */
  static async open(versions: readonly string[], count: number): Promise<KcpWorld> {
    await timed("agent's program", () => mustRun(process.execPath, [file("../../tools/agent/executable.mjs")]));
    const lab = await Lab.open({ installable: versions });
    const hosts = Array.from({ length: count }, (_, index) => lab.addNode(`cp-${index + 1}`));
    const worker = lab.addNode("worker-1");
    await timed("hosts booted with images", () => bootWithImages([...hosts, worker], versions));
    const capstan = await timed("capstan up", () => Capstan.start(lab.gateway, lab.gateway));
    const world = new KcpWorld(lab, capstan, await Shell.make(CLI, capstan.dataDir), hosts, worker);
    await timed("hosts enrolled", () => Promise.all(world.hosts.map((host) => world.#enrol(host))));
    return world;
  }

  /** Has clusters get a pod network. */
  async addPodNetwork(): Promise<void> {
    await this.capstan.kubectl("create", "configmap", "cni", `--from-file=cni.yaml=${file("cni.yaml")}`);
    const resourceSet = {
      apiVersion: "addons.cluster.x-k8s.io/v1beta2",
      kind: "ClusterResourceSet",
      metadata: { name: "cni", namespace: "default" },
      spec: { clusterSelector: { matchLabels: { cni: "small" } }, resources: [{ kind: "ConfigMap", name: "cni" }] },
    };
    await this.capstan.kubectlWithInput(JSON.stringify(resourceSet), "apply", "-f", "-");
  }

  /** Applies the file with a number of control plane machines, and waits for all Nodes. */
  async create(replicas: number, version: string): Promise<void> {
    await this.capstan.kubectlWithInput(this.manifest(version, replicas), "apply", "-f", "-");
    await this.created(replicas, version);
  }

  /** Waits for all Nodes of a cluster that was applied. */
  async created(replicas: number, version: string): Promise<void> {
    await this.settled(replicas, version);
    const nodes = replicas + 1;
    await eventually(`${nodes} Nodes Ready`, async () => (await this.readyNodes()).length === nodes, {
      timeout: 240_000,
    }).catch((error: unknown) => this.withStory(error));
  }

  /** Starts a web server on the worker and waits until its Service answers. */
  async serve(): Promise<void> {
    const web = readFileSync(file("web.yaml"), "utf8").replace("replicas: 2", "replicas: 1");
    await this.kubectl("apply", "-f", await this.saved("web.yaml", web));
    await eventually("web", async () => (await fetch(this.web)).ok, { timeout: 120_000 }).catch((error: unknown) =>
      this.withStory(error),
    );
  }

  /** Asks the API through the virtual IP until it is stopped. */
  askApi(): () => Promise<Asked> {
    const options = { path: "/readyz", everyMs: 100, timeoutMs: 1000 };
    return askAgainAndAgain(`https://${this.endpoint}:6443`, undefined, options);
  }

  /** Where the web server answers. */
  get web(): string {
    return `http://${this.worker.address}:30080`;
  }

  get hosts(): readonly Node[] {
    return [...this.controlPlaneHosts, this.worker];
  }

  /** The virtual IP: an address of the lab's network that no node has. */
  get endpoint(): string {
    return this.lab.gateway.replace(/\d+$/, "250");
  }

  host(name: string): Node {
    const host = this.hosts.find((each) => each.name === name);
    if (host === undefined) throw new Error(`no host ${name}`);
    return host;
  }

  /** The file that a user applies. */
  manifest(version: string, replicas = 1): string {
    return readFileSync(file("kcp.yaml"), "utf8")
      .replace("REPLICAS", String(replicas))
      .replaceAll("NAME", this.cluster)
      .replaceAll("ENDPOINT", this.endpoint)
      .replaceAll("VERSION", version);
  }

  async close(): Promise<void> {
    await this.shell.close();
    await this.capstan.close();
    await this.lab.close();
  }

  field(what: string, query: string): Promise<string> {
    return this.capstan.kubectl("get", ...what.split(" "), "--ignore-not-found", "-o", `jsonpath=${query}`);
  }

  /** kubectl against the cluster, through the virtual IP. */
  async kubectl(...args: string[]): Promise<string> {
    const common = ["--kubeconfig", await this.#kubeconfig(), "--cache-dir", join(this.lab.dir, "kube")];
    return await mustRun(join(kubernetesBin(), "kubectl"), [...common, "--request-timeout=20s", ...args]);
  }

  async #kubeconfig(): Promise<string> {
    const target = join(this.lab.dir, `${this.cluster}.kubeconfig`);
    const secret = await this.field(`secret ${this.cluster}-kubeconfig`, "{.data.value}");
    writeFileSync(target, Buffer.from(secret, "base64"), { mode: 0o600 });
    return target;
  }

  /** Names of the Nodes that are Ready. */
  async readyNodes(): Promise<string[]> {
    const lines = (await this.kubectl("get", "nodes", "--no-headers")).split("\n");
    return lines.filter((line) => /\sReady\s/.test(line)).map((line) => line.split(/\s+/)[0] ?? "");
  }

  /** Waits for a number of Ready control plane Machines of a version, and no others; when that does not happen, the error says why. */
  async settled(replicas: number, version: string, timeout = 480_000): Promise<void> {
    const query = "{.status.replicas} {.status.readyReplicas} {.status.upToDateReplicas} {.status.version}";
    const wanted = `${replicas} ${replicas} ${replicas} ${version}`;
    await eventually(
      `control plane ${wanted}`,
      async () => (await this.field(`kcp ${this.cluster}`, query)) === wanted,
      {
        timeout,
        interval: 500,
      },
    ).catch((error: unknown) => this.withStory(error));
  }

  /** An error with what the manager and the hosts know. */
  async withStory(error: unknown): Promise<never> {
    const parts = [
      await this.capstan.cli("why", this.cluster).catch(String),
      await this.capstan.kubectl("get", "kcp,machines,byohosts", "-o", "wide").catch(String),
      await this.field(`kcp ${this.cluster}`, "{.status}").catch(String),
      ...(await Promise.all(this.hosts.map((host) => this.#storyOf(host)))),
      this.capstan.output.slice(-6000),
    ];
    throw new Error(`${String(error)}\n${parts.join("\n---\n")}`, { cause: error });
  }

  async #storyOf(host: Node): Promise<string> {
    const shown = ["sh", "-c", "tail -n 25 /var/lib/capstan-host/bootstrap.log; journalctl --no-pager -n 8 -u kubelet"];
    const { stdout } = await host
      .exec(shown, { timeout: 10_000 })
      .catch((error: unknown) => ({ stdout: String(error) }));
    return `${host.name} (${host.address}):\n${stdout}`;
  }

  /** Hosts of the control plane's Machines, by Machine. */
  async placement(): Promise<Map<string, Node>> {
    const query = "{range .items[*]}{.spec.machineRef.name} {.metadata.name}{'\\n'}{end}";
    const lines = (await this.field("byohosts -l role=control-plane", query)).split("\n");
    const pairs = lines.map((line) => line.split(" ")).filter(([machine = ""]) => machine !== "");
    return new Map(pairs.map(([machine = "", host = ""]) => [machine, this.host(host)]));
  }

  /** The host that has the virtual IP. */
  async holder(): Promise<Node> {
    return await eventually("a holder of the virtual IP", async () => {
      const holders: Node[] = [];
      for (const host of this.controlPlaneHosts)
        if (
          host.isOn &&
          (await host.exec(["ip", "-o", "addr", "show", "to", `${this.endpoint}/32`])).stdout.trim() !== ""
        )
          holders.push(host);
      return holders.length === 1 && holders[0];
    });
  }

  /** etcdctl at one host, with the certificates that kubeadm made there. */
  async etcdctl(host: Node, ...args: string[]): Promise<string> {
    const local = async (name: string): Promise<string> => {
      const target = join(this.lab.dir, `${host.name}-${name}`);
      writeFileSync(target, await host.must(["cat", `${PKI}/${name}`]), { mode: 0o600 });
      return target;
    };
    const trust = ["--cacert", await local("ca.crt")];
    const own = ["--cert", await local("healthcheck-client.crt"), "--key", await local("healthcheck-client.key")];
    const at = ["--endpoints", `https://${host.address}:2379`];
    return await mustRun(join(kubernetesBin(), "etcdctl"), [...at, ...trust, ...own, ...args]);
  }

  /** The members of etcd as a linearizable read of one of them lists them. */
  async members(host: Node): Promise<Member[]> {
    const { members } = JSON.parse(bigNumbersAsText(await this.etcdctl(host, "member", "list", "-w", "json"))) as {
      members: { ID: string; name?: string; isLearner?: boolean }[];
    };
    return members.map(({ ID, name = "", isLearner = false }) => ({ id: ID, name, started: name !== "", isLearner }));
  }

  /** Waits until these and no other members have started and vote. */
  async voters(host: Node, count: number): Promise<void> {
    await eventually(`${count} started members`, async () => {
      const members = await this.members(host);
      return members.length === count && members.every(({ started, isLearner }) => started && !isLearner);
    });
  }

  /** Hands the leadership of etcd to the member on a host. */
  async lead(host: Node): Promise<void> {
    const status = async (): Promise<{ leader: string; own: string; endpoint: string }> => {
      const [answer] = JSON.parse(bigNumbersAsText(await this.etcdctl(host, "endpoint", "status", "-w", "json"))) as {
        Status: { leader: string; header: { member_id: string } };
      }[];
      return {
        leader: answer?.Status.leader ?? "",
        own: answer?.Status.header.member_id ?? "",
        endpoint: host.address,
      };
    };
    const { leader, own } = await status();
    if (leader === own) return;
    const name = (await this.members(host)).find(({ id }) => id === leader)?.name ?? "";
    await this.etcdctl(this.host(name), "move-leader", BigInt(own).toString(16));
    await eventually("the leadership", async () => (await status()).leader === own);
  }

  /** Writes ConfigMaps through the virtual IP, one after the other, until it is stopped. Gives back those that were acknowledged. */
  async write(prefix = "write"): Promise<() => Promise<Written[]>> {
    const config = readFileSync(await this.#kubeconfig(), "utf8");
    const pem = (key: string): Buffer => Buffer.from(new RegExp(`${key}: *(\\S+)`).exec(config)?.[1] ?? "", "base64");
    const keys = {
      ca: pem("certificate-authority-data"),
      cert: pem("client-certificate-data"),
      key: pem("client-key-data"),
    };
    const done: Written[] = [];
    let isOver = false;
    const all = (async () => {
      for (let number = 0; !isOver; number++) {
        const name = `${prefix}-${number}`;
        const revision = await post(`https://${this.endpoint}:6443/api/v1/namespaces/default/configmaps`, name, keys);
        if (revision !== undefined) done.push({ name, revision });
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    return async () => {
      isOver = true;
      await all;
      return done;
    };
  }

  /** A host of the control plane that runs a command now. */
  async running(pattern: string): Promise<Node | undefined> {
    for (const host of this.controlPlaneHosts)
      if (host.isOn && (await host.exec(["pgrep", "-f", pattern])).code === 0) return host;
    return undefined;
  }

  /** The names of the ConfigMaps that exist. */
  async configMaps(): Promise<Set<string>> {
    const lines = (await this.kubectl("get", "configmaps", "-o", "name")).split("\n");
    return new Set(lines.map((line) => line.replace("configmap/", "")));
  }

  /** The revision that a member has, as it says itself. */
  async revision(host: Node): Promise<string> {
    const status = bigNumbersAsText(await this.etcdctl(host, "endpoint", "status", "-w", "json"));
    return /"revision": ?"?(\d+)/.exec(status)?.[1] ?? "";
  }

  /** A file of this run. */
  async saved(name: string, text: string): Promise<string> {
    const target = join(this.lab.dir, name);
    writeFileSync(target, text);
    return target;
  }

  async killAgent(host: Node): Promise<void> {
    await host.must(["systemctl", "kill", "--signal=KILL", "--kill-whom=main", AGENT]);
  }

  /** Kills the agent of the host that runs a command of kubeadm next, and the manager. */
  async killAllAt(command: "init" | "join" | "reset"): Promise<void> {
    const pattern = `^kubeadm ${command}|/kubeadm ${command}`;
    const options = { timeout: 240_000, interval: 20 };
    const host = await eventually(`kubeadm ${command}`, () => this.running(pattern), options).catch((error: unknown) =>
      this.withStory(error),
    );
    await this.killAgent(host);
    await this.killManager();
  }

  async killManager(): Promise<void> {
    await this.capstan.kill();
    await this.capstan.up();
  }

  async #enrol(host: Node): Promise<void> {
    const role = this.controlPlaneHosts.includes(host) ? "control-plane" : "worker";
    const line = (await this.capstan.cli("host", "add", host.name, "--labels", `role=${role}`)).trim();
    await host.must(["sh", "-c", `cd /root && ${line}`]);
    const ready = "{.status.conditions[?(@.type=='Ready')].status}";
    await eventually(`${host.name} Ready`, async () => (await this.field(`byohost ${host.name}`, ready)) === "True");
  }
}

/** Member IDs are 64-bit numbers. */
function bigNumbersAsText(json: string): string {
  return json.replaceAll(/:(\d{15,})/g, ':"$1"');
}

/** Imports images once, and copies them to the other hosts before these boot. */
async function bootWithImages(hosts: readonly Node[], versions: readonly string[]): Promise<void> {
  const [first, ...others] = hosts;
  if (first === undefined) return;
  const images: Image[] = [await ensureKeepalived()];
  for (const version of versions) {
    const built = await ensureImages(kubernetesBin(version), await ensureRootfs());
    images.push(...[...controlPlaneImages, ...workerImages].map((name) => built[name]));
  }
  const distinct = new Map<string, Image>(images.map((image) => [image.reference, image]));
  const program = readFileSync(file(`../../dist/agent/${AGENT}`));
  for (const host of hosts) {
    host.writeFile(`root/${AGENT}`, program, 0o755);
    // Kills would otherwise cost five seconds each.
    const fast = "[Unit]\nStartLimitIntervalSec=0\n[Service]\nRestartSec=200ms\n";
    host.writeFile(`etc/systemd/system/${AGENT}.service.d/fast.conf`, fast);
  }
  await first.start();
  await timed(`${distinct.size} images imported`, () => first.importImages([...distinct.values()]));
  await first.must(["systemctl", "stop", "containerd"]);
  await first.powerOff();
  for (const host of others) await host.copyImages(first);
  await Promise.all(hosts.map((host) => host.start()));
}

/** Creates a ConfigMap and gives back its revision; undefined if it is not acknowledged. */
function post(url: string, name: string, keys: object): Promise<bigint | undefined> {
  const body = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
  return new Promise((resolve) => {
    const headers = { "content-type": "application/json" };
    const call = request(url, { ...keys, method: "POST", agent: false, timeout: 2000, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      response.on("error", () => resolve(undefined));
      response.on("end", () => {
        const revision = /"resourceVersion": ?"(\d+)"/.exec(text)?.[1];
        resolve(response.statusCode === 201 && revision !== undefined ? BigInt(revision) : undefined);
      });
    });
    call.on("timeout", () => call.destroy(new Error("timeout")));
    call.on("error", () => resolve(undefined));
    call.end(body);
  });
}
