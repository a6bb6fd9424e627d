import { cp, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { clusterObjects, Machine, planWarnings, simulatedHost, workerOptions } from "@capstan/capi";
import { providerInfos } from "@capstan/dashboard-server";
import { ByoHost } from "@capstan/host-agent";
import { type ManagedProvider, PROVIDERS, withProviders } from "@capstan/manager";
import { afterAll, describe, expect, test } from "vitest";
import { Plane } from "../simulation/plane.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const REST = PROVIDERS.filter(({ name }) => name !== "byoh");

/** The folder of infra-byoh, outside this tree. */
const folder = await mkdtemp(join(tmpdir(), "capstan-moved-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
await cp(join(root, "providers/infra-byoh/src"), join(folder, "src"), { recursive: true });
await symlink(join(root, "node_modules"), join(folder, "node_modules"));
await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
await writeFile(join(folder, "provider.ts"), 'export { byoh as provider } from "./src/provider.ts";\n');

// Its own suites, which register their tests and hooks here. All of them: none reads a file of this tree.
const suites = (await readdir(join(folder, "src"), { recursive: true })).filter((name) => name.endsWith(".test.ts"));
describe.each(suites.sort())("%s, moved out of the tree", async (name) => {
  await import(pathToFileURL(join(folder, "src", name)).href);
});

async function loaded(): Promise<readonly ManagedProvider[]> {
  return await withProviders([join(folder, "provider.ts")], REST);
}

test("a provider that was moved out of the tree gives machines through the manager", async () => {
  const providers = await loaded();
  const plane = await Plane.start({ own: 1, metal: 0, providers });
  try {
    const group = { name: "own", provider: "byoh", replicas: 1, select: {}, settings: {} };
    const network = { podCidrs: ["10.244.0.0/16"], serviceCidrs: ["10.96.0.0/16"] };
    const plan = {
      name: "c1",
      namespace: "default",
      version: "v1.34.4",
      placement: "Embedded",
      labels: {},
      ...network,
    };
    for (const object of clusterObjects({ ...plan, workers: [group] }, providers)) await plane.client.create(object);
    await plane.until("machine", async () => {
      const [machine] = await plane.list(Machine);
      return machine?.status?.nodeRef !== undefined;
    });
    const [machine] = await plane.list(Machine);
    expect(machine?.spec.providerID).toMatch(/^byoh:\/\//);
    const host = await plane.get(ByoHost, "own-1");
    expect(simulatedHost({ ...host, kind: ByoHost.kind }, providers)?.effect).toBe(
      "it stops reporting, and so does its Node",
    );
  } finally {
    await plane.close();
  }
}, 60_000);

test("without it nothing of the product knows it; loaded from outside, create and the dashboard offer it", async () => {
  const names = (providers: readonly ManagedProvider[]): string[] => [...workerOptions(providers).keys()];
  expect(names(REST)).toEqual(["memory", "metal3", "kubernetes", "kvm"]);
  expect(() => planWarnings([{ name: "own", provider: "byoh", settings: {} }], REST)).toThrow(
    "no provider byoh offers workers",
  );
  const providers = await loaded();
  expect(names(providers)).toEqual(["memory", "metal3", "kubernetes", "kvm", "byoh"]);
  expect(providerInfos(providers).find(({ name }) => name === "byoh")?.badge).toEqual({
    label: "Your own hosts",
    color: "#0c8599",
  });
});
