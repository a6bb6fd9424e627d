import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Client, silentLogger } from "@capstan/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { byoHost, enrolmentRoles, hostRights } from "../enrolment.ts";
import type { RunCommand } from "../execute/run-command.ts";
import { ByoHost } from "../kinds/byo-host.ts";
import { DISCARD_MEMBER_ANNOTATION, ENROLMENT_ANNOTATION, HOST_GROUP, hostUser } from "../protocol.ts";
import { runAgent } from "./agent.ts";

/** A host that becomes a control plane machine: no kill, retry or reverted change may cost its etcd member. */
const HOSTS = { group: ByoHost.group, plural: ByoHost.plural };
const INIT = "kubeadm init && echo success > /run/cluster-api/bootstrap-success.complete";
const DATA = `#cloud-config
runcmd: [echo before, "${INIT}", echo after]
`;

let clock: VirtualClock;
let server: ApiServer;
let admin: Client;
let dir: string;
let ran: string[];
/** The command at which the agent dies, and whether the command still does its work. */
let death: { at: number; completes: boolean } | undefined;
let failing: string | undefined;
let agents: { stop: AbortController; dead: boolean }[];

const root = (path: string): string => join(dir, "root", path);
const hasMember = (): boolean => existsSync(root("var/lib/etcd/member"));
const put = (path: string): void => {
  mkdirSync(dirname(root(path)), { recursive: true });
  writeFileSync(root(path), "x");
};

beforeEach(async () => {
  clock = new VirtualClock();
  server = await createApiServer({ store: memoryStore(), clock, random: seededRandom(1) });
  await server.registerCrds([ByoHost.crd()]);
  admin = new Client(server.admin(), { fieldManager: "manager", clock });
  dir = mkdtempSync(join(tmpdir(), "capstan-member-"));
  [ran, agents, death, failing] = [[], [], undefined, undefined];
  for (const object of [...enrolmentRoles(), enrolled(), ...hostRights(enrolled(), ["u1", "u2"])])
    await admin.apply(object);
  for (const name of ["u1", "u2"])
    await admin.apply({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "default", name },
      data: { value: Buffer.from(DATA).toString("base64") },
    } as never);
});
afterEach(async () => {
  for (const agent of agents) agent.stop.abort(new Error("over"));
  await clock.advance(1000);
  await server.close();
  rmSync(dir, { recursive: true, force: true });
});

function enrolled(): ByoHost {
  const host = byoHost("default", "h1", {});
  return { ...host, metadata: { ...host.metadata, annotations: { [ENROLMENT_ANNOTATION]: "aaaaaa" } } };
}

/** What a command does to the host. */
function happens(line: string): void {
  ran.push(line);
  if (line === INIT) {
    for (const path of ["etc/kubernetes/manifests/etcd.yaml", "var/lib/etcd/member/db"]) put(path);
    if (failing === undefined || !INIT.includes(failing)) put("run/cluster-api/bootstrap-success.complete");
  }
}

function startAgent(): void {
  const agent = { stop: new AbortController(), dead: false };
  agents.push(agent);
  const run: RunCommand = (command) => {
    const line = typeof command === "string" ? command : command.join(" ");
    if (agent.dead) return new Promise(() => undefined);
    if (death !== undefined && death.at-- <= 0) {
      agent.dead = true;
      if (death.completes) happens(line);
      agent.stop.abort(new Error("killed"));
      return new Promise(() => undefined);
    }
    happens(line);
    const failed = failing !== undefined && line.includes(failing);
    return Promise.resolve({ exitCode: failed ? 3 : 0, output: failed ? "no quorum\n" : "", timedOut: false });
  };
  const proof = { certPem: "", keyPem: "", tokenID: "aaaaaa" };
  const user = { name: hostUser("default", "h1", "aaaaaa"), groups: [HOST_GROUP, "system:authenticated"] };
  const options = {
    identity: { server: "", caPem: "", namespace: "default", name: "h1", ...proof },
    stateDir: join(dir, "state"),
    root: join(dir, "root"),
    clock,
    random: seededRandom(2),
    log: silentLogger,
    transport: server.transport(user),
    run,
    facts: () => Promise.resolve({ hostinfo: { hostname: "h1" } }),
    probe: () => Promise.resolve({ hostname: "h1", swap: [], leftovers: [], freeMiB: 9999, missingPrograms: [] }),
  };
  void runAgent(options, agent.stop.signal);
}

const host = (): ByoHost => server.internal.get(HOSTS, "default", "h1") as unknown as ByoHost;
const ready = () => host().status?.conditions?.find(({ type }) => type === "Ready");
const phase = () => host().status?.bootstrap?.phase;
const setSpec = (spec: NonNullable<ByoHost["spec"]>) =>
  server.internal.update(HOSTS, "default", "h1", "manager", (object) => {
    object["spec"] = spec;
  });
