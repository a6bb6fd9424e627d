import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultKubernetesVersion, kubernetesBin, mustRun } from "../real-kubernetes/index.ts";
import { Capstan } from "./capstan/instance.ts";
import { BMC_USER, Bmc } from "./harness/bmc.ts";
import { BmcMachine, type Hardware, metalPackages } from "./harness/bmc-machine.ts";
import { controlPlaneImages, ensureKubeVip, eventually, Lab, type Node, timed, workerImages } from "./harness/index.ts";

export const NAMESPACE = "metal3";
export const CLUSTER = "byoh-cluster";
const SYSTEM = { uuid: "7b5cdd2c-3a0e-4b1b-9a3e-0c5b9d0a7f22", name: "node-0", mac: "52:54:00:00:22:02" };
/** The network cards of a machine of 2022. What the emulator tells has no names of them, so their owner does. */
const NICS = [
  { name: "enp1s0", mac: SYSTEM.mac },
  { name: "enp2s0", mac: "52:54:00:00:22:03" },
];

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** CRI-O is in no Debian release that nodes are made of: containerd serves its socket instead, under its name. */
const CRIO = `[Unit]
Description=containerd at the socket of CRI-O
Conflicts=containerd.service
After=containerd.service

[Service]
ExecStartPre=/bin/mkdir -p /run/crio
ExecStart=/usr/bin/containerd --address /run/crio/crio.sock
Type=notify
Delegate=yes
KillMode=process
OOMScoreAdjust=0

[Install]
WantedBy=multi-user.target
`;

/** What cloud-init makes of network data: the cards that the file of the cluster builds its bridge on. */
const NETPLAN = `network:
  version: 2
  ethernets:
    enp1s0: {}
    enp2s0: {}
`;

const METAL: Hardware = {
  files: {
    "etc/systemd/system/crio.service": CRIO,
    "etc/netplan/50-cloud-init.yaml": NETPLAN,
    // As in a container: a /sys that is read-only tells networkd that there is no udev to wait for.
    "etc/systemd/system/systemd-networkd.service.d/lab.conf": "[Service]\nReadOnlyPaths=/sys\n",
  },
  booted: async (node) => {
    for (const { name, mac } of NICS) {
      const peer = ["peer", "name", `${name}-switch`];
      await node.must(["ip", "link", "add", name, "address", mac, "type", "veth", ...peer]);
      await node.must(["ip", "link", "set", `${name}-switch`, "up"]);
    }
    // Masked in the nodes of all other tests, which have no use for it.
    await node.must(["systemctl", "unmask", "systemd-networkd"]);
    // Nodes have no udev, which netplan tells of new links.
    const udevadm = "printf '#!/bin/sh\\nexit 0\\n' > /usr/local/bin/udevadm; chmod 755 /usr/local/bin/udevadm";
    await node.must(["sh", "-c", udevadm]);
  },
};

/** A mixed cluster as people made one in 2022: own hosts and bare metal in one namespace, an agent with an administrator's kubeconfig. */
export class MixedWorld {
  readonly lab: Lab;
  readonly capstan: Capstan;
  readonly bmc: Bmc;
  readonly machine: BmcMachine;
  /** The host that becomes the control plane, and one that is added later. */
  readonly host: Node;
  readonly spare: Node;
  readonly #images: Server;

  private constructor(
    parts: Pick<MixedWorld, "lab" | "capstan" | "bmc" | "machine" | "host" | "spare">,
    images: Server,
  ) {
    this.lab = parts.lab;
    this.capstan = parts.capstan;
    this.bmc = parts.bmc;
    this.machine = parts.machine;
    this.host = parts.host;
    this.spare = parts.spare;
    this.#images = images;
  }

