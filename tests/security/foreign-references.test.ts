import { findCondition, parseYamlDocuments, type Unstructured } from "@capstan/apimachinery";
import { Cluster, ClusterClass, conditionsOf, KubeadmConfigTemplate } from "@capstan/capi";
import { ByoMachine } from "@capstan/infra-byoh";
import { KINDS, simulatedHosts } from "@capstan/manager";
import type { Client } from "@capstan/runtime";
import { afterEach, describe, expect, test, vi } from "vitest";
import { cluster, infraCluster } from "../simulation/manifests.ts";
import { Plane } from "../simulation/plane.ts";
import { attempt, TENANT, tenantOf } from "./tenant.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Attack: objects of the tenant refer to templates and classes of another namespace, and the manager copies what those hold. */
const VICTIM = "victim";
const SECRET = "hunter2-of-the-victim";
const GRANT = "capstan.dev/allowed-namespaces";
const MANAGEMENT = [
  { where: "on the embedded API", admission: true },
  { where: "on an API without our admission", admission: false },
];

const BOOTSTRAP = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2";
const INFRASTRUCTURE = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta2";

/** A class of the victim; its bootstrap template and the default of its variable hold a secret. */
const CLASS = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: { name: house, namespace: default }
spec:
  infrastructure: { templateRef: { ${INFRASTRUCTURE}, kind: MemoryClusterTemplate, name: house } }
  controlPlane:
    templateRef: { apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: HostedControlPlaneTemplate, name: house }
  workers:
    machineDeployments:
    - class: general
      bootstrap: { templateRef: { ${BOOTSTRAP}, kind: KubeadmConfigTemplate, name: house } }
      infrastructure: { templateRef: { ${INFRASTRUCTURE}, kind: MemoryMachineTemplate, name: house } }
  variables:
  - { name: token, required: false, schema: { openAPIV3Schema: { type: string, default: ${SECRET} } } }
