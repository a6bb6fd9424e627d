import { formatTime } from "@capstan/apimachinery";
import { Cluster, Machine } from "@capstan/capi";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Fleet } from "./testing/fleet.ts";

/** Every fault of a host is reported in a condition and an event that say what to do. */
let fleet: Fleet;
beforeEach(async () => {
  fleet = await Fleet.start();
  await fleet.addHosts("host1");
  await fleet.restartManager();
});
afterEach(() => fleet.close());

const host = (name = "host1") => fleet.world.agents.host(name);
const onHost = (type: string, name = "host1") => fleet.condition(host(name), type);
const ready = (name = "m1") => fleet.condition(fleet.machine(name), "Ready");
const told = (reason: string) => fleet.events.filter((event) => event.includes(` ${reason} `));

describe("a host that disappears", () => {
  const SILENT =
    /^False HeartbeatTimeout: the agent has stopped reporting: check that the host is powered on and reaches/;

  test("while it is free is not claimed", async () => {
    fleet.world.agents.silence("host1");
    await fleet.pass(300);
    expect(onHost("AgentConnected")).toMatch(SILENT);
    expect(told("HeartbeatTimeout")).toHaveLength(1);
    await fleet.addMachines("m1");
    await fleet.pass(5);
    expect(ready()).toContain("False InsufficientCapacity: of 1 matching hosts none is free (1 not reporting)");
    await fleet.world.agents.wake("host1");
    await fleet.pass(60);
    expect(onHost("AgentConnected")).toBe("True HeartbeatsArrive: ");
    expect(fleet.withReason("Ready")).toEqual(["m1"]);
    expect(told("HeartbeatsArrive")).toHaveLength(1);
  });

  test("when it was just claimed, or in the middle of its bootstrap, holds its machine up with the reason", async () => {
    await fleet.addMachines("m1");
    await fleet.pass(1);
    fleet.world.agents.silence("host1");
    await fleet.pass(400);
    expect(ready()).toMatch(/^False HostSilent: host host1 has not reported since .*: check that it is powered on/);
    expect(told("HostSilent")).toHaveLength(1);
    expect(onHost("AgentConnected")).toMatch(SILENT);
    await fleet.world.agents.wake("host1");
    await fleet.pass(60);
    expect(fleet.withReason("Ready")).toEqual(["m1"]);
  });

  test("with a running node leaves the machine ready, and says that it is away", async () => {
    await fleet.addMachines("m1");
    await fleet.pass(20);
    fleet.world.agents.silence("host1");
    await fleet.pass(400);
    expect(onHost("AgentConnected")).toMatch(SILENT);
    expect(fleet.withReason("Ready")).toEqual(["m1"]);
  });

  test("while it is cleaned is given up, and its Node, which came back with it, is removed before it is free", async () => {
    await fleet.addMachines("m1");
    await fleet.pass(20);
    fleet.world.agents.silence("host1");
    await fleet.deleteMachine("m1");
    await fleet.pass(400);
    expect(fleet.machine("m1")).toBeUndefined();
    const nodes = () => {
      const connection = fleet.world.workload.get({ namespace: "default", name: "c1" });
      return connection.state === "connected" ? connection.nodes.list().map(({ metadata }) => metadata.name) : [];
    };
    expect(nodes()).toEqual(["host1"]);
    fleet.world.agents.keepsNodes = true;
    await fleet.world.agents.wake("host1");
    await fleet.pass(20);
    expect(nodes()).toEqual([]);
    expect(host()?.spec).toEqual({});
  });
});

test("distinguishes an expired certificate from other silence", async () => {
  const certificateExpiresAt = formatTime(fleet.clock.now() + 60_000);
  await fleet.world.agents.make("host1", { certificateExpiresAt });
  fleet.world.agents.silence("host1");
  await fleet.pass(400);
  expect(onHost("AgentConnected")).toContain(
    `False CertificateExpired: the agent's certificate expired at ${certificateExpiresAt}`,
  );
  expect(told("CertificateExpired")).toHaveLength(1);
});

