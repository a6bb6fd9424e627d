import { clusterNetwork } from "@capstan/controlplane";
import { expect, test } from "vitest";
import { apiAddresses } from "./api-addresses.ts";
import { clusterObjects } from "./prepare-cluster.ts";

const names: Record<string, string[]> = { "lb.example.org": ["192.0.2.9", "192.0.2.3", "192.0.2.9"] };
const resolve = (host: string): Promise<string[]> => {
  const found = names[host];
  return found === undefined ? Promise.reject(new Error("ENOTFOUND")) : Promise.resolve(found);
};

test.each([
  ["192.0.2.1", { addresses: ["192.0.2.1"] }],
  ["lb.example.org", { addresses: ["192.0.2.3", "192.0.2.9"], recheckMs: 60_000 }],
  ["nowhere.example.org", { addresses: [], recheckMs: 60_000 }],
])("%s", async (host, expected) => {
  expect(await apiAddresses(host, resolve)).toEqual(expected);
});

test("kubernetes.default gets all addresses of a load balancer's name", async () => {
  const { addresses } = await apiAddresses("lb.example.org", resolve);
  const objects = clusterObjects({
    clusterName: "c1",
    version: "v1.34.4",
    endpoint: { host: "lb.example.org", port: 443 },
    addresses,
    network: clusterNetwork(undefined),
    imageRepository: "registry.k8s.io",
    caPem: "PEM",
    spec: { version: "v1.34.4" },
  });
  expect(objects.find(({ kind }) => kind === "EndpointSlice")).toMatchObject({
    endpoints: [{ addresses: ["192.0.2.3", "192.0.2.9"] }],
    ports: [{ port: 443 }],
  });
});
