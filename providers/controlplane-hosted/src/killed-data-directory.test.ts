import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { CLUSTER_NAME_LABEL, CLUSTER_SECRET_TYPE } from "@capstan/capi";
import type { Authorities } from "@capstan/controlplane";
import { type ManagedProvider, PROVIDERS } from "@capstan/manager/providers";
import { silentLogger } from "@capstan/runtime";
import { PortAllocator, SimulatedEtcd } from "@capstan/workloads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { picture } from "../../../tests/upgrade/picture.ts";
import { type Recorded, recordedAt } from "../../../tests/upgrade/recorded.ts";
import { World } from "../../../tests/upgrade/world.ts";
import { hostedControlPlaneController } from "./controller.ts";
import { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import { EmbeddedPlacement } from "./placement/embedded/embedded.ts";
import type { PlaneRecord } from "./placement/plane-record.ts";
import { ProcessPlacement } from "./placement/process/process.ts";
import { hosted } from "./provider.ts";
import { FakeWorkloads } from "./testing/fake-workloads.ts";

/** Folders of a control plane whose manager, at the same commit, was killed during an upgrade of etcd, and its authorities. */
const killed = JSON.parse(
  gunzipSync(
    readFileSync(new URL("placement/etcd-upgrade/testdata/killed-folders.json.gz", import.meta.url)),
  ).toString(),
) as {
  authorities: Authorities;
  folders: readonly { etcd: "serves" | "fails"; files: Record<string, string> }[];
};
const NAME = "killed";
const OLD = "v1.33.9";
const NEW = "v1.34.4";

let recorded: Recorded;
beforeEach(async () => {
  recorded = await recordedAt("85f713a");
});
afterEach(() => recorded.remove());

const root = (): string => join(recorded.dataDir, "clusters");
const fileOf = (name: string): string => join(root(), "default", NAME, name);

/** The providers of this tree, with programs of control planes that are simulated. */
function providers(workloads: FakeWorkloads): ManagedProvider[] {
  const etcd = new SimulatedEtcd();
  workloads.onStart = async (program) => {
    etcd.start(program);
    // Every etcd of a version marks the data as its own.
    if (program.id.name === "etcd" && program.command.includes(NEW))
      await writeFile(fileOf("etcd/data/member/version"), NEW);
  };
  const simulated: ManagedProvider = {
    ...hosted,
    load: ({ clock, random, embedded, gate, workload, dataDir }) => ({
      addIndexes: () => undefined,
      controllers: () => [
        hostedControlPlaneController({
          placements: {
            Process: new ProcessPlacement({
              root: root(),
              workloads,
              ports: new PortAllocator(root()),
              binaries: { find: async (wanted) => ({ dir: `/programs/${wanted}` }) },
              defaultAddress: "127.0.0.1",
              clock,
              random,
              client: () => etcd,
            }),
            Embedded: new EmbeddedPlacement({ clusters: embedded, clock, random }),
          },
          defaultPlacement: "Process",
          prepared: new Map(),
          gate,
          workload,
          backupDir: join(dataDir, "backups"),
        }),
      ],
    }),
  };
  return PROVIDERS.map((provider) => (provider.name === hosted.name ? simulated : provider));
}

/** The objects of the killed control plane: the recorded data directory has one without an etcd. */
async function addObjects(world: World): Promise<void> {
  const metadata = { name: NAME, namespace: "default" };
  const { cluster, etcd, frontProxy, serviceAccount } = killed.authorities;
  const pairs: [string, string, string][] = [
    ["ca", cluster.certPem, cluster.keyPem],
    ["etcd", etcd.certPem, etcd.keyPem],
    ["proxy", frontProxy.certPem, frontProxy.keyPem],
    ["sa", serviceAccount.publicKeyPem, serviceAccount.privateKeyPem],
  ];
  for (const [purpose, cert, key] of pairs)
    await world.client.create({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { ...metadata, name: `${NAME}-${purpose}`, labels: { [CLUSTER_NAME_LABEL]: NAME } },
      type: CLUSTER_SECRET_TYPE,
      data: { "tls.crt": btoa(cert), "tls.key": btoa(key) },
    });
  await world.client.create({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata,
    spec: { controlPlaneRef: { apiGroup: HostedControlPlane.group, kind: HostedControlPlane.kind, name: NAME } },
  });
  await world.client.create({
    apiVersion: HostedControlPlane.apiVersion,
    kind: HostedControlPlane.kind,
    metadata,
    spec: {
      version: NEW,
      placement: { type: "Process" },
      controlPlaneEndpoint: { host: "127.0.0.1", port: 6443 },
    },
  });
  await world.client.patchStatus(
    { kind: HostedControlPlane, ...metadata },
    { status: { version: OLD, initialization: { controlPlaneInitialized: true } } },
  );
}

/** One folder in which the new etcd had begun with the data, and one in which it had failed. */
const folders = killed.folders
  .map((folder, index) => ({ ...folder, index }))
  .filter(({ files }) => Object.keys(files).some((path) => path.includes("data.before")))
  .filter(({ etcd }, at, all) => all.findIndex((each) => each.etcd === etcd) === at);

test.each(folders)(
  "a data directory killed during an upgrade to an etcd that $etcd keeps CAs and Machines",
  {
    timeout: 240_000,
  },
  async ({ etcd, files }) => {
    for (const [path, content] of Object.entries(files)) {
      const target = fileOf(path.replace("default/c1/", ""));
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await writeFile(target, content);
    }
    const workloads = new FakeWorkloads(root());
    if (etcd === "fails")
      workloads.fate = ({ id, command }) =>
        id.name === "etcd" && command.includes(NEW)
          ? { phase: "Failed", restarts: 3, message: "its last error: cannot read this" }
          : undefined;
    const world = await World.open(recorded.dataDir, recorded.endMs + 60_000, silentLogger);
    try {
      await addObjects(world);
      const before = [await picture(world), await picture(world, NAME)];
      expect(Object.keys(before[0] ?? {}).filter((name) => name.startsWith("Machine "))).toHaveLength(3);
      expect(Object.keys(before[1] ?? {}).filter((name) => name.startsWith(`Secret ${NAME}-`))).toHaveLength(4);
      await world.startManager(providers(workloads));
      await world.pass(60_000);
      expect([await picture(world), await picture(world, NAME)]).toEqual(before);
      const serving = etcd === "fails" ? OLD : NEW;
      const { etcdChange, etcdServes } = JSON.parse(await readFile(fileOf("plane.json"), "utf8")) as PlaneRecord;
      expect(etcdChange).toBeUndefined();
      expect(etcdServes?.version).toBe(serving);
      expect(await readFile(fileOf("etcd/data/member/version"), "utf8")).toBe(serving);
      expect(await readdir(fileOf("etcd"))).toEqual(["data"]);
    } finally {
      await world.close();
    }
  },
);
