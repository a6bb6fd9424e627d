import { Cluster, DEFAULT_VERSION, Machine, MachineDeployment } from "@capstan/capi";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CommandPlane } from "./plane.ts";

let plane: CommandPlane;

beforeAll(async () => {
  plane = await CommandPlane.start();
});

afterAll(async () => {
  await plane.stop();
});

const workers = "--workers provider=memory,replicas=2,bootSeconds=10";

describe("an interrupted create", () => {
  test("exits with 130, says how to continue, and continues", async () => {
    const first = plane.begin(`create cluster c1 --kubernetes-version v1.34.4 ${workers}`);
    await plane.until(() => first.err().includes("MachineDeployment/c1-memory"));
    first.interrupt();
    const interrupted = await first.ended;
    expect(interrupted).toMatchObject({ code: 130, out: "" });
    expect(interrupted.err).toContain("capstan create cluster c1\n");
    const second = await plane.run("create cluster c1");
    expect(second.code).toBe(0);
    expect(second.out).toMatch(/^cluster\/c1 is available after \d+ s\n$/);
    expect((await plane.client.list(Machine, { namespace: "default" })).items).toHaveLength(2);
  });

  test("creates the objects that were not written yet", async () => {
    const plan = await plane.run(`create cluster c2 --kubernetes-version v1.34.4 ${workers} --dry-run -o json`);
    // The machine went down after the first object.
    const [cluster] = (JSON.parse(plan.out) as { items: Cluster[] }).items;
    if (cluster !== undefined) await plane.client.create(cluster);
    expect(await plane.run("create cluster c2")).toMatchObject({ code: 0 });
    const deployments = await plane.client.list(MachineDeployment, {
      namespace: "default",
      labelSelector: "cluster.x-k8s.io/cluster-name=c2",
    });
    expect(deployments.items.map(({ status }) => status?.availableReplicas)).toEqual([2]);
  });

  test("reports what it is waiting for after a timeout; its lines of progress fit 80 columns", async () => {
    const result = await plane.run(
      "create cluster slow --kubernetes-version v1.34.4 --workers provider=byoh --placement Embedded --wait-for-capacity --timeout 10s",
    );
    expect(result).toMatchObject({ code: 1, out: "" });
    expect(result.err).toMatch(/^Cluster\/slow is Progressing \(0 of 1\) for \d+s$/m);
    const progress = result.err.split("\n").filter((line) => /^\S+ \(Progressing(, \d+ of \d+)?\): /.test(line));
    expect(progress.length).toBeGreaterThan(2);
    for (const line of progress) expect(line.length).toBeLessThanOrEqual(80);
    expect(result.err).toContain("capstan host add");
    expect(result.err).toMatch(/error: cluster default\/slow is not available after \d+ s\nnext: /);
  });
});

describe("a deletion", () => {
  test("asks for the name, and rejects another one", async () => {
    const asked: string[] = [];
    const ask = (question: string): Promise<string> => {
      asked.push(question);
      return Promise.resolve("c11");
    };
    const result = await plane.run("delete cluster c1", { interactive: true, ask });
    expect(result).toMatchObject({ code: 1, out: "" });
    expect(asked).toEqual(["Type its name to delete it: "]);
    expect(result.err).toContain("1 HostedControlPlane");
    expect(await plane.client.get(Cluster, { namespace: "default", name: "c1" })).toBeDefined();
  });

  test("continues when interrupted, and exits when nothing is left", async () => {
    // Held up, so that there is something to interrupt.
    const [machine] = (await plane.client.list(Machine, { namespace: "default" })).items;
    await plane.client.patch(
      { kind: Machine, namespace: "default", name: machine?.metadata.name ?? "" },
      {
        metadata: { finalizers: [...(machine?.metadata.finalizers ?? []), "test.example.org/hold"] },
      },
    );
    const first = plane.begin("delete cluster c1 --yes");
    await plane.until(() => /left: .*1 Machine,/.test(first.err()));
    first.interrupt();
    expect(await first.ended).toMatchObject({ code: 130, out: "" });
    const second = plane.begin("delete cluster c1");
    await plane.until(() => second.err().includes("left:"));
    expect(second.err()).toContain("is already being deleted; continuing");
    await plane.client.patch(
      { kind: Machine, namespace: "default", name: machine?.metadata.name ?? "" },
      {
        metadata: { finalizers: null },
      },
    );
    let ended = false;
    void second.ended.then(() => {
      ended = true;
    });
    await plane.until(() => ended);
    const result = await second.ended;
    expect(result.code).toBe(0);
    expect(result.out).toMatch(/^cluster\/c1 is deleted after \d+ s\n$/);
    const left = await plane.run(
      "get machines,secrets,hcp,memoryclusters,kubeadmconfigtemplates -l cluster.x-k8s.io/cluster-name=c1",
    );
    expect(left.out).toBe("");
  });
});