const claim = (uid: string) =>
  setSpec({
    machineRef: { apiVersion: "x/v1", kind: "ByoMachine", namespace: "default", name: "m", uid },
    bootstrapSecret: { namespace: "default", name: uid },
    providerID: "byoh://h1/1",
  });
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

const pass = async (seconds: number): Promise<void> => {
  for (let i = 0; i < seconds; i++) {
    await clock.advance(1000);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
  }
};

const resets = (): string[] => ran.filter((line) => line.includes("kubeadm reset"));

describe("an agent killed at a command of the bootstrap", () => {
  test.each([true, false].flatMap((completes) => Array.from({ length: 8 }, (_, at) => ({ at, completes }))))(
    "never wipes a member: command $at, completed by itself: $completes",
    async (moment) => {
      startAgent();
      await until(() => ready() !== undefined);
      death = { ...moment };
      await claim("u1");
      await until(() => agents[0]?.dead === true || phase() === "Succeeded");
      const had = hasMember();
      if (agents[0]?.dead === true) {
        death = undefined;
        startAgent();
        await until(() => phase() === "Succeeded");
      }
      expect(hasMember()).toBe(true);
      expect(ran.filter((line) => line === INIT)).toHaveLength(1);
      if (had) expect(resets()).toEqual([]);
      await release("u1");
      await until(() => host().status?.release?.phase === "Released");
      expect(hasMember()).toBe(false);
    },
  );
});

test("a kubeadm that fails after its member has started is reported, and the host is kept until its machine is released", async () => {
  startAgent();
  failing = "kubeadm init";
  await claim("u1");
  await until(() => host().status?.bootstrap?.message?.includes("cleaning up") === true);
  expect(host().status?.bootstrap).toMatchObject({ phase: "Failed", holdsEtcdMember: true });
  expect(ready()?.message).toBe(
    `"${INIT}" exited with code 3: no quorum; cleaning up: the host holds a member of etcd (/var/lib/etcd), which only its control plane may remove, so the host is not cleaned: delete its Machine, so that the control plane replaces it and releases the host`,
  );
  const version = host().metadata.resourceVersion;
  await pass(45);
  expect(host().metadata.resourceVersion, "one report is enough").toBe(version);
  startAgent();
  await pass(120);
  expect(ran.filter((line) => line === INIT)).toHaveLength(1);
  expect(resets()).toEqual([]);
  failing = undefined;
  await release("u1");
  await until(() => host().status?.release?.phase === "Released");
  expect(resets()[0]).toContain("kubeadm reset --force --skip-phases=remove-etcd-member");
  expect(hasMember()).toBe(false);
});

test("an agent killed between the restore of etcd's data and kubeadm starts again: the data is only a copy", async () => {
  for (const path of ["var/lib/capstan-recovery/note", "var/lib/etcd/member/db"]) put(path);
  startAgent();
  await until(() => ready() !== undefined);
  death = { at: 2, completes: false };
  await claim("u1");
  await until(() => agents[0]?.dead === true);
  death = undefined;
  startAgent();
  await until(() => phase() === "Succeeded", 120);
  expect(resets()).toHaveLength(1);
  expect(existsSync(root("var/lib/capstan-recovery"))).toBe(false);
  expect(hasMember()).toBe(true);
});

test("commands after kubeadm that fail are retried alone", async () => {
  startAgent();
  failing = "echo after";
  await claim("u1");
  await until(() => ready()?.reason === "BootstrapFailed");
  failing = undefined;
  await until(() => phase() === "Succeeded", 120);
  expect(ran.filter((line) => line === INIT)).toHaveLength(1);
  expect(ran.filter((line) => line === "echo before")).toHaveLength(1);
  expect(ran.filter((line) => line === "echo after").length).toBeGreaterThan(1);
});

test("a claim that disappears, changes, and returns costs no member", async () => {
  startAgent();
  await claim("u1");
  await until(() => phase() === "Succeeded");
  const spec = host().spec ?? {};
  await setSpec({});
  await until(() => ready()?.reason === "HoldsEtcdMember");
  expect(ready()?.message).toContain(`annotate the ByoHost with ${DISCARD_MEMBER_ANNOTATION}=true`);
  await pass(600);
  await claim("u2");
  await until(() => ready()?.reason === "BootstrapFailed");
  await pass(600);
  await setSpec(spec);
  await until(() => ready()?.status === "True", 200);
  expect(hasMember()).toBe(true);
  expect(resets()).toEqual([]);
});

test("a person can give up the member of a host that no machine claims", async () => {
  startAgent();
  await claim("u1");
  await until(() => phase() === "Succeeded");
  await setSpec({});
  await until(() => ready()?.reason === "HoldsEtcdMember");
  await server.internal.update(HOSTS, "default", "h1", "manager", (object) => {
    const metadata = object["metadata"] as { annotations: Record<string, string> };
    metadata.annotations[DISCARD_MEMBER_ANNOTATION] = "true";
  });
  await until(() => ready()?.status === "True", 120);
  expect(hasMember()).toBe(false);
});
