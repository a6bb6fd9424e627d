import { readFile } from "node:fs/promises";
import { parseYamlDocuments, type Unstructured } from "@capstan/apimachinery";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CommandPlane } from "./plane.ts";

let plane: CommandPlane;

beforeAll(async () => {
  plane = await CommandPlane.start();
  const text = await readFile(new URL("../../docs/examples/class-in-memory.yaml", import.meta.url), "utf8");
  for (const object of parseYamlDocuments(text)) await plane.client.create(object as Unstructured);
});

afterAll(async () => {
  await plane.stop();
});

test("the example of a ClusterClass makes clusters, and its variables count", async () => {
  await plane.client.create({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { namespace: "default", name: "classy" },
    spec: {
      topology: {
        classRef: { name: "in-memory" },
        version: "v1.34.4",
        controlPlane: { replicas: 1 },
        workers: { machineDeployments: [{ class: "general", name: "general", replicas: 2 }] },
        variables: [{ name: "bootSeconds", value: 3 }],
      },
    },
  } as Unstructured);
  let out = "";
  for (let i = 0; i < 60 && out !== "Cluster/classy is Healthy\n"; i++) {
    await plane.clock.advance(1000);
    ({ out } = await plane.run("why classy"));
  }
  expect(out).toBe("Cluster/classy is Healthy\n");
  const templates = await plane.run(
    "get memorymachinetemplates -o jsonpath={.items[*].spec.template.spec.bootSeconds}",
  );
  expect(templates.out).toContain("3");
  expect((await plane.run("get machines -o name")).out.trim().split("\n")).toHaveLength(2);
});
