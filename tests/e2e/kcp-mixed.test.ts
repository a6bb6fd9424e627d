import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mustRun } from "../real-kubernetes/index.ts";
import { changesOf, eventually, type HostState, leftovers, type Node, stateOfHost, timed } from "./harness/index.ts";
import { CLUSTER, MixedWorld, NAMESPACE } from "./kcp-mixed-world.ts";

/** One cluster of own hosts and bare metal in the words of 2022, with today's Kubernetes. */
const PLANE = `kcp ${CLUSTER}-control-plane`;

let world: MixedWorld;
const clean = new Map<Node, HostState>();

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

beforeAll(async () => {
  world = await MixedWorld.open();
});
afterAll(async () => {
  await world?.close();
});

const configMap = (name: string, content: string): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data: { [`${name}.yaml`]: content },
});

test("the agent starts with the command line of 2022: --namespace and an administrator's --kubeconfig", async () => {
  await timed("host enrolled, BareMetalHost available", () =>
    Promise.all([world.startAgent(world.host), world.registerMetal()]),
  );
  const log = await world.host.journal("byoh-hostagent", 200);
  expect(log).toContain(`enrolled as ${NAMESPACE}/control-plane1`);
  expect(log).toContain("needs management-cluster.conf no longer: remove that file");
  // Started again with the same line, and without the file.
  await world.host.must(["rm", "/root/management-cluster.conf"]);
  await world.host.must(["systemctl", "restart", "byoh-hostagent"]);
  await eventually(
    "the agent again",
    async () => (await world.host.journal("byoh-hostagent", 400)).length > log.length,
  );
  expect(await world.condition("byohost control-plane1", "Ready")).toMatch(/^True/);
  expect(await world.field("csr", "{.items[*].metadata.name}")).toMatch(/^byoh-metal3-control-plane1-\w+$/);
  clean.set(world.host, await stateOfHost(world.host));
});

test("flags that the version removed start no rollout, and are named; the annotation drops exactly these, and the file of 2022 works", async () => {
  const network = readFileSync(path("cni.yaml"), "utf8").replaceAll("10.244.0.0/16", "192.168.0.0/16");
  await world.apply(JSON.stringify(configMap("cni", network)));
  const resourceSet = {
    apiVersion: "addons.cluster.x-k8s.io/v1beta2",
    kind: "ClusterResourceSet",
    metadata: { name: "cni" },
    spec: { clusterSelector: { matchLabels: { cni: "small" } }, resources: [{ kind: "ConfigMap", name: "cni" }] },
  };
  await world.apply(JSON.stringify(resourceSet));
  await world.apply(world.manifest("raw"));
  const why = "kubelet v1.37.1 has no flag --container-runtime: v1.27 removed it";
  await eventually("the refusal", async () => (await world.condition(PLANE, "Available")).includes(why)).catch(
    (error) => world.withStory(error),
  );
  const available = await world.condition(PLANE, "Available");
  expect(available).toMatch(/^False SettingsNotSupported No Machine is created/);
  for (const when of ["init", "join"])
    expect(available).toContain(
      `spec.kubeadmConfigSpec.${when}Configuration.nodeRegistration.kubeletExtraArgs[container-runtime]: ${why}`,
    );
  expect(available).not.toMatch(/cgroup-driver|container-runtime-endpoint|enable-hostpath/);
  expect(available).toContain('the annotation capstan.dev/drop-removed-flags: "true"');
  expect(await world.field("machines -l cluster.x-k8s.io/control-plane", "{.items[*].metadata.name}")).toBe("");
  expect(await world.field("byohost control-plane1", "{.spec}")).toBe("{}");
  expect(await world.capstan.cli("why", CLUSTER, "--namespace", NAMESPACE)).toContain("drop-removed-flags");
  await world.kubectl("annotate", ...PLANE.split(" "), "capstan.dev/drop-removed-flags=true");
  await timed("annotated to an initialized control plane", () =>
    eventually("the control plane", async () => (await world.condition(PLANE, "Initialized")).startsWith("True"), {
      timeout: 240_000,
    }).catch((error) => world.withStory(error)),
  );
  const flags = await world.host.must(["sh", "-c", "tr '\\0' ' ' < /proc/$(pgrep -x kubelet)/cmdline"]);
  expect(flags).toContain("--cgroup-driver=systemd");
  expect(flags).not.toMatch(/--container-runtime[ =]/);
});

test("the static pod of the file holds the virtual IP on the host's own interface; extraArgs given as a map are flags", async () => {
  expect(await world.host.must(["cat", "/etc/kubernetes/manifests/kube-vip.yaml"])).toContain("value: eth0\n");
  expect(await world.host.must(["ip", "-o", "addr", "show", "to", `${world.endpoint}/32`])).toContain("eth0");
  expect(await world.host.must(["cat", "/etc/kubernetes/manifests/kube-controller-manager.yaml"])).toContain(
    "--enable-hostpath-provisioner=true",
  );
});