test.each([
  ["ahead", 3_600_000],
  ["behind", -3_600_000],
])("reports a clock that is an hour %s, and does not treat the host as silent", async (word, skewMs) => {
  await fleet.world.agents.make("host1", { skewMs });
  await fleet.pass(130);
  expect(onHost("ClockInSync")).toBe(
    `False ClockSkew: the host's clock is 1h0m0s ${word}: certificates and tokens fail because of this; set up NTP on the host`,
  );
  expect(told("ClockSkew")).toHaveLength(1);
  await fleet.addMachines("m1");
  await fleet.pass(20);
  expect(fleet.withReason("Ready")).toEqual(["m1"]);
  fleet.world.agents.silence("host1");
  await fleet.pass(400);
  expect(onHost("AgentConnected")).toContain("False HeartbeatTimeout");
  await fleet.world.agents.make("host1", {});
  await fleet.world.agents.wake("host1");
  await fleet.pass(130);
  expect(onHost("ClockInSync")).toBe("True InSync: ");
});

test("names the clock of a host when its bootstrap fails, because certificates fail with it", async () => {
  const fails = '"kubeadm init" exited with code 1: x509: certificate has expired or is not yet valid';
  await fleet.world.agents.make("host1", { skewMs: -7_200_000, fails });
  await fleet.pass(130);
  expect(onHost("ClockInSync")).toContain("False ClockSkew");
  await fleet.addMachines("m1");
  await fleet.pass(20);
  expect(ready()).toMatch(
    /^False BootstrapFailed: host host1: the host's clock is 2h0m0s behind: certificates and tokens fail because of this; set up NTP on the host; .*not yet valid; .*capstan host logs host1/,
  );
});

test.each(["v1.35.1", "v1.33.0"])(
  "skips a host with kubelet %s for a Machine of v1.34.4, and says how to get one",
  async (kubeletVersion) => {
    await fleet.world.agents.make("host1", { kubeletVersion });
    await fleet.pass(1);
    await fleet.addMachines("m1");
    await fleet.pass(5);
    const skipped = `(1 with another kubelet): host1 has kubelet ${kubeletVersion}, but v1.34 is needed; set installerRef in the ByoMachineTemplate to a K8sInstallerConfigTemplate`;
    expect(ready()).toContain(skipped);
    expect(ready()).toContain("or add a host that has it with: capstan host add NAME");
    expect(told("InsufficientCapacity")).toEqual([expect.stringContaining(skipped)]);
    // A patch version may differ.
    await fleet.world.agents.make("host1", { kubeletVersion: "v1.34.1" });
    await fleet.pass(40);
    expect(fleet.withReason("Ready")).toEqual(["m1"]);
  },
);

test("skips a kubelet newer than the control plane for a Machine without a version", async () => {
  await fleet.client.patchStatus(
    { kind: Cluster, namespace: "default", name: "c1" },
    { status: { controlPlane: { versions: [{ version: "v1.33.9" }, { version: "v1.34.4" }] } } },
  );
  await fleet.world.agents.make("host1", { kubeletVersion: "v1.34.1" });
  await fleet.stopManager();
  await fleet.addMachines("m1");
  await fleet.client.patch({ kind: Machine, namespace: "default", name: "m1" }, { spec: { version: null } });
  await fleet.restartManager();
  await fleet.pass(5);
  expect(ready()).toContain("host1 has kubelet v1.34.1, but v1.33 is the newest allowed");
});