  static async open(): Promise<MixedWorld> {
    await timed("agent's program", () => mustRun(process.execPath, [file("../../tools/agent/executable.mjs")]));
    const lab = await Lab.open({ extraPackages: [...metalPackages, "netplan.io"] });
    const ofWorkers = workerImages.map((name) => lab.images[name]);
    const machine = new BmcMachine(lab.addNode("node-0"), ofWorkers, METAL);
    const [host, spare] = [lab.addNode("control-plane1"), lab.addNode("spare-1")];
    const images = createServer((_request, response) => response.end("a live image: its contents are the lab's"));
    await new Promise<void>((resolve) => images.listen(0, lab.gateway, resolve));
    const ofControlPlanes = [await ensureKubeVip(), ...controlPlaneImages.map((name) => lab.images[name])];
    // Management controller and image server of this test are on the machine of the manager.
    const own = ["--allow-address", `${lab.gateway}/32`];
    const changed = machine.changed.bind(machine);
    const [bmc, capstan] = await Promise.all([
      Bmc.start({ dir: join(lab.dir, "bmc"), address: lab.gateway, systems: [SYSTEM], changed }),
      timed("capstan up", () => Capstan.start(lab.gateway, lab.gateway, own)),
      timed("hosts booted, images imported", async () => {
        for (const each of [host, spare]) await boot(each);
        await host.importImages([...ofWorkers, ...ofControlPlanes]);
        await spare.importImages(ofWorkers);
      }),
    ]);
    await capstan.kubectl("create", "namespace", NAMESPACE);
    return new MixedWorld({ lab, capstan, bmc, machine, host, spare }, images);
  }

  async close(): Promise<void> {
    await this.capstan.close();
    await this.machine.settled();
    await this.bmc.close();
    this.#images.close();
    await this.lab.close();
  }

  /** The virtual IP: an address of the lab's network that no node has. */
  get endpoint(): string {
    return this.lab.gateway.replace(/\d+$/, "250");
  }

  /** The file of 2022, with the disk image that it had or a live image. */
  manifest(format: "raw" | "live-iso"): string {
    const server = `http://${this.lab.gateway}:${(this.#images.address() as AddressInfo).port}`;
    const text = readFileSync(file("kcp-mixed.yaml"), "utf8")
      .replaceAll("ENDPOINT", this.endpoint)
      .replaceAll("VERSION", defaultKubernetesVersion)
      .replaceAll("FORMAT", format);
    if (format === "raw") return text.replaceAll("IMAGE", `${server}/node-raw.img`);
    return text.replaceAll(/ +checksum(Type)?: .*\n/g, "").replaceAll("IMAGE", `${server}/live.iso`);
  }

  async apply(text: string): Promise<void> {
    await this.capstan.kubectlWithInput(text, "apply", "--namespace", NAMESPACE, "-f", "-");
  }

  kubectl(...args: string[]): Promise<string> {
    return this.capstan.kubectl("--namespace", NAMESPACE, ...args);
  }

  field(what: string, query: string): Promise<string> {
    return this.kubectl("get", ...what.split(" "), "--ignore-not-found", "-o", `jsonpath=${query}`);
  }

  /** `Status Reason message` of a condition. */
  condition(what: string, type: string): Promise<string> {
    const found = `.status.conditions[?(@.type=="${type}")]`;
    return this.field(what, `{${found}.status} {${found}.reason} {${found}.message}`);
  }

  /** kubectl against the cluster, through the virtual IP. */
  async workload(...args: string[]): Promise<string> {
    const target = join(this.lab.dir, "workload.kubeconfig");
    const secret = await this.field(`secret ${CLUSTER}-kubeconfig`, "{.data.value}");
    writeFileSync(target, Buffer.from(secret, "base64"), { mode: 0o600 });
    const common = ["--kubeconfig", target, "--cache-dir", join(this.lab.dir, "kube"), "--request-timeout=20s"];
    return await mustRun(join(kubernetesBin(), "kubectl"), [...common, ...args]);
  }

