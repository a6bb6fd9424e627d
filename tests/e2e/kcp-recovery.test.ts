import { afterAll, beforeAll, expect, test } from "vitest";
import { Reader } from "../docs/reader.ts";
import { defaultKubernetesVersion as VERSION } from "../real-kubernetes/index.ts";
import { askAgainAndAgain } from "./ask.ts";
import { eventually, leftovers, type Node, timed } from "./harness/index.ts";
import { KcpWorld, type Written } from "./kcp-world.ts";

/** A control plane made by kubeadm on bring-your-own hosts that loses most of its machines, and then all of them. */
const PAGE = "docs/kubeadm-control-planes.md";

let world: KcpWorld;
let page: Reader;
/** The worker's Node, which must never join again. */
let worker: string;

beforeAll(async () => {
  world = await KcpWorld.open([VERSION], 4);
  page = new Reader(PAGE, "tests/e2e/kcp-recovery.test.ts", world.shell);
});
afterAll(async () => {
  await world?.close();
});

const uidOfWorker = () => world.kubectl("get", "node", world.worker.name, "-o", "jsonpath={.metadata.uid}");
const phase = () => world.field("controlplanerecoveries", "{.items[-1:].status.phase}");
const PHASES = ["Saving", "Verifying", "Removing", "Starting", "Scaling", "Done"];
/** Waits for a phase of the recovery, or a later one. */
const inPhase = (name: string, timeout = 300_000) =>
  eventually(`phase ${name}`, async () => PHASES.indexOf(await phase()) >= PHASES.indexOf(name), { timeout }).catch(
    (error: unknown) => world.withStory(error),
  );

/** Writes through the virtual IP until some have been acknowledged; the writing continues until it is stopped. */
async function writing(prefix: string): Promise<() => Promise<Written[]>> {
  const stop = await world.write(prefix);
  await eventually("some writes", async () => (await world.configMaps()).has(`${prefix}-9`));
  return stop;
}

async function namesOf(hosts: readonly Node[]): Promise<string[]> {
  const placed = [...(await world.placement())];
  return hosts.map((host) => placed.find(([, other]) => other === host)?.[0] ?? "").toSorted();
}

/** What `why` says once it has noticed that members are lost. */
async function why(...words: readonly string[]): Promise<string> {
  let said = "";
  return await eventually(
    `why names ${words.join(", ")}`,
    async () => {
      said = await page.type("Recover", "capstan why demo");
      return words.every((word) => said.includes(word)) && said;
    },
    { timeout: 120_000, interval: 1000 },
  ).catch((error: unknown) => world.withStory(`${String(error)}: ${said}`));
}

/** Types the command that only shows the plan, as without anybody who answers the question. */
async function planShown(command: string): Promise<string> {
  const { code, errors } = await world.shell.run(PAGE, command);
  expect(errors).toContain("this needs a confirmation");
  expect(code).not.toBe(0);
  return errors;
}

/** A cluster of three and one worker as after creation: the same worker, and no Node of a machine that was lost. */
async function whole(): Promise<void> {
  await world.settled(3, VERSION).catch((error: unknown) => world.withStory(error));
  await world.voters(await world.holder(), 3);
  const used = [...(await world.placement()).values()].map(({ name }) => name);
  await eventually(
    "the Nodes of the machines, and no others",
    async () => (await world.readyNodes()).toSorted().join() === [...used, world.worker.name].toSorted().join(),
  ).catch((error: unknown) => world.withStory(error));
  expect((await world.kubectl("get", "nodes", "-o", "name")).trim().split("\n")).toHaveLength(4);
  expect(await uidOfWorker()).toBe(worker);
  expect((await fetch(world.web)).ok).toBe(true);
}

test("three control plane machines and a worker; a backup of them is listed", async () => {
  await world.addPodNetwork();
  await timed("applied to four Nodes Ready", () => world.create(3, VERSION));
  worker = await uidOfWorker();
  await timed("Service answers", () => world.serve());
  const name = (await timed("backup", () => page.type("Back up", "backup create"))).trim();
  expect(await page.type("Back up", "backup list")).toContain(name);
});