describe("a stolen certificate of a claimed host names the Node of another machine", () => {
  const connection = () => {
    const found = fleet.world.workload.get({ namespace: "default", name: "c1" });
    if (found.state !== "connected") throw new Error(found.state);
    return found;
  };
  const victim = () => connection().nodes.get("victim");
  const join = (spec = {}) =>
    connection().client.create({ apiVersion: "v1", kind: "Node", metadata: { name: "victim" }, spec });
  const joinElsewhere = () => join({ providerID: "kvm://other" });
  const claims = (phase: string) => async () => {
    await fleet.world.agents.make("host1", {
      hostname: "victim",
      ...(phase === "Failed" ? { fails: "it did not work" } : {}),
    });
    await fleet.addMachines("m1");
    await fleet.pass(2);
  };
  const bind = async () => {
    const machine = { apiVersion: Machine.apiVersion, kind: Machine.kind };
    const spec = {
      clusterName: "c1",
      bootstrap: { dataSecretName: "x" },
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "DevMachine", name: "other" },
    };
    await fleet.client.create({ ...machine, metadata: { namespace: "default", name: "other" }, spec } as Machine);
    await fleet.client.patchStatus(
      { kind: Machine, namespace: "default", name: "other" },
      { status: { nodeRef: { name: "victim" } } },
    );
  };
  const old = "was there before this machine: if no other host is that Node, delete that Node";

  test.each<[string, string, (() => Promise<unknown>)[], string]>([
    ["older", "Succeeded", [() => join(), () => fleet.pass(120), claims("Succeeded")], old],
    ["older", "Failed", [() => join(), () => fleet.pass(120), claims("Failed")], "it did not work"],
    [
      "bound",
      "Succeeded",
      [claims("Succeeded"), () => join(), bind],
      "belongs to Machine other: give host host1 a unique name",
    ],
    ["bound", "Failed", [claims("Failed"), () => join(), bind], "it did not work"],
    ["of another provider", "Succeeded", [claims("Succeeded"), joinElsewhere], "is kvm://other, not byoh://host1/"],
    ["of another provider", "Failed", [claims("Failed"), joinElsewhere], "it did not work"],
  ])("%s, with a bootstrap that %s: it is left alone", async (_, _phase, steps, message) => {
    for (const step of steps) await step();
    const before = victim();
    await fleet.pass(30);
    expect(ready()).toContain(message);
    expect(victim()?.metadata.uid).toBe(before?.metadata.uid);
    expect(victim()?.spec?.providerID).toBe(before?.spec?.providerID);
  });

  test("while an older Node of the same machine id is what an earlier machine on this host left", async () => {
    const status = { nodeInfo: { machineID: "id-of-host1" } };
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: "victim" }, status };
    await connection().client.create(node);
    await fleet.pass(120);
    await claims("Succeeded")();
    await fleet.pass(30);
    expect(victim()?.spec?.providerID).toMatch(/^byoh:\/\/host1\//);
  });

  test("while the Node that a failed try of its own has left is removed", async () => {
    await claims("Failed")();
    await join();
    await fleet.pass(30);
    expect(victim()).toBeUndefined();
  });
});

test("an upper-case host name finds its lower-case Node", async () => {
  await fleet.world.agents.make("host1", { hostname: "HOST1.Example" });
  await fleet.addMachines("m1");
  await fleet.pass(20);
  expect(fleet.withReason("Ready")).toEqual(["m1"]);
  expect(fleet.machine("m1")?.status?.addresses).toContainEqual({ type: "Hostname", address: "HOST1.Example" });
});

// What the agent itself finds, and its messages, are in host-agent's agent.test.ts and checks.test.ts.
test.each([
  ["leftovers of an earlier Kubernetes", "LeftoversFound", "run kubeadm reset --force there and remove them"],
  [
    "a host name no Node can have",
    "HostNameInvalid",
    "use letters, digits, dashes and dots, and set it with hostnamectl",
  ],
])("a host with %s is reported once, with what to do, and claimed when it is mended", async (_, reason, message) => {
  await fleet.world.agents.make("host1", { unfit: { reason, message } });
  await fleet.addMachines("m1");
  await fleet.pass(200);
  expect(told(reason)).toEqual([`Warning ${reason} ByoHost/host1: ${message}; its log: capstan host logs host1`]);
  expect(ready()).toContain("of 1 matching hosts none is free (1 not ready)");
  expect(told("InsufficientCapacity")).toHaveLength(1);
  await fleet.world.agents.make("host1", {});
  await fleet.pass(40);
  expect(fleet.withReason("Ready")).toEqual(["m1"]);
});

test.each([
  ["swap on", "the host swaps to /swap.img, with which the kubelet does not start: run swapoff -a"],
  ["a full disk", "only 3 MiB are free below /var/lib, and a node needs at least 1024: free some space"],
  ["jinja that needs cloud-init", "the bootstrap data requires ds.meta_data.rack, which this host does not have"],
])("bootstrap data on a host with %s: reported on host and machine, nothing joined, nothing kept", async (_, fails) => {
  await fleet.world.agents.make("host1", { fails });
  await fleet.addMachines("m1");
  await fleet.pass(200);
  expect(ready()).toContain(`False BootstrapFailed: host host1: ${fails}`);
  expect(told("BootstrapK8sNodeFailed")).toEqual([expect.stringContaining(fails)]);
  expect(told("BootstrapFailed")).toEqual([expect.stringContaining(`m1: host host1: ${fails}`)]);
  expect(fleet.world.agents.running.size).toBe(0);
  await fleet.world.agents.make("host1", {});
  await fleet.deleteMachine("m1");
  await fleet.pass(20);
  expect(host()?.spec).toEqual({});
});