---
${INFRASTRUCTURE}
kind: MemoryClusterTemplate
metadata: { name: house, namespace: default }
spec: { template: { spec: {} } }
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: HostedControlPlaneTemplate
metadata: { name: house, namespace: default }
spec: { template: { spec: { placement: { type: Embedded } } } }
---
${INFRASTRUCTURE}
kind: MemoryMachineTemplate
metadata: { name: house, namespace: default }
spec: { template: { spec: {} } }
---
${BOOTSTRAP}
kind: KubeadmConfigTemplate
metadata: { name: house, namespace: default }
spec: { template: { spec: { files: [{ path: /etc/registry-password, content: ${SECRET} }] } } }
---
${INFRASTRUCTURE}
kind: K8sInstallerConfigTemplate
metadata: { name: house, namespace: default }
spec: { template: { spec: { bundleRepo: "https://admin:${SECRET}@mirror.example/release", bundleType: k8s } } }
`;

const topologyCluster = {
  apiVersion: Cluster.apiVersion,
  kind: Cluster.kind,
  metadata: { namespace: TENANT, name: "thief" },
  spec: {
    topology: {
      classRef: { namespace: VICTIM, name: "house" },
      version: "v1.34.4",
      workers: { machineDeployments: [{ class: "general", name: "md", replicas: 1 }] },
    },
  },
};

let plane: Plane;
let mallory: Client;
afterEach(() => plane.close());

async function start(admission: boolean): Promise<void> {
  plane = await Plane.start({ own: 0, metal: 0, namespace: VICTIM, admission });
  await plane.apply(CLASS);
  mallory = await tenantOf(plane);
}

/** Everything in the tenant's namespace that holds the secret: the tenant may read all of it. */
function stolen(): string[] {
  const kinds = [...KINDS, { group: "", plural: "secrets" }, { group: "", plural: "configmaps" }];
  return kinds.flatMap((kind) =>
    plane.server.internal
      .list(kind, TENANT)
      .filter((object) => textOf(object).includes(SECRET))
      .map(({ kind: name, metadata }) => `${name}/${metadata.name}`),
  );
}

function textOf(object: Unstructured): string {
  const data = (object["data"] ?? {}) as Record<string, string>;
  const decoded = Object.values(data).map((value) => Buffer.from(value, "base64").toString("utf8"));
  return [JSON.stringify(object), ...decoded].join("\n");
}

/** A cluster of the tenant with one machine on a host of its own, which names an installer. */
async function machineWith(installerRef: object): Promise<string> {
  const own = parseYamlDocuments(cluster("mine", "ByoCluster") + infraCluster("byoh", "mine")) as Unstructured[];
  const metadata = { namespace: TENANT, name: "m1" };
  const secret = { namespace: TENANT, name: "boot" };
  const infrastructureRef = { apiGroup: ByoMachine.group, kind: ByoMachine.kind, name: "m1" };
  for (const object of [...own, ...simulatedHosts(TENANT, { byoh: 1 })])
    await mallory.create({ ...object, metadata: { ...object.metadata, namespace: TENANT } });
  const said = await attempt(mallory, {
    apiVersion: ByoMachine.apiVersion,
    kind: ByoMachine.kind,
    metadata,
    spec: { installerRef },
  });
  await mallory.create<Unstructured>({ apiVersion: "v1", kind: "Secret", metadata: secret, stringData: { value: "" } });
  await mallory.create<Unstructured>({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata,
    spec: { clusterName: "mine", version: "v1.34.4", bootstrap: { dataSecretName: "boot" }, infrastructureRef },
  });
  await plane.pass(60_000);
  return said;
}

const ready = async (): Promise<string> => {
  const machine = await plane.client.get(ByoMachine, { namespace: TENANT, name: "m1" });
  const condition = findCondition(conditionsOf(machine ?? {}), "Ready");
  return `${condition?.reason}: ${condition?.message}`;
};

describe.each(MANAGEMENT)("$where", ({ admission }) => {
  test.each([
    { apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2", kind: "K8sInstallerConfigTemplate" },
    { apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2", kind: "KubeadmConfigTemplate" },
  ])("installerRef copies no $kind of another namespace", async ({ apiVersion, kind }) => {
    await start(admission);
    const said = await machineWith({ apiVersion, kind, namespace: VICTIM, name: "house" });
    expect(stolen()).toEqual([]);
    const text = admission ? said : await ready();
    expect(text).toContain("spec.installerRef");
    expect(text).toContain(`"house" is in namespace "${VICTIM}", but only objects of the same namespace`);
  });

  test("installerRef copies no kind that is not an installer", async () => {
    await start(admission);
    await mallory.create<Unstructured>({
      apiVersion: KubeadmConfigTemplate.apiVersion,
      kind: KubeadmConfigTemplate.kind,
      metadata: { namespace: TENANT, name: "own" },
      spec: { template: { spec: { files: [{ path: "/x", content: "y" }] } } },
    });
    const { apiVersion, kind } = KubeadmConfigTemplate;
    await machineWith({ apiVersion, kind, name: "own" });
    expect(
      plane.server.internal.list({ group: KubeadmConfigTemplate.group, plural: "kubeadmconfigs" }, TENANT),
    ).toEqual([]);
    expect(await ready()).toContain(`${apiVersion} ${kind} is not an installer; name a K8sInstallerConfigTemplate`);
  });

  test("classRef copies no class, template or default of another namespace", async () => {
    await start(admission);
    const said = await attempt(mallory, topologyCluster);
    await plane.pass(30_000);
    expect(stolen()).toEqual([]);
    const made = await plane.client.get(Cluster, { namespace: TENANT, name: "thief" });
    const text = admission ? said : findCondition(conditionsOf(made ?? {}), "TopologyReconciled")?.message;
    expect(text).toContain(`"${VICTIM}/house" does not exist or does not allow namespace "${TENANT}"`);
    expect(text).toContain(`${GRANT}: ${TENANT}`);
  });

  test("whether a class exists in another namespace is not revealed", async () => {
    await start(admission);
    const answer = async (name: string): Promise<string> => {
      const { spec } = topologyCluster;
      const topology = { ...spec.topology, classRef: { namespace: VICTIM, name } };
      const metadata = { namespace: TENANT, name: `probe-${name}` };
      const said = await attempt(mallory, { ...topologyCluster, metadata, spec: { topology } });
      await plane.pass(5_000);
      const made = await plane.client.get(Cluster, metadata);
      return `${said} ${findCondition(conditionsOf(made ?? {}), "TopologyReconciled")?.message}`.replaceAll(name, "X");
    };
    expect(await answer("house")).toBe(await answer("nowhere"));
  });

  test("a class can be used from the namespaces that it names, until it no longer does", async () => {
    await start(admission);
    const house = { kind: ClusterClass, namespace: VICTIM, name: "house" };
    await plane.client.patch(house, { metadata: { annotations: { [GRANT]: `other, ${TENANT}` } } });
    expect(await attempt(mallory, topologyCluster)).toBe("created");
    const copies = async (): Promise<number> =>
      (await plane.client.list(KubeadmConfigTemplate, { namespace: TENANT })).items.length;
    await plane.until("templates of the class", async () => (await copies()) === 1);
    await plane.client.patch(house, { metadata: { annotations: { [GRANT]: null } } });
    await plane.until("the withdrawal is shown", async () => {
      const thief = await plane.client.get(Cluster, { namespace: TENANT, name: "thief" });
      const condition = findCondition(conditionsOf(thief ?? {}), "TopologyReconciled");
      return condition?.status === "False" && condition.message.includes(`does not allow namespace "${TENANT}"`);
    });
  });
});