test("flags that a worker's version removed are named at its Machine; the annotation on the Cluster drops them", async () => {
  const why =
    /^False \S+ Machine \S+ would not start: spec\.joinConfiguration\.nodeRegistration\.kubeletExtraArgs\[container-runtime\]: /;
  const condition = async (): Promise<string> => {
    const name = await world.field("kubeadmconfigs", "{.items[?(@.spec.preKubeadmCommands)].metadata.name}");
    return name === "" ? "" : await world.condition(`kubeadmconfig ${name}`, "DataSecretAvailable");
  };
  await eventually("the refusal", async () => why.test(await condition())).catch((error) => world.withStory(error));
  expect(await condition()).not.toMatch(
    /cgroup-driver|container-runtime-endpoint|runtime-request-timeout|feature-gates/,
  );
  expect(await world.capstan.cli("why", CLUSTER, "--namespace", NAMESPACE)).toContain(
    'drop exactly these with the annotation capstan.dev/drop-removed-flags: "true" on the Cluster',
  );
  await world.kubectl("annotate", "cluster", CLUSTER, "capstan.dev/drop-removed-flags=true");
  await eventually("bootstrap data", async () => (await condition()).startsWith("True")).catch((error) =>
    world.withStory(error),
  );
});

test("the raw disk image of the file is refused by name, before its machine is touched", async () => {
  await eventually("the refusal of the image", async () =>
    (await world.field("metal3machines", "{.items[*].status.conditions[*].message}")).includes("live-iso images only"),
  ).catch((error) => world.withStory(error));
  const machine = await world.field("metal3machines", "{.items[0].metadata.name}");
  expect(await world.condition(`metal3machine ${machine}`, "Ready")).toMatch(
    /^False \S*HostError .*spec\.image\.format is raw: this driver boots live-iso images only; set spec\.image\.format to live-iso/,
  );
  expect(await world.capstan.cli("why", CLUSTER, "--namespace", NAMESPACE)).toContain("spec.image.format is raw");
  expect(world.machine.state?.power_state ?? "Off").toBe("Off");
  await timed("deleted with its host free again", async () => {
    await world.kubectl("delete", "machinedeployment/workers", "metal3machinetemplate/workers", "--timeout=120s");
    await world.hostIs("available");
  });
});

test("with a live image instead both Nodes are Ready, a Service spans them, and bridge and socket are those of the file", async () => {
  await timed("applied to both Machines Running", async () => {
    await world.apply(world.manifest("live-iso"));
    await world.nodes(2);
  });
  expect(world.machine.problems).toEqual([]);
  const metal = world.machine.node;
  expect(await metal.must(["ip", "-4", "-o", "addr", "show", "dev", "ironicendpoint"])).toContain("172.22.0.1");
  const flags = await metal.must(["sh", "-c", "tr '\\0' ' ' < /proc/$(pgrep -x kubelet)/cmdline"]);
  expect(flags).toContain("--container-runtime-endpoint=unix:///var/run/crio/crio.sock");
  expect(flags).not.toMatch(/--container-runtime[ =]/);
  expect(await metal.must(["id", "-un", "metal3"])).toBe("metal3\n");
  const role = "node-role.kubernetes.io/control-plane";
  await world.workload("taint", "nodes", "-l", role, `${role}-`);
  await world.workload("apply", "-f", path("web.yaml"));
  await world.workload("wait", "--for=condition=Available", "deployment/web", "--timeout=90s");
  const nodes = await world.workload("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.nodeName}");
  expect(new Set(nodes.split(" ")).size).toBe(2);
  const address = await world.workload("get", "service", "web", "-o", "jsonpath={.spec.clusterIP}");
  const ask = `for i in $(seq 20); do curl -sfm 2 http://${address}/; done | sort -u | wc -l`;
  await timed("both pods answer behind one Service", () =>
    eventually("answers of both pods", async () => (await metal.must(["sh", "-c", ask])).trim() === "2"),
  );
});

const uidOf = (what: string): Promise<string> => world.field(what, "{.metadata.uid}");