test("a bootstrap script that fails is reported on the machine and as an event, once", async () => {
  await fleet.world.agents.make("host1", { fails: '"kubeadm join" exited with code 1: connection refused' });
  await fleet.addMachines("m1");
  await fleet.pass(200);
  expect(ready()).toMatch(
    /^False BootstrapFailed: host host1: "kubeadm join" exited with code 1: connection refused; .*capstan host logs host1/,
  );
  expect(told("BootstrapK8sNodeFailed")).toEqual([
    'Warning BootstrapK8sNodeFailed ByoHost/host1: "kubeadm join" exited with code 1: connection refused; its log: capstan host logs host1',
  ]);
});

describe("installs Kubernetes on request", () => {
  const installerRef = {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "K8sInstallerConfigTemplate",
    name: "mirror",
  };
  const template = (bundleRepo: string) => ({
    apiVersion: installerRef.apiVersion,
    kind: installerRef.kind,
    metadata: { namespace: "default", name: "mirror" },
    spec: { template: { spec: { bundleRepo, bundleType: "k8s" } } },
  });
  const secretOf = (name: string) => fleet.world.server.internal.get({ group: "", plural: "secrets" }, "default", name);

  test("by a plan with the machine's version, handed over together with the data", async () => {
    await fleet.addMachinesWith({ installerRef }, "m1");
    await fleet.pass(5);
    expect(ready()).toContain(
      "InstallerTemplateMissing: K8sInstallerConfigTemplate default/mirror does not exist: create it",
    );
    expect(host()?.spec?.bootstrapSecret).toBeUndefined();
    await fleet.client.create(template("https://mirror.example/release"));
    await fleet.pass(20);
    expect(host()?.spec?.installationSecret).toEqual({ namespace: "default", name: "byoh-install-m1" });
    const { plan } = (secretOf("byoh-install-m1")?.["data"] ?? {}) as { plan: string };
    expect(JSON.parse(Buffer.from(plan, "base64").toString())).toEqual({
      version: "v1.34.4",
      source: "https://mirror.example/release",
    });
    expect(fleet.withReason("Ready")).toEqual(["m1"]);
    await fleet.deleteMachine("m1");
    await fleet.pass(20);
    expect(host()?.spec).toEqual({});
  });

  test("and reports a source that cannot be read on the machine", async () => {
    await fleet.client.create(template("quay.io/somebody/bundles"));
    await fleet.addMachinesWith({ installerRef }, "m1");
    await fleet.pass(10);
    expect(ready()).toContain("bundleRepo quay.io/somebody/bundles is neither a folder");
  });
});

describe("BootstrapKubeconfig", () => {
  const KIND = { apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2", kind: "BootstrapKubeconfig" };
  const ca = Buffer.from("-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n").toString("base64");
  const make = async (name: string, more: object = {}) => {
    const spec = { apiserver: "https://192.0.2.1:6443", "certificate-authority-data": ca, ...more };
    await fleet.client.create({ ...KIND, metadata: { namespace: "default", name }, spec });
    await fleet.pass(2);
  };
  const object = (name: string) =>
    fleet.world.server.internal.get(
      { group: "infrastructure.cluster.x-k8s.io", plural: "bootstrapkubeconfigs" },
      "default",
      name,
    ) as { status?: { bootstrapKubeconfigData?: string; conditions?: [] } } | undefined;

  test("issues a kubeconfig for one new host, and removes it when it has expired", async () => {
    await make("fresh");
    expect(object("fresh")?.status?.bootstrapKubeconfigData).toMatch(
      /server: .?https:\/\/192.0.2.1:6443[\s\S]*token: .?[a-z0-9]{6}\.[a-z0-9]{16}/,
    );
    expect(host("fresh")).toBeDefined();
    await fleet.pass(31 * 60);
    expect(object("fresh")?.status?.bootstrapKubeconfigData).toBeUndefined();
    expect(fleet.condition(object("fresh"), "Ready")).toContain("False TokenExpired: no host enrolled in time");
  });

  test.each<[string, string, object, string]>([
    ["a host that has an agent", "host1", {}, "HostEnrolledAlready"],
    ["no verification", "fresh", { "insecure-skip-tls-verify": true }, "InsecureRefused"],
    ["an authority that is none", "fresh", { "certificate-authority-data": "aGk=" }, "AuthorityInvalid"],
  ])("refuses %s", async (_, name, more, reason) => {
    await make(name, more);
    expect(fleet.condition(object(name), "Ready")).toContain(`False ${reason}`);
    expect(object(name)?.status?.bootstrapKubeconfigData).toBeUndefined();
  });
});