  /** The agent with the command line of 2022, in a service as everybody had to make one. */
  async startAgent(host: Node): Promise<void> {
    const kubeconfig = readFileSync(this.capstan.kubeconfig, "utf8");
    await host.must(["sh", "-c", "umask 077; cat > /root/management-cluster.conf"], { input: kubeconfig });
    const unit = ["--unit=byoh-hostagent", "--property=Restart=always", "--property=KillMode=process"];
    const line = ["/root/byoh-hostagent", "--namespace", NAMESPACE, "--kubeconfig", "management-cluster.conf"];
    await host.must(["systemd-run", ...unit, "--working-directory=/root", ...line]);
    await eventually(`${host.name} Ready`, async () =>
      (await this.condition(`byohost ${host.name}`, "Ready")).startsWith("True"),
    ).catch((error: unknown) => this.withStory(error));
  }

  /** Registers the machine. Its network cards are told by its owner, as metal3.io permits. */
  async registerMetal(): Promise<void> {
    const hardware = { hostname: "node-0", cpu: { arch: "x86_64", count: 2 }, ramMebibytes: 4096, nics: NICS };
    const secret = { ...BMC_USER, "ca.crt": this.bmc.caPem };
    const objects = [
      { apiVersion: "v1", kind: "Secret", metadata: { name: "node-0-bmc" }, stringData: secret },
      {
        apiVersion: "metal3.io/v1alpha1",
        kind: "BareMetalHost",
        metadata: {
          name: "node-0",
          annotations: {
            "inspect.metal3.io": "disabled",
            "inspect.metal3.io/hardwaredetails": JSON.stringify(hardware),
          },
        },
        spec: {
          online: false,
          bootMACAddress: SYSTEM.mac,
          bmc: { address: this.bmc.addressOf(SYSTEM), credentialsName: "node-0-bmc" },
        },
      },
    ];
    await this.apply(objects.map((object) => JSON.stringify(object)).join("\n---\n"));
    await this.hostIs("available");
  }

  async hostIs(state: string): Promise<void> {
    await eventually(
      `BareMetalHost ${state}`,
      async () => (await this.field("bmh node-0", "{.status.provisioning.state}")) === state,
      { timeout: 120_000 },
    ).catch((error: unknown) => this.withStory(error));
  }

  /** Waits for these Machines and no others, all with a Node that works. */
  async nodes(count: number): Promise<void> {
    const wanted = Array.from({ length: count }, () => "Running").join(" ");
    await eventually(
      `${count} Running Machines and no other`,
      async () => (await this.field("machines", "{.items[*].status.phase}")) === wanted,
      { timeout: 300_000, interval: 500 },
    ).catch((error: unknown) => this.withStory(error));
  }

  /** An error with what the manager and the machines know. */
  async withStory(error: unknown): Promise<never> {
    const log = ["sh", "-c", "tail -n 40 /var/lib/capstan-host/bootstrap.log; journalctl --no-pager -n 30"];
    const cloudInit = [
      "sh",
      "-c",
      "tail -n 60 /var/log/cloud-init-output.log; journalctl --no-pager -n 20 -u kubelet; cat /run/cloud-init/result.json",
    ];
    const said = async (node: Node, command: string[]): Promise<string> => {
      const { stdout } = await node
        .exec(command, { timeout: 10_000 })
        .catch((reason: unknown) => ({ stdout: String(reason) }));
      return `${node.name}:\n${stdout}`;
    };
    const parts = [
      await this.capstan.cli("why", CLUSTER, "--namespace", NAMESPACE).catch(String),
      await this.kubectl("get", "cluster,kcp,machines,metal3machines,byomachines,byohosts,bmh", "-o", "wide").catch(
        String,
      ),
      await said(this.host, log),
      await said(this.machine.node, cloudInit),
      this.machine.problems.join("\n"),
      this.capstan.output.slice(-3000),
    ];
    throw new Error(`${String(error)}\n${parts.join("\n---\n")}`, { cause: error });
  }
}

async function boot(host: Node): Promise<void> {
  host.writeFile("root/byoh-hostagent", readFileSync(file("../../dist/agent/capstan-host-agent")), 0o755);
  host.writeFile("etc/cloud/cloud-init.disabled", "");
  await host.start();
}