describe("watching", () => {
  test("describe --watch prints again when something changed, until interrupted", async () => {
    const watching = plane.begin("describe cluster c2 --watch");
    await plane.until(() => watching.out().includes("2/2"));
    await plane.run("scale md/c2-memory --replicas 3");
    await plane.until(() => watching.out().includes("3/3"));
    watching.interrupt();
    const { code, out } = await watching.ended;
    expect(code).toBe(130);
    expect(out.split("\nCluster/c2").length).toBeGreaterThan(2);
  });

  test("get --watch prints rows as they change", async () => {
    const watching = plane.begin("get md c2-memory -w");
    await plane.until(() => watching.out().split("\n").length > 2);
    await plane.run("scale md/c2-memory --replicas 1");
    await plane.until(() => watching.out().split("\n").length > 3);
    watching.interrupt();
    const { code, out } = await watching.ended;
    expect(code).toBe(130);
    const lines = out.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^NAME /);
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.slice(1).every((line) => line.startsWith("c2-memory"))).toBe(true);
  });
});

describe("prompts", () => {
  test("ask for name, version and workers, and print the equivalent command", async () => {
    const answers = ["Bad Name", "asked", "v1.34.4", "nowhere", "memory", "small", "1", ""];
    const ask = (): Promise<string> => Promise.resolve(answers.shift() ?? "");
    const result = await plane.run("create cluster --no-wait", { interactive: true, ask });
    expect(result).toMatchObject({ code: 0, out: "cluster/asked created\n" });
    expect(result.err).toContain(
      "capstan create cluster asked --kubernetes-version v1.34.4 --workers name=small,provider=memory,replicas=1\n",
    );
  });

  test("report obstacles as soon as they are known, and offer to wait for hosts", async () => {
    const answers = ["waits", "newest", "v1.34.4", "byoh", "own", "2", "", "perhaps", "no"];
    const asked: string[] = [];
    const ask = (question: string): Promise<string> => {
      asked.push(question);
      return Promise.resolve(answers.shift() ?? "");
    };
    const target = { ...plane.target, dataDir: "/srv" };
    const told = { interactive: true, ask, target };
    const result = await plane.run("create cluster --no-wait", told);
    const shortage = "own needs 2 free ByoHosts that match, there are 0; enrol a host: capstan host add NAME\n";
    expect(result.err.split("error: ")[0]).toContain(shortage);
    expect(result.err).toContain(`newest is not a version like ${DEFAULT_VERSION}\n`);
    expect(result.err).toContain(
      "Kubernetes v1.34.4 is not installed on this machine (no version is); install it first: capstan kubernetes install v1.34.4\n",
    );
    expect(asked.slice(-2)).toEqual(Array(2).fill("Create it anyway and let machines wait (yes or no) [no]: "));
    expect(result.code).toBe(1);
    expect(await plane.client.get(Cluster, { namespace: "default", name: "waits" })).toBeUndefined();

    answers.push("waits", "v1.34.4", "byoh", "own", "2", "", "yes");
    const made = await plane.run("create cluster --no-wait --placement Embedded", told);
    expect(made).toMatchObject({ code: 0, out: "cluster/waits created\n" });
    expect(made.err).toContain("replicas=2 --wait-for-capacity\n");
  });

  test("propose live images for bare metal, and warn of images for disks", async () => {
    const answers = ["metal", "v1.34.4", "metal3", "rack", "1", "http://images/node.iso", "", ""];
    const ask = (): Promise<string> => Promise.resolve(answers.shift() ?? "");
    const run = { interactive: true, ask };
    const { out, err } = await plane.run("create cluster --dry-run", run);
    expect(out).toContain("diskFormat: live-iso");
    expect(err).not.toContain("warning");
    const disk = await plane.run(
      "create cluster metal --dry-run --workers provider=metal3,image=http://images/node.img,format=raw",
    );
    expect(disk).toMatchObject({ code: 0, err: expect.stringContaining("warning: metal3: a raw image is for a disk") });
    const silent = await plane.run("create cluster metal --workers provider=metal3,image=http://images/node.img");
    expect(silent).toMatchObject({ code: 2, err: expect.stringContaining("format is missing") });
  });
});
