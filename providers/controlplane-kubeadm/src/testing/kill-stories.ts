import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, type Unstructured } from "@capstan/apimachinery";
import { Cluster, KubeadmControlPlane, type Machine } from "@capstan/capi";
import { BACKUP_ANNOTATION } from "@capstan/controlplane";
import { createCertificateAuthority } from "@capstan/pki";
import { openDialGate } from "@capstan/runtime";
import { BackupOrigins } from "../backup/backup-origins.ts";
import { controlPlaneBackupController } from "../backup/controller.ts";
import { ControlPlaneBackup } from "../kinds/control-plane-backup.ts";
import { FakeWays } from "./fake-ways.ts";
import { NAMESPACE, type World, type WorldExtras } from "./world.ts";

const KEY = { namespace: NAMESPACE, name: "c1" };
const BACKUP = { namespace: NAMESPACE, name: "b1" };

/** Something that happens to a control plane, during which its controllers are killed. */
export interface KillStory {
  readonly name: string;
  /** How many writes it takes at least; with fewer it has not happened. */
  readonly writes: number;
  /** So many writes are tried, not all of them. */
  readonly sample?: number;
  /** Called before each world is made. */
  extras?(): WorldExtras;
  prepare(world: World): Promise<unknown>;
  act(world: World): Promise<unknown>;
  /** What must hold in addition to the control plane being at rest. */
  done?(world: World): Promise<boolean>;
  /** What else must be the same in the end. */
  end?(world: World): Promise<unknown>;
  close?(): void;
}

type PlaneSpec = Parameters<World["addPlane"]>[0];

async function withReplicas(world: World, replicas: number, spec: PlaneSpec = {}): Promise<void> {
  await world.addCluster();
  await world.addPlane({ replicas, ...spec });
  await world.ready(replicas);
}

/** Machines that a story removes, by world. */
const victims = new WeakMap<World, string[]>();

async function fail(world: World, count: number): Promise<void> {
  const failed = (await world.machines()).slice(0, count);
  victims.set(
    world,
    failed.map(({ metadata }) => metadata.name ?? ""),
  );
  for (const { status } of failed) world.side.broken.add(status?.nodeRef?.name ?? "");
  for (const machine of failed) await world.failHealthCheck(machine);
}

async function areReplaced(world: World): Promise<boolean> {
  const names = (await world.machines()).map(({ metadata }) => metadata.name);
  return !(victims.get(world) ?? []).some((name) => names.includes(name));
}

const rollout = (maxSurge: number): PlaneSpec => ({
  rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge } } },
});

const EXTERNAL: PlaneSpec = {
  kubeadmConfigSpec: {
    clusterConfiguration: {
      encryptionAlgorithm: "ECDSA-P256",
      etcd: { external: { endpoints: ["https://etcd:2379"], caFile: "/a", certFile: "/b", keyFile: "/c" } },
    },
  },
};

async function addExternalEtcd(world: World): Promise<void> {
  await world.addCluster();
  const ca = await createCertificateAuthority({
    commonName: "etcd",
    algorithm: "ECDSA-P256",
    notBeforeMs: world.plane.clock.now() - 1_000,
    validMs: 86_400_000,
    random: seededRandom(1),
  });
  await addSecret(world, "c1-etcd", { "tls.crt": ca.certPem });
  await addSecret(world, "c1-apiserver-etcd-client", { "tls.crt": "crt", "tls.key": "key" });
}

async function addSecret(world: World, name: string, texts: Record<string, string>): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
  await world.user.create({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: NAMESPACE, name },
    data,
  } as Unstructured);
}

/** Leaves Machines without the control plane that made them. */
async function orphanMachines(world: World): Promise<void> {
  await withReplicas(world, 3);
  await world.plane.stopControllers();
  await world.user.patch({ kind: KubeadmControlPlane, ...KEY }, { metadata: { finalizers: null } });
  for (const machine of await world.machines())
    await world.user.patch(machine, { metadata: { ownerReferences: null } });
  await world.user.delete({ kind: KubeadmControlPlane, ...KEY }, { propagationPolicy: "Orphan" });
  await world.plane.startControllers();
}

/** kubeadm init never finishes on the first Machine. */
async function withStillbornMachine(world: World): Promise<void> {
  const { stillborn } = world.side;
  stillborn.has = (name) => {
    if (stillborn.size === 0) stillborn.add(name);
    return [...stillborn].includes(name);
  };
  await world.addCluster();
  await world.addPlane();
  await world.until(async () => (await world.machines())[0]?.status?.nodeRef !== undefined);
}