test("1: Nodes carry byoh:// and metal3:// IDs, and Machines have their nodeRef", async () => {
  const ids = (await world.workload("get", "nodes", "-o", "jsonpath={.items[*].spec.providerID}")).split(" ");
  const metal = `metal3://${await uidOf("bmh node-0")}`;
  expect(ids.toSorted()).toEqual([expect.stringMatching(/^byoh:\/\/control-plane1\/[^/]+$/), metal]);
  const query = "{range .items[*]}{.spec.providerID} {.status.nodeRef.name}{'\\n'}{end}";
  const machines = (await world.field("machines", query)).trim().split("\n");
  const nodes = "{range .items[*]}{.spec.providerID} {.metadata.name}{'\\n'}{end}";
  const wanted = (await world.workload("get", "nodes", "-o", `jsonpath=${nodes}`)).trim().split("\n");
  expect(machines.toSorted()).toEqual(wanted.toSorted());
  expect(await world.workload("get", "nodes", "-l", `metal3.io/uuid=${metal.slice(9)}`, "-o", "name")).toMatch(
    /^node\//,
  );
});

/** What both infrastructure clusters are for: ready, of this Cluster, with its endpoint. */
async function expectInfrastructure(): Promise<void> {
  const cluster = await uidOf(`cluster ${CLUSTER}`);
  for (const kind of ["byocluster", "metal3cluster"]) {
    const what = `${kind} ${CLUSTER}`;
    await eventually(`${kind} ready`, async () => (await world.condition(what, "Ready")).startsWith("True")).catch(
      (error) => world.withStory(error),
    );
    expect(await world.field(what, "{.metadata.ownerReferences[?(@.kind=='Cluster')].uid}"), kind).toBe(cluster);
    expect(await world.field(what, "{.status.initialization.provisioned}"), kind).toBe("true");
    const endpoint = "{.spec.controlPlaneEndpoint.host}:{.spec.controlPlaneEndpoint.port}";
    expect(await world.field(what, endpoint), kind).toBe(`${world.endpoint}:6443`);
  }
  expect(await world.field(`cluster ${CLUSTER}`, "{.spec.controlPlaneEndpoint.host}")).toBe(world.endpoint);
}

test("3: both infrastructure clusters are ready, have the Cluster as owner, and the same endpoint", async () => {
  await expectInfrastructure();
});

test("2: pausing the Cluster pauses ByoMachine, Metal3Machine and the claimed BareMetalHost", async () => {
  const paused = async (): Promise<string[]> =>
    await Promise.all([
      world.field("byomachines", "{.items[*].status.conditions[?(@.type=='Paused')].status}"),
      world.field("metal3machines", "{.items[*].status.conditions[?(@.type=='Paused')].status}"),
      world.field("bmh node-0", "{.metadata.annotations.baremetalhost\\.metal3\\.io/paused}"),
    ]);
  const pause = (value: boolean): Promise<string> =>
    world.kubectl("patch", "cluster", CLUSTER, "--type=merge", "-p", JSON.stringify({ spec: { paused: value } }));
  await pause(true);
  await eventually("all paused", async () => {
    const [byo, metal, host] = await paused();
    return byo === "True" && metal === "True" && host !== "";
  }).catch((error) => world.withStory(error));
  await pause(false);
  await eventually("none paused", async () => {
    const [byo, metal, host] = await paused();
    return byo === "False" && metal === "False" && host === "";
  }).catch((error) => world.withStory(error));
});

test("5: a move by upstream's clusterctl carries both, with the machines, hosts, data and addresses", async () => {
  // Labels that `clusterctl init` puts on every CRD of a provider.
  await world.capstan.kubectl("label", "crd", "--all", "clusterctl.cluster.x-k8s.io=", "--overwrite");
  const folder = execFileSync(process.execPath, [path("../../tools/cluster-api/build.mjs"), "--print"], {
    encoding: "utf8",
  }).trim();
  const target = join(world.lab.dir, "moved");
  mkdirSync(target);
  const where = ["--kubeconfig", world.capstan.kubeconfig, "--namespace", NAMESPACE, "--to-directory", target];
  await timed("moved to a folder", () =>
    mustRun(join(folder, "clusterctl"), ["move", ...where], {
      env: { HOME: world.lab.dir, XDG_CONFIG_HOME: world.lab.dir, CLUSTERCTL_DISABLE_VERSIONCHECK: "true" },
      timeout: 120_000,
    }),
  ).catch((error) => world.withStory(error));
  const kinds = readdirSync(target).map((name) => {
    const object = JSON.parse(readFileSync(join(target, name), "utf8")) as { kind: string };
    return object.kind;
  });
  const wanted = [
    "Cluster",
    "ByoCluster",
    "Metal3Cluster",
    "KubeadmControlPlane",
    "Machine",
    "ByoMachine",
    "Metal3Machine",
    "Metal3DataTemplate",
    "Metal3Data",
    "IPPool",
    "IPAddress",
    "BareMetalHost",
    "ByoHost",
    "Secret",
  ];
  expect(wanted.filter((kind) => !kinds.includes(kind))).toEqual([]);
  const owners = readdirSync(target).flatMap((name) => {
    const object = JSON.parse(readFileSync(join(target, name), "utf8")) as {
      kind: string;
      metadata: { ownerReferences?: { kind: string }[] };
    };
    return ["ByoCluster", "Metal3Cluster"].includes(object.kind) ? object.metadata.ownerReferences?.[0]?.kind : [];
  });
  expect(owners).toEqual(["Cluster", "Cluster"]);
  // The mover resumes the Cluster.
  expect(await world.field(`cluster ${CLUSTER}`, "{.spec.paused}")).not.toBe("true");
});