test("two of three lose their power: why says what is lost, and the survivor brings everything back up to the announced revision", async () => {
  const placement = await world.placement();
  const holder = await world.holder();
  const survivor = [...placement.values()].find((host) => host !== holder) ?? holder;
  const lost = [...placement.values()].filter((host) => host !== survivor);
  const [machine = ""] = await namesOf([survivor]);
  const machines = await namesOf(lost);
  await world.lead(holder);
  const stopWriting = await writing("two");
  const stopPod = askAgainAndAgain(world.web, undefined, { path: "/", everyMs: 100 });
  await Promise.all(lost.map((host) => host.powerOff()));
  const acknowledged = await stopWriting();

  await timed("why says what is lost", () => why(...machines, `alive: ${machine}`, "capstan recover demo"));
  const plan = await planShown(page.command("Recover", "capstan recover demo"));
  expect(plan).toContain(`Do not answer: ${machines.join(", ")}; answer: ${machine}.`);
  expect(plan).toContain(`from the member on Machine ${machine}`);
  const revision = /everything up to revision (\d+)/.exec(plan)?.[1] ?? "";
  expect(revision).toBe(await world.revision(survivor));
  await page.type("Recover", "capstan recover demo", { more: "--yes --no-wait" });

  await timed("recovered from the survivor", async () => {
    await inPhase("Removing");
    // With the old data, of which their agents clean them.
    await Promise.all(lost.map((host) => host.start({ allowFailedUnits: true })));
    await inPhase("Starting");
    const restoring = await eventually("the restore", () => world.running("^/bin/sh /run/capstan/restore-etcd.sh"), {
      timeout: 120_000,
      interval: 20,
    }).catch((error: unknown) => world.withStory(error));
    await world.killAgent(restoring);
    await world.killManager();
    await inPhase("Scaling");
    await world.killAllAt("join");
    await inPhase("Done", 480_000);
  });
  await whole();
  const there = await world.configMaps();
  const announced = acknowledged.filter((each) => each.revision <= BigInt(revision));
  expect(announced.length).toBeGreaterThan(9);
  expect(announced.filter(({ name }) => !there.has(name))).toEqual([]);
  expect((await stopPod()).failures).toEqual([]);
});

test("all three lose their power: a backup brings back what was written before it, and nothing that was written later", async () => {
  const before = await (await writing("before"))();
  const backup = (await page.type("Back up", "backup create")).trim();
  const later = await (await writing("later"))();
  const hosts = [...(await world.placement()).values()];
  const machines = await namesOf(hosts);
  await Promise.all(hosts.map((host) => host.powerOff()));
  await timed("why says that all is lost", () => why(...machines, "alive: none", "capstan recover demo"));
  const own = { "20261116T030000Z": backup };
  const plan = await planShown(page.command("Recover", "capstan backup restore", { own }));
  expect(plan).toContain(`Do not answer: ${machines.join(", ")}; answer: none.`);
  expect(plan).toMatch(
    new RegExp(`from backup ${backup}; everything written in the \\d+ (seconds|minutes) since then is lost`),
  );
  await page.type("Recover", "capstan backup restore", { own, more: "--yes --no-wait" });

  await timed("recovered from the backup", async () => {
    await inPhase("Removing");
    await world.killManager();
    await Promise.all(hosts.map((host) => host.start({ allowFailedUnits: true })));
    await inPhase("Starting");
    const starting = await eventually("kubeadm init", () => world.running("^kubeadm init --|/kubeadm init --"), {
      timeout: 240_000,
      interval: 20,
    }).catch((error: unknown) => world.withStory(error));
    await world.killAgent(starting);
    await inPhase("Done", 480_000);
  });
  await whole();
  const there = await world.configMaps();
  expect(before.filter(({ name }) => !there.has(name))).toEqual([]);
  expect(later.filter(({ name }) => there.has(name))).toEqual([]);
});

test("nothing is left behind", async () => {
  expect(page.untyped()).toEqual([]);
  await world.close();
  expect(await leftovers(world.lab.id)).toEqual([]);
});
