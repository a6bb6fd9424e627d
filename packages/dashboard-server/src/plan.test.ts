import type { ApiRequest, Transport } from "@capstan/apimachinery";
import { PROVIDERS } from "@capstan/manager/providers";
import { expect, test } from "vitest";
import { plannedCluster } from "./plan.ts";

const group = { name: "a", provider: "byoh", replicas: 1, select: {}, settings: {} };
const plan = {
  name: "c",
  namespace: "default",
  version: "v1.36.3",
  podCidrs: ["192.168.0.0/16"],
  serviceCidrs: ["10.0.0.0/16"],
  labels: {},
  workers: [group],
};

/** Answers a plan, and the paths that were read for it. */
async function ask(change: object): Promise<{ status: number; paths: string[] }> {
  const paths: string[] = [];
  const transport = {
    request: async ({ path }: ApiRequest) => {
      paths.push(path);
      return { status: 200, headers: {}, body: { items: [] }, warnings: [] };
    },
  } as unknown as Transport;
  const { status } = await plannedCluster(transport, JSON.stringify({ ...plan, ...change }), PROVIDERS);
  return { status, paths };
}

test("a plan reads the hosts of its namespace", async () => {
  const { status, paths } = await ask({});
  expect(status).toBe(200);
  expect(paths).toEqual(["/apis/infrastructure.cluster.x-k8s.io/v1beta2/namespaces/default/byohosts"]);
});

test.each(["..", "", "a/b", "Edge", "a b"])("no hosts are read for the namespace %j", async (namespace) => {
  expect(await ask({ namespace })).toEqual({ status: 200, paths: [] });
});

test.each<[string, object]>([
  ["more groups than anybody plans", { workers: Array(101).fill(group) }],
  ["a pool that is a text", { pool: "x" }],
  ["a group that is null", { workers: [null] }],
  ["a provider that is a property of every object", { workers: [{ ...group, provider: "constructor" }] }],
  ["hosts selected by numbers", { workers: [{ ...group, select: { a: 1 } }] }],
])("a plan with %s is refused, and nothing is read", async (_, change) => {
  expect(await ask(change)).toEqual({ status: 400, paths: [] });
});
