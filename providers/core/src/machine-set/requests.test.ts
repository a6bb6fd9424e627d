import type { ApiRequest } from "@capstan/apimachinery";
import { Machine, MachineSet } from "@capstan/capi";
import { afterEach, expect, test } from "vitest";
import { addCluster, corePlane, machineTemplateSpec, templates } from "../testing/core-plane.ts";
import { NAMESPACE } from "../testing/objects.ts";
import type { Plane } from "../testing/plane.ts";

let plane: Plane | undefined;
afterEach(async () => plane?.close());

const MS = { kind: MachineSet, namespace: NAMESPACE, name: "ms" };

/** The requests that create, change and delete Machines and the objects that they reference. */
function written(requests: readonly ApiRequest[]): string {
  return requests
    .filter(({ query, method, path }) => {
      const manager = query?.["fieldManager"];
      return (
        (typeof manager === "string" && manager.startsWith("capi-machineset")) ||
        (method === "DELETE" && path.includes("/machines/"))
      );
    })
    .map(({ method, path, query, headers, body }) => {
      const { accept: _, ...rest } = headers ?? {};
      return `${method} ${path}\n${JSON.stringify({ query, headers: rest })}\n${JSON.stringify(body, null, 1)}\n`;
    })
    .join("\n");
}

// Fields that an applied object gains or loses would roll out every fleet with the next version of Capstan.
test("sends the recorded requests when Machines are created, synced and deleted", async () => {
  plane = await corePlane();
  await addCluster(plane);
  for (const template of templates("t1")) await plane.user.create(template);
  const labels = { set: "ms" };
  const spec = {
    ...machineTemplateSpec("t1"),
    failureDomain: "a",
    minReadySeconds: 5,
    readinessGates: [{ conditionType: "Licensed" }],
    deletion: { nodeDrainTimeoutSeconds: 60 },
    taints: [{ key: "example.com/a", value: "b", effect: "NoSchedule", propagation: "Always" }],
  };
  const story = async (change: object): Promise<void> => {
    await plane?.user.patch(MS, change);
    await plane?.settle(20_000);
  };
  await plane.user.create({
    apiVersion: MachineSet.apiVersion,
    kind: MachineSet.kind,
    metadata: { namespace: NAMESPACE, name: "ms", labels: { "cluster.x-k8s.io/deployment-name": "md" } },
    spec: {
      clusterName: "c1",
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels: { ...labels, tier: "web" }, annotations: { note: "one" } }, spec },
    },
  } as MachineSet);
  await plane.settle(20_000);
  await story({ spec: { template: { metadata: { labels: { tier: "db" }, annotations: { note: "two" } } } } });
  await story({ spec: { template: { metadata: { labels: { tier: null }, annotations: null } } } });
  await story({
    spec: { template: { spec: { taints: null, readinessGates: null, minReadySeconds: 9, failureDomain: null } } },
  });
  await story({ spec: { template: { spec: { bootstrap: { configRef: null, dataSecretName: "given" } } } } });
  await story({ spec: { replicas: 4, machineNaming: { template: "w-{{ .random }}" } } });
  await story({ spec: { replicas: 1 } });
  await expect(plane.user.list(Machine, { namespace: NAMESPACE })).resolves.toHaveProperty("items.length", 1);
  await expect(written(plane.requests)).toMatchFileSnapshot("requests.golden.txt");
});
