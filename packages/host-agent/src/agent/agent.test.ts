import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isReason, seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Client, silentLogger } from "@capstan/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { byoHost, enrolmentRoles, hostRights } from "../enrolment.ts";
import type { HostProbe } from "../execute/checks.ts";
import type { RunCommand } from "../execute/run-command.ts";
import { ByoHost } from "../kinds/byo-host.ts";
import { ENROLMENT_ANNOTATION, HOST_GROUP, hostUser } from "../protocol.ts";
import { runAgent } from "./agent.ts";

const HOSTS = { group: ByoHost.group, plural: ByoHost.plural };
const JOIN = "kubeadm join --token abcdef.0123456789abcdef";
const DATA = `#cloud-config
write_files:
- {path: /etc/kubernetes/join.yaml, content: x}
runcmd: [echo before, "${JOIN}", echo after]
`;

let clock: VirtualClock;
let server: ApiServer;
let admin: Client;
let dir: string;
/** Commands that ran on the host, whoever ran them. */
let ran: string[];
let joined: boolean;
let probe: HostProbe;
/** The command at which the host's agent dies, counted from now. */
let dieAt: number;
let failing: string | undefined;
/** What running a command ends in. */
let broken: Error | undefined;
let agents: { stop: AbortController; dead: boolean }[];

beforeEach(async () => {
  clock = new VirtualClock();
  server = await createApiServer({ store: memoryStore(), clock, random: seededRandom(1) });
  await server.registerCrds([ByoHost.crd()]);
  admin = new Client(server.admin(), { fieldManager: "manager", clock });
  dir = mkdtempSync(join(tmpdir(), "capstan-agent-"));
  ran = [];
  joined = false;
  dieAt = Number.POSITIVE_INFINITY;
  failing = undefined;
  broken = undefined;
  agents = [];
  probe = { hostname: "h1", swap: [], leftovers: [], freeMiB: 9999, missingPrograms: [] };
  const objects = ["h1", "h2"].flatMap((name) => [enrolled(name), ...hostRights(enrolled(name), [])]);
  for (const object of [...enrolmentRoles(), ...objects]) await admin.apply(object);
});
afterEach(async () => {
  for (const agent of agents) agent.stop.abort(new Error("over"));
  await clock.advance(1000);
  await server.close();
  rmSync(dir, { recursive: true, force: true });
});

/** A host whose agent has enrolled as number `aaaaaa`. */
function enrolled(name: string): ByoHost {
  const host = byoHost("default", name, {});
  return { ...host, metadata: { ...host.metadata, annotations: { [ENROLMENT_ANNOTATION]: "aaaaaa" } } };
}

const transport = (name = "h1") =>
  server.transport({ name: hostUser("default", name, "aaaaaa"), groups: [HOST_GROUP, "system:authenticated"] });

function startAgent(): void {
  const agent = { stop: new AbortController(), dead: false };
  agents.push(agent);
  const run: RunCommand = (command, { signal, onOutput }) => {
    if (agent.dead) return new Promise(() => undefined);
    const line = typeof command === "string" ? command : command.join(" ");
    if (dieAt-- <= 0) {
      agent.dead = true;
      agent.stop.abort(new Error("killed"));
      return new Promise(() => undefined);
    }
    ran.push(line);
    if (broken !== undefined) return Promise.reject(broken);
    if (line.includes("kubeadm reset")) joined = false;
    if (line === JOIN) {
      if (joined) return Promise.resolve({ exitCode: 1, output: "already a node", timedOut: false });
      joined = true;
    }
    if (line === "hang")
      return new Promise((resolve) => {
        signal?.addEventListener("abort", () => resolve({ exitCode: 137, output: "", timedOut: false }));
      });
    if (line === "chatter")
      return new Promise((resolve) => {
        let said = "";
        const say = (count: number): void => {
          const piece = count % 2 === 0 ? "pulling, token abcdef.01234567" : `89abcdef, line ${count}\n`;
          onOutput?.(piece);
          said += piece;
          if (count < 600) clock.after(100, () => say(count + 1));
          else resolve({ exitCode: 0, output: said, timedOut: false });
        };
        say(0);
      });
    const failed = failing !== undefined && line.includes(failing);
    return Promise.resolve({
      exitCode: failed ? 3 : 0,
      output: failed ? "no route to host\n" : `did ${line}\n`,
      timedOut: false,
    });
  };
  const proof = { certPem: "", keyPem: "", tokenID: "aaaaaa" };
  const identity = { server: "", caPem: "", namespace: "default", name: "h1", ...proof };
  const facts = () => Promise.resolve({ hostinfo: { hostname: "h1" } });
  const options = { identity, stateDir: join(dir, "state"), root: join(dir, "root"), clock, random: seededRandom(2) };
  void runAgent(
    { ...options, log: silentLogger, transport: transport(), run, facts, probe: () => Promise.resolve(probe) },
    agent.stop.signal,
  );
}

