import { settle } from "@capstan/apimachinery";
import { KINDS, managerTransport } from "@capstan/manager";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ManagementApi, startManagementApi } from "./management-api.ts";

/**
 * The default ClusterRoles `view`, `edit` and `admin` cover the Cluster API kinds. Attackers: a colleague with `view` that wants
 * credentials, and a tenant with `edit` that wants what belongs to all tenants.
 */
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
let api: ManagementApi;

beforeAll(async () => {
  api = await startManagementApi();
  await api.server.registerCrds(KINDS.map((kind) => kind.crd()));
  await managerTransport(api.server, api.clock);
  for (const role of ["view", "edit", "admin"])
    expect(
      (
        await api.admin("POST", `${RBAC}/clusterrolebindings`, {
          metadata: { name: `everywhere-${role}` },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
          subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: role }],
        })
      ).status,
    ).toBe(201);
  while (!api.server.idle()) await settle();
});
afterAll(() => api.close());

async function may(user: string, verb: string, resource: string): Promise<boolean> {
  const [plural = "", subresource = ""] = (resource.split(".")[0] ?? "").split("/");
  const group = resource.split(".").slice(1).join(".");
  const resourceAttributes = { verb, group, resource: plural, subresource, namespace: "default" };
  const { body } = await api.as(user)("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes },
  });
  return (body as { status: { allowed: boolean } }).status.allowed;
}

const resources = KINDS.map(({ plural, group }) => `${plural}.${group}`);

async function allowed(user: string, verb: string, suffix = ""): Promise<Set<string>> {
  const out = new Set<string>();
  for (const { plural, group } of KINDS)
    if (await may(user, verb, `${plural}${suffix}.${group}`)) out.add(`${plural}.${group}`);
  return out;
}

const without = (...names: string[]): Set<string> => {
  for (const name of names) expect(resources).toContain(name);
  return new Set(resources.filter((resource) => !names.includes(resource)));
};

const CREDENTIALS = [
  "kubeadmconfigs.bootstrap.cluster.x-k8s.io",
  "bootstrapkubeconfigs.infrastructure.cluster.x-k8s.io",
];
const CLUSTER_SCOPED = [
  "globalinclusterippools.ipam.cluster.x-k8s.io",
  "globalinclusterprefixpools.ipam.cluster.x-k8s.io",
];

it("shows clusters to a colleague with `view`", async () => {
  const clusters = "/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters";
  expect((await api.as("view")("GET", clusters)).status).toBe(200);
  expect(await allowed("view", "list")).toEqual(without(...CREDENTIALS));
  expect(await allowed("view", "watch")).toEqual(without(...CREDENTIALS));
});

it("hides credentials from `view`, in Secrets and elsewhere, and lets it write nothing", async () => {
  expect(await may("view", "get", "secrets")).toBe(false);
  for (const verb of ["create", "update", "patch", "delete", "deletecollection"])
    expect([...(await allowed("view", verb)), ...(await allowed("view", verb, "/scale"))]).toEqual([]);
});

it("keeps hosts, addresses and what belongs to all tenants from `edit`", async () => {
  const writable = without(
    ...CLUSTER_SCOPED,
    "baremetalhosts.metal3.io",
    "hardwaredata.metal3.io",
    "byohosts.infrastructure.cluster.x-k8s.io",
    "bootstrapkubeconfigs.infrastructure.cluster.x-k8s.io",
    "metal3datas.infrastructure.cluster.x-k8s.io",
    "inclusterippools.ipam.cluster.x-k8s.io",
    "inclusterprefixpools.ipam.cluster.x-k8s.io",
    "ipaddresses.ipam.cluster.x-k8s.io",
    "ippools.ipam.metal3.io",
    "ipaddresses.ipam.metal3.io",
    "clusterresourcesetbindings.addons.cluster.x-k8s.io",
    "controlplanerecoveries.capstan.dev",
  );
  for (const verb of ["create", "update", "patch", "delete", "deletecollection"])
    expect(await allowed("edit", verb)).toEqual(writable);
  expect(await allowed("edit", "list")).toEqual(new Set(resources));
  expect(await may("edit", "update", "machinedeployments/scale.cluster.x-k8s.io")).toBe(true);
});

it("keeps what belongs to all tenants from `admin` of a namespace too", async () => {
  for (const verb of ["create", "update", "patch", "delete"])
    expect(await allowed("admin", verb)).toEqual(without(...CLUSTER_SCOPED));
});

it("lets only controllers write a status or block deletions with finalizers", async () => {
  for (const user of ["view", "edit", "admin"])
    for (const verb of ["update", "patch"])
      expect([...(await allowed(user, verb, "/status")), ...(await allowed(user, verb, "/finalizers"))]).toEqual([]);
});
