import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ConfigMap, Secret, secretText } from "@capstan/capi";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { crashAtEveryWrite, type Plane } from "../../core/src/testing/plane.ts";
import {
  CLUSTER,
  createCluster,
  createMachine,
  initialize,
  namespace,
  read,
  secretWith,
  startPlane,
  tokens,
} from "./testing/world.ts";

const testdata = fileURLToPath(new URL("../testdata/certificates.yaml", import.meta.url));
const certificates = parse(readFileSync(testdata, "utf8")) as Record<string, Record<string, string>>;
const UP = { infrastructureProvisioned: true, controlPlaneInitialized: true };

async function secretNames(plane: Plane): Promise<string[]> {
  const { items } = await plane.user.list(Secret, { namespace });
  return items.map(({ metadata }) => metadata.name ?? "").sort();
}

test("killed after any write, workers end with one token each and data that holds it", {
  timeout: 60_000,
}, async () => {
  const workloads = new Map<Plane, Awaited<ReturnType<Plane["addWorkload"]>>>();
  const writes = await crashAtEveryWrite({
    start: () => startPlane(),
    act: async (plane) => {
      await plane.user.create(secretWith(`${CLUSTER}-ca`, certificates["ca"] ?? {}));
      workloads.set(plane, await plane.addWorkload(namespace, CLUSTER));
      await createCluster(plane, UP);
      await createMachine(plane, { name: "a" });
      await createMachine(plane, { name: "b" });
    },
    wait: (plane) => plane.clock.advance(60_000),
    state: async (plane) => {
      const workload = workloads.get(plane);
      if (workload === undefined) throw new Error("no workload cluster");
      const made = (await tokens(workload)).map(
        (secret) => `${secretText(secret, "token-id")}.${secretText(secret, "token-secret")}`,
      );
      const configs = await Promise.all(["a", "b"].map((name) => read(plane, name)));
      return {
        tokens: made.length,
        usable: configs.map(({ secret }) => made.some((token) => secretText(secret, "value")?.includes(token))),
        statuses: configs.map(({ config }) => ({
          name: config.status?.dataSecretName,
          conditions: config.status?.conditions?.map(({ type, status }) => `${type}=${status}`),
        })),
        secrets: await secretNames(plane),
      };
    },
    check: (actual, expected, after) => expect(actual, `killed after write ${after}`).toEqual(expected),
  });
  expect(writes).toBeGreaterThanOrEqual(6);
});

test("killed after any write, one Machine initializes and the other joins", { timeout: 60_000 }, async () => {
  const writes = await crashAtEveryWrite({
    start: () => startPlane(),
    act: async (plane) => {
      for (const [purpose, data] of Object.entries(certificates))
        await plane.user.create(secretWith(`${CLUSTER}-${purpose}`, data));
      await createCluster(plane, { infrastructureProvisioned: true });
      await createMachine(plane, { name: "a", controlPlane: true });
      await createMachine(plane, { name: "b", controlPlane: true });
    },
    wait: async (plane) => {
      await plane.clock.advance(60_000);
      // The control plane comes up once its first node has data.
      if ((await read(plane, "a")).config.status?.dataSecretName === undefined) return;
      await plane.addWorkload(namespace, CLUSTER).catch(() => undefined);
      await initialize(plane, UP);
      await plane.clock.advance(60_000);
    },
    state: async (plane) => ({
      lock: await plane.user.get(ConfigMap, { namespace, name: `${CLUSTER}-lock` }),
      init: await Promise.all(
        ["a", "b"].map(async (name) => secretText((await read(plane, name)).secret, "value")?.includes("kubeadm init")),
      ),
      secrets: await secretNames(plane),
    }),
    check: (actual, expected, after) => expect(actual, `killed after write ${after}`).toEqual(expected),
  });
  expect(writes).toBeGreaterThanOrEqual(6);
});