const host = (): ByoHost => server.internal.get(HOSTS, "default", "h1") as unknown as ByoHost;
const ready = () => host().status?.conditions?.find(({ type }) => type === "Ready");

async function setSpec(spec: NonNullable<ByoHost["spec"]>): Promise<void> {
  await server.internal.update(HOSTS, "default", "h1", "manager", (object) => {
    object["spec"] = spec;
  });
}

async function claim(uid: string, data = DATA): Promise<void> {
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { namespace: "default", name: uid } };
  await admin.apply({ ...secret, data: { value: Buffer.from(data).toString("base64") } });
  for (const object of hostRights(enrolled("h1"), [uid])) await admin.apply(object);
  const machineRef = { apiVersion: "x/v1", kind: "ByoMachine", namespace: "default", name: "m", uid };
  await setSpec({ machineRef, bootstrapSecret: { namespace: "default", name: uid }, providerID: "byoh://h1/1" });
}

const release = (uid: string) =>
  setSpec({ ...host().spec, release: { machineUID: uid, requestedAt: "2026-01-01T00:00:00Z" } });

/** Files are real, so that the world needs some turns of the event loop as well as time. */
async function until(what: () => boolean, seconds = 60): Promise<void> {
  const turns = async (count: number): Promise<void> => {
    for (let turn = 0; turn < count && !what(); turn++) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  for (let i = 0; i < seconds * 2 && !what(); i++) {
    await turns(10);
    if (!what()) await clock.advance(500);
  }
  await turns(2000);
  expect(what()).toBe(true);
}

const phase = () => host().status?.bootstrap?.phase;

test("a claimed host runs its data, reports every step, and logs everything but secrets", async () => {
  startAgent();
  await until(() => ready()?.status === "True");
  expect(host().status).toMatchObject({ hostinfo: { hostname: "h1" }, agentVersion: "0.1.0" });
  await claim("u1");
  await until(() => phase() === "Succeeded");
  expect(host().status?.bootstrap?.steps?.map(({ name, exitCode }) => [name, exitCode])).toEqual([
    ["write /etc/kubernetes/join.yaml", undefined],
    ["echo before", 0],
    ["kubeadm join --token ***", 0],
    ["echo after", 0],
  ]);
  expect(host().status?.conditions).toContainEqual(
    expect.objectContaining({ type: "K8sNodeBootstrapSucceeded", status: "True" }),
  );
  await clock.advance(5000);
  const log = server.internal.get({ group: "", plural: "configmaps" }, "default", "byoh-log-h1")?.["data"] as {
    log: string;
  };
  expect(log.log).toContain("$ echo before\ndid echo before\n");
  expect(JSON.stringify([log, host()])).not.toContain("0123456789abcdef");
});

test("heartbeats continue during a long step, and cost one write a minute", async () => {
  startAgent();
  await until(() => ready()?.status === "True");
  await claim("u1", "#cloud-config\nruncmd: [hang]\n");
  await until(() => ran.includes("hang"));
  const before = Date.parse(host().status?.lastHeartbeatTime ?? "");
  const version = Number(host().metadata.resourceVersion);
  for (let i = 0; i < 10; i++) await clock.advance(30_000);
  expect(Date.parse(host().status?.lastHeartbeatTime ?? "") - before).toBeGreaterThan(200_000);
  expect(Number(host().metadata.resourceVersion) - version).toBeLessThan(12);
});

test("what a step prints is seen while it runs, without secrets, in few writes", async () => {
  startAgent();
  await until(() => ready()?.status === "True");
  const log = (): string =>
    (server.internal.get({ group: "", plural: "configmaps" }, "default", "byoh-log-h1")?.["data"] as { log?: string })
      ?.log ?? "";
  const logged: string[] = [];
  let writes = 0;
  server.internal.watch(HOSTS, () => writes++);
  server.internal.watch({ group: "", plural: "configmaps" }, ({ name }) => {
    if (name === "byoh-log-h1") logged.push(log());
  });
  await claim("u1", "#cloud-config\nruncmd: [chatter]\n");
  const last = () => host().status?.bootstrap?.steps?.at(-1);
  await until(() => last()?.output?.includes("line 99\n") === true);
  expect(last()).toMatchObject({ name: "chatter", startedAt: expect.any(String) });
  expect(last()?.exitCode).toBeUndefined();
  await until(() => log().includes("pulling, token ***, line 99\n"));
  expect(log()).toContain("$ chatter\n");
  expect(phase()).toBe("Running");
  await until(() => phase() === "Succeeded", 90);
  expect(last()?.exitCode).toBe(0);
  await until(() => log().includes("line 599\n"));
  expect(log().match(/line 599\n/g)).toHaveLength(1);
  // A minute of ten lines a second.
  expect(writes).toBeLessThan(45);
  expect(logged.length).toBeLessThan(45);
  expect([...logged, JSON.stringify(host())].join("")).not.toContain("89abcdef");
});

test("a machine that releases the host during a step aborts the step, and the host is cleaned", async () => {
  startAgent();
  await claim("u1", "#cloud-config\nruncmd: [hang, echo never]\n");
  await until(() => ran.includes("hang"));
  await release("u1");
  await until(() => host().status?.release?.phase === "Released");
  expect(ran).not.toContain("echo never");
  expect(ran.some((line) => line.includes("kubeadm reset"))).toBe(true);
});

describe("killed and started again at every command", () => {
  test.each(Array.from({ length: 14 }, (_, i) => i))("of bootstrap and release: %i", async (moment) => {
    startAgent();
    await until(() => ready() !== undefined);
    dieAt = moment;
    await claim("u1");
    await survived(() => phase() === "Succeeded");
    expect(joined).toBe(true);
    expect(ran.filter((line) => line === JOIN).length).toBeLessThanOrEqual(2);
    await release("u1");
    await survived(() => host().status?.release?.phase === "Released");
    expect(joined).toBe(false);
    await setSpec({});
    await claim("u2");
    await survived(() => host().status?.bootstrap?.machineUID === "u2" && phase() === "Succeeded");
    expect(joined).toBe(true);
  });
});

/** Either the agent dies on the way, and the next one brings it to its end, or it lives. */
async function survived(what: () => boolean): Promise<void> {
  await until(() => agents.at(-1)?.dead === true || what());
  if (agents.at(-1)?.dead === true) {
    dieAt = Number.POSITIVE_INFINITY;
    startAgent();
  }
  await until(what);
}

test("a script that fails half-way is reported with its own message, cleaned up after, and retried", async () => {
  startAgent();
  failing = "echo after";
  await claim("u1");
  await until(() => ready()?.reason === "BootstrapFailed");
  expect(ready()?.message).toBe('"echo after" exited with code 3: no route to host');
  expect(host().status?.bootstrap?.steps?.at(-1)).toMatchObject({
    name: "echo after",
    exitCode: 3,
    output: "no route to host\n",
  });
  await until(() => !joined);
  failing = undefined;
  await until(() => phase() === "Succeeded", 90);
  expect(joined).toBe(true);
  expect(ready()?.status).toBe("True");
});

test("repeated failures are retried with back-off, and the host keeps reporting", async () => {
  startAgent();
  failing = "echo before";
  await claim("u1");
  const tries = (): number => ran.filter((line) => line === "echo before").length;
  let silence = 0;
  for (let passed = 0; passed < 240; passed++) {
    await clock.advance(15_000);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
    silence = Math.max(silence, clock.now() - Date.parse(host().status?.lastHeartbeatTime ?? ""));
  }
  expect(ready()?.reason).toBe("BootstrapFailed");
  expect(tries()).toBeGreaterThan(5);
  expect(tries(), "an hour of doubling waits").toBeLessThan(14);
  expect(silence).toBeLessThan(130_000);
});

test("a clean-up that fails is reported, and retried until it works", async () => {
  startAgent();
  await claim("u1");
  await until(() => phase() === "Succeeded");
  failing = "kubeadm reset";
  await release("u1");
  await until(() => ready()?.reason === "ReleaseFailed");
  expect(ready()?.message).toContain('"kubeadm reset" exited with code 3: no route to host');
  failing = undefined;
  await until(() => host().status?.release?.phase === "Released", 90);
});

test("a host that comes back to a world without its machine resets itself before it is claimable", async () => {
  startAgent();
  await claim("u1");
  await until(() => phase() === "Succeeded");
  agents[0]?.stop.abort(new Error("power cut"));
  // Removed and added again while the host was away.
  await server.internal.delete(HOSTS, "default", "h1");
  await admin.apply(enrolled("h1"));
  expect(joined).toBe(true);
  const seen: (string | undefined)[] = [];
  server.internal.watch(HOSTS, () => {
    if (ready() !== undefined) seen.push(joined ? ready()?.reason : `clean: ${ready()?.status}`);
  });
  startAgent();
  await until(() => ready()?.status === "True");
  expect(joined).toBe(false);
  expect(new Set(seen)).toEqual(new Set(["Cleaning", "clean: True"]));
});

describe("a host that was removed while it had a node", () => {
  const CSRS = { group: "certificates.k8s.io", plural: "certificatesigningrequests" };
  /** Decides on what the agent asks for, as the manager would. */
  const answer = (reason: string): void => {
    server.internal.watch(CSRS, ({ name, object }) => {
      const decided = (object?.["status"] as { conditions?: unknown[] } | undefined)?.conditions;
      if (object === undefined || decided !== undefined) return;
      const condition = { type: "Denied", status: "True", reason, message: "there is no such host" };
      const change = (csr: Unstructured): void => {
        csr["status"] = { conditions: [condition] };
      };
      void server.internal.update(CSRS, "", name, "manager", change, "approval");
    });
  };
  const forget = async (): Promise<void> => {
    await server.internal.delete(HOSTS, "default", "h1");
    for (const right of hostRights(enrolled("h1"), [])) await admin.delete(right);
  };

  test("cleans itself when the denial says that it was given up", async () => {
    startAgent();
    await claim("u1");
    await until(() => phase() === "Succeeded");
    answer("HostGivenUp");
    await forget();
    await until(() => !joined, 300);
    expect(ran.some((line) => line.includes("kubeadm reset"))).toBe(true);
  });

  test("also after a reboot, when it can see nothing at all", async () => {
    startAgent();
    await claim("u1");
    await until(() => phase() === "Succeeded");
    agents[0]?.stop.abort(new Error("power cut"));
    answer("HostGivenUp");
    await forget();
    startAgent();
    await until(() => !joined, 300);
  });

  test("but not one that is merely not known, as after a move", async () => {
    startAgent();
    await claim("u1");
    await until(() => phase() === "Succeeded");
    answer("HostRefused");
    await forget();
    let asked = 0;
    server.internal.watch(CSRS, ({ previous }) => (previous === undefined ? asked++ : asked));
    for (let passed = 0; passed < 60 && asked < 3; passed++) {
      await clock.advance(15_000);
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(asked).toBe(3);
    expect(joined).toBe(true);
  });
});

test.each<[string, Partial<HostProbe>, string]>([
  ["swap on", { swap: ["/swap.img"] }, "the host swaps to /swap.img"],
  ["a full disk", { freeMiB: 3 }, "only 3 MiB are free"],
  ["no kubelet", { missingPrograms: ["kubelet"] }, "kubelet is not installed on the host"],
])(
  "%s is reported in a condition that says what to do, and the bootstrap continues once it is fixed",
  async (_, trouble, message) => {
    startAgent();
    probe = { ...probe, ...trouble };
    await claim("u1");
    await until(() => ready()?.reason === "BootstrapFailed");
    expect(ready()?.message).toContain(message);
    expect(ran).not.toContain(JOIN);
    probe = { ...probe, swap: [], freeMiB: 9999, missingPrograms: [] };
    await until(() => phase() === "Succeeded", 90);
  },
);

test("a disk too full for the state file is reported as a full disk, and nothing is started", async () => {
  startAgent();
  probe = { ...probe, freeMiB: 0 };
  // As ENOSPC would: the note cannot be written.
  mkdirSync(join(dir, "state", "work.json.new"), { recursive: true });
  await claim("u1");
  await until(() => ready()?.reason === "BootstrapFailed");
  expect(ready()?.message).toContain("only 0 MiB are free below /var/lib");
  expect(ran).toEqual([]);
});

test("a problem is reported without the secrets in it", async () => {
  startAgent();
  const jwt = `eyJ${"h".repeat(20)}.eyJ${"p".repeat(40)}.${"s".repeat(40)}`;
  broken = new Error(`cannot run ${jwt}`);
  await claim("u1");
  await until(() => ready()?.reason === "BootstrapFailed");
  expect(ready()?.message).toContain("cannot run ***");
  expect(JSON.stringify(host())).not.toContain(jwt);
});

test.each<[string, Partial<HostProbe>, string]>([
  ["leftovers of an earlier Kubernetes", { leftovers: ["/etc/kubernetes/admin.conf"] }, "LeftoversFound"],
  ["a host name no Node can have", { hostname: "host_1" }, "HostNameInvalid"],
])("a host with %s is not Ready, so that no machine claims it", async (_, trouble, reason) => {
  probe = { ...probe, ...trouble };
  startAgent();
  await until(() => ready()?.reason === reason);
  expect(ready()?.status).toBe("False");
});

test("a paused host reports and does nothing", async () => {
  await server.internal.update(HOSTS, "default", "h1", "manager", (object) => {
    object.metadata.annotations = { "cluster.x-k8s.io/paused": "" };
  });
  startAgent();
  await claim("u1");
  await until(() => ready()?.reason === "Paused");
  await clock.advance(60_000);
  expect(ran).toEqual([]);
});

test("with a stolen certificate only its own host can be touched", async () => {
  await claim("u1");
  await admin.apply({ apiVersion: "v1", kind: "Secret", metadata: { namespace: "default", name: "other" } });
  const thief = new Client(transport("h1"), { fieldManager: "thief", clock });
  const refused = async (what: Promise<unknown>): Promise<boolean> =>
    await what.then(
      () => false,
      (error: unknown) => isReason(error, "Forbidden"),
    );
  const secret = (name: string) => ({
    kind: { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true },
    namespace: "default",
    name,
  });
  const configMap = (name: string) => ({
    ...secret(name),
    kind: { ...secret(name).kind, kind: "ConfigMap", plural: "configmaps" },
  });
  const status = { status: { agentVersion: "evil" } };
  const at = (name: string) => ({ kind: ByoHost, namespace: "default", name });
  // What it is for.
  expect(await thief.get(ByoHost, { namespace: "default", name: "h1" })).toBeDefined();
  expect(await thief.get(secret("u1").kind, { namespace: "default", name: "u1" })).toBeDefined();
  await thief.patchStatus(at("h1"), status);
  await thief.patch(configMap("byoh-log-h1"), { data: { log: "x" } });
  // Everything else.
  for (const attempt of [
    thief.get(ByoHost, { namespace: "default", name: "h2" }),
    thief.list(ByoHost, { namespace: "default" }),
    thief.patchStatus(at("h2"), status),
    thief.patch(at("h1"), { spec: { unschedulable: false } }),
    thief.patch(at("h1"), { metadata: { labels: { rack: "1" } } }),
    thief.delete(at("h1")),
    thief.create(byoHost("default", "h3", {})),
    thief.get(secret("other").kind, { namespace: "default", name: "other" }),
    thief.list(secret("").kind, { namespace: "default" }),
    thief.patch(secret("u1"), { data: {} }),
    thief.patch(configMap("byoh-log-h2"), { data: { log: "x" } }),
    thief.list({
      group: "certificates.k8s.io",
      version: "v1",
      kind: "CertificateSigningRequest",
      plural: "certificatesigningrequests",
      namespaced: false,
    }),
    thief.create({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { namespace: "default", name: "more" },
    }),
  ])
    expect(await refused(attempt)).toBe(true);
});