/** The first backup that a person requests. */
function backupStory(): KillStory {
  let dir = "";
  const backup = (world: World): Promise<ControlPlaneBackup | undefined> => world.user.get(ControlPlaneBackup, BACKUP);
  return {
    name: "is backed up",
    writes: 3,
    extras: () => {
      dir = mkdtempSync(join(tmpdir(), "capstan-killed-backup-"));
      const deps = {
        ways: new FakeWays(),
        place: { dir, gate: openDialGate() },
        origins: new BackupOrigins(),
        named: () => new Set<string>(),
      };
      return { kinds: [ControlPlaneBackup], controllers: () => [controlPlaneBackupController(deps)] };
    },
    prepare: (world) => withReplicas(world, 1),
    act: async (world) => {
      const { apiVersion, kind } = ControlPlaneBackup;
      const metadata = { ...BACKUP, annotations: { [BACKUP_ANNOTATION]: "now" } };
      await world.user.create({ apiVersion, kind, metadata, spec: { clusterName: "c1", keep: 1 } } as Unstructured);
    },
    done: async (world) => {
      const { metadata, status } = (await backup(world)) ?? {};
      return metadata?.annotations?.[BACKUP_ANNOTATION] === undefined && status?.count === 1;
    },
    end: async (world) => {
      const listed = (await backup(world))?.status?.backups?.map(({ name }) => name) ?? [];
      const kept = readdirSync(join(dir, NAMESPACE, "c1_kubeadm"));
      return { backups: listed.length, files: kept.length, same: listed.every((name) => kept.includes(name ?? "")) };
    },
    close: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** The stories of `crash.test.ts`. */
export const KILL_STORIES: readonly KillStory[] = [
  {
    name: "is created with three Machines",
    writes: 30,
    sample: 16,
    prepare: (world) => world.addCluster(),
    act: (world) => world.addPlane({ replicas: 3 }),
  },
  {
    name: "replaces its only Machine for a new version",
    writes: 20,
    prepare: (world) => withReplicas(world, 1),
    act: (world) => world.patch({ version: "v1.37.0" }),
  },
  {
    name: "replaces three Machines without a surge",
    writes: 40,
    sample: 8,
    prepare: (world) => withReplicas(world, 3, rollout(0)),
    act: (world) => world.patch({ version: "v1.37.0" }),
  },
  {
    name: "scales from one Machine to three",
    writes: 20,
    sample: 12,
    prepare: (world) => withReplicas(world, 1),
    act: (world) => world.patch({ replicas: 3 }),
  },
  {
    name: "scales from three Machines to one",
    writes: 10,
    prepare: (world) => withReplicas(world, 3),
    act: (world) => world.patch({ replicas: 1 }),
  },
  {
    name: "adopts three Machines",
    writes: 5,
    sample: 16,
    prepare: orphanMachines,
    act: (world) => world.addPlane({ replicas: 3 }),
  },
  {
    name: "removes a member without a Machine, and scales up",
    writes: 20,
    sample: 12,
    prepare: (world) => withReplicas(world, 1),
    act: async (world) => {
      world.side.members.push({ id: "99", node: "stray" });
      await world.patch({ replicas: 3 });
    },
  },
  {
    name: "replaces a Machine that a person deleted",
    writes: 10,
    sample: 12,
    prepare: (world) => withReplicas(world, 3),
    act: async (world) => {
      const [machine] = await world.machines();
      victims.set(world, [machine?.metadata.name ?? ""]);
      await world.user.delete(machine as Machine);
    },
    done: areReplaced,
  },
  {
    name: "remediates a failed Machine of three",
    writes: 15,
    sample: 16,
    prepare: (world) => withReplicas(world, 3),
    act: (world) => fail(world, 1),
    done: areReplaced,
  },
  {
    name: "remediates two failed Machines of five",
    writes: 30,
    sample: 6,
    prepare: (world) => withReplicas(world, 5),
    act: (world) => fail(world, 2),
    done: areReplaced,
  },
  {
    name: "remediates its first Machine, on which kubeadm init did not finish",
    writes: 10,
    sample: 16,
    prepare: withStillbornMachine,
    act: (world) => fail(world, 1),
    done: areReplaced,
  },
  {
    name: "remediates a Machine that fails in the middle of a rollout",
    writes: 30,
    sample: 6,
    prepare: async (world) => {
      await withReplicas(world, 3);
      await world.patch({ version: "v1.37.0" });
      await world.until(async () => (await world.machines()).some(({ spec }) => spec.version === "v1.37.0"));
    },
    act: (world) => fail(world, 1),
    done: areReplaced,
  },
  {
    name: "is created with three Machines and an external etcd",
    writes: 30,
    sample: 8,
    prepare: addExternalEtcd,
    act: (world) => world.addPlane({ replicas: 3, ...EXTERNAL }),
  },
  backupStory(),
  {
    name: "is deleted with its Cluster",
    writes: 5,
    prepare: (world) => withReplicas(world, 1),
    act: (world) => world.user.delete({ kind: Cluster, ...KEY }),
  },
];
