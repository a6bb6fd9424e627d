import { parseYamlDocuments, type Unstructured } from "@capstan/apimachinery";
import { kindRef } from "@capstan/runtime";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { kubeadmCluster } from "../simulation/kubeadm-manifests.ts";
import { CANARY_WORDS, Canary } from "./canary.ts";
import { TenantPlane, until } from "./tenant-plane.ts";

/**
 * A tenant with a control plane on machines of its own: it writes KubeadmControlPlanes, backups and recoveries, and decides what its
 * machines' etcd answers. It wants to reach services of the management host, other tenants' backups, or to keep the manager busy.
 */
const meta = (name: string) => ({ namespace: "default", name });
const capstan = (kind: string, name: string, spec: object): object => ({
  apiVersion: "capstan.dev/v1alpha1",
  kind,
  metadata: meta(name),
  spec,
});

let plane: TenantPlane;
let canary: Canary;

beforeAll(async () => {
  plane = await TenantPlane.start();
  await plane.create(
    ...(parseYamlDocuments(kubeadmCluster("c1").replace("bootSeconds: 5", "bootSeconds: 0")) as object[]),
  );
  await until("the control plane", async () =>
    (
      await plane.text("controlplane.cluster.x-k8s.io/v1beta2", "KubeadmControlPlane", "kubeadmcontrolplanes", "c1")
    ).includes('"controlPlaneInitialized":true'),
  );
});
afterAll(() => plane.close());
beforeEach(async () => {
  canary = await Canary.start();
});
afterEach(() => canary.close());

const statusOf = (kind: string, plural: string, name: string): Promise<string> =>
  plane.text("capstan.dev/v1alpha1", kind, plural, name);

test("backups to an object store on loopback", async () => {
  const secret = { apiVersion: "v1", kind: "Secret", metadata: meta("keys") };
  const s3 = { endpoint: `http://127.0.0.1:${canary.port}`, bucket: "b", secretName: "keys" };
  await plane.create(
    { ...secret, stringData: { accessKeyId: "id", secretAccessKey: "kept-secret-4711" } },
    capstan("ControlPlaneBackup", "loopback", { clusterName: "c1", schedule: "0 3 * * *", s3 }),
    capstan("ControlPlaneRecovery", "loopback", { clusterName: "c1", backup: "20260101T000000Z" }),
  );
  for (const [kind, plural] of [
    ["ControlPlaneBackup", "controlplanebackups"],
    ["ControlPlaneRecovery", "controlplanerecoveries"],
  ] as const) {
    await until(`an answer of ${kind}`, async () =>
      (await statusOf(kind, plural, "loopback")).includes("--allow-address"),
    );
    const text = await statusOf(kind, plural, "loopback");
    expect(text).not.toContain(CANARY_WORDS);
    expect(text).not.toContain("kept-secret-4711");
  }
  expect(canary.connections).toBe(0);
  const kind = { group: "capstan.dev", version: "v1alpha1", kind: "ControlPlaneBackup", namespaced: true };
  await plane.tenant.delete({
    kind: kindRef<Unstructured>({ ...kind, plural: "controlplanebackups" }),
    ...meta("loopback"),
  });
});

test.each([
  "../../other/c2_kubeadm/20260101T000000Z",
  "20260101T000000Z/../../../other/c2_kubeadm",
  "20260101T000000Z-../x",
])("the backup %s of another tenant", async (backup) => {
  const spec = { clusterName: "c1", backup };
  await expect(plane.create(capstan("ControlPlaneRecovery", "theft", spec))).rejects.toThrow(/spec.backup/);
});

test("a control plane whose name is the owner of another one's backups", async () => {
  const [object] = (parseYamlDocuments(kubeadmCluster("c1")) as Unstructured[]).filter(
    ({ kind }) => kind === "KubeadmControlPlane",
  );
  for (const name of ["c1_kubeadm", "c2/../c1", ".."])
    await expect(plane.create({ ...object, metadata: meta(name) })).rejects.toThrow();
});

test("a recovery of another tenant's cluster", async () => {
  await plane.create(capstan("ControlPlaneRecovery", "foreign", { clusterName: "c2", approved: true }));
  await until("an answer", async () =>
    (await statusOf("ControlPlaneRecovery", "controlplanerecoveries", "foreign")).includes("ClusterDoesNotExist"),
  );
  for (const clusterName of ["other/c2", "../other/c2"])
    await plane.create(
      capstan("ControlPlaneRecovery", `foreign-${clusterName.length}`, { clusterName, approved: true }),
    );
  await until("another answer", async () =>
    (await statusOf("ControlPlaneRecovery", "controlplanerecoveries", "foreign-11")).includes("ClusterDoesNotExist"),
  );
});