test("7: bootstrap data with ds.meta_data of bare metal is named at an own host, and breaks nothing there", async () => {
  await world.startAgent(world.spare);
  clean.set(world.spare, await stateOfHost(world.spare));
  const wrong = world
    .manifest("live-iso")
    .split("\n---\n")
    .filter((document) => /kind: MachineDeployment/.test(document))
    .join("\n---\n")
    .replaceAll("name: workers\n  labels", "name: wrong\n  labels")
    .replaceAll("nodepool: workers", "nodepool: wrong")
    .replace(
      /kind: Metal3MachineTemplate\n( +)name: workers/,
      `kind: ByoMachineTemplate\n$1name: ${CLUSTER}-control-plane`,
    );
  await world.apply(wrong);
  const message = /requires \{\{ \w+ \}\}, which this host does not have.*change the KubeadmConfig/;
  await eventually(
    "the message",
    async () => message.test(await world.field("byomachines", "{.items[*].status.conditions[*].message}")),
    { timeout: 90_000 },
  ).catch((error) => world.withStory(error));
  expect(await world.capstan.cli("why", CLUSTER, "--namespace", NAMESPACE)).toMatch(message);
  await world.kubectl("delete", "machinedeployment", "wrong", "--timeout=120s");
  await eventually("the spare host free", async () => (await world.field("byohost spare-1", "{.spec}")) === "{}", {
    timeout: 120_000,
  }).catch((error) => world.withStory(error));
  expect(changesOf(clean.get(world.spare) ?? {}, await stateOfHost(world.spare))).toEqual([]);
});

test("6: a Metal3Cluster that is deleted first strands no machine, and may come again", async () => {
  await world.kubectl("delete", "metal3cluster", CLUSTER, "--wait=false");
  await timed("its machine removed, its host free", async () => {
    await world.kubectl("scale", "machinedeployment", "workers", "--replicas=0");
    await eventually(
      "no Metal3Machine",
      async () => (await world.field("metal3machines", "{.items[*].metadata.name}")) === "",
      {
        timeout: 120_000,
      },
    ).catch((error) => world.withStory(error));
    await world.hostIs("available");
    await eventually(
      "no Metal3Cluster",
      async () => (await world.field("metal3clusters", "{.items[*].metadata.name}")) === "",
    ).catch((error) => world.withStory(error));
  });
  await timed("applied again to both Machines Running", async () => {
    await world.apply(world.manifest("live-iso"));
    await world.nodes(2);
  });
  await expectInfrastructure();
});

/** What a cluster must not leave in the management API. */
const KINDS = [
  "ipclaims.ipam.metal3.io",
  "ipaddresses.ipam.metal3.io",
  "metal3datas",
  "metal3dataclaims",
  "metal3machines",
  "metal3clusters",
  "byomachines",
  "byoclusters",
  "kcp",
  "machines",
  "machinesets",
  "machinedeployments",
  "kubeadmconfigs",
];

test("4: deleting the Cluster frees the own host, takes the image off the metal, frees its addresses and removes both infrastructure clusters", async () => {
  await timed("cluster deleted", () =>
    world.kubectl("delete", "cluster", CLUSTER, "--timeout=300s").catch((error: unknown) => world.withStory(error)),
  );
  let left = "";
  await eventually("nothing left", async () => {
    left = (await world.kubectl("get", KINDS.join(), "-o", "name")).trim();
    return left === "";
  }).catch(() => expect(left).toBe(""));
  // The inventory stays.
  await world.hostIs("available");
  expect(await world.field("bmh node-0", "{.spec.consumerRef}{.spec.image}{.spec.userData}{.spec.metaData}")).toBe("");
  await world.machine.settled();
  expect(world.machine.on).toBe(false);
  for (const host of [world.host, world.spare]) {
    expect(await world.field(`byohost ${host.name}`, "{.spec}")).toBe("{}");
    expect(changesOf(clean.get(host) ?? {}, await stateOfHost(host)), host.name).toEqual([]);
  }
  expect(await world.host.must(["ip", "-o", "addr", "show", "to", `${world.endpoint}/32`])).toBe("");
});

test("nothing is left behind", async () => {
  await world.close();
  expect(await leftovers(world.lab.id)).toEqual([]);
});
