import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PortAllocator } from "@capstan/workloads";
import { afterEach, beforeEach, expect, test } from "vitest";

/** Attack: a tenant asks for port after port of the management host, to learn what control planes other namespaces have. */
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-ports-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** The message for a tenant who requests the port of `victim/payroll`. */
async function refusal(owner: string): Promise<string> {
  const ports = new PortAllocator(root);
  const { api = 0 } = await ports.allocate("victim/payroll", ["api"], "127.0.0.1");
  return await ports.allocate(owner, ["api"], "127.0.0.1", { api }).then(
    () => "allocated",
    (error: unknown) => String(error),
  );
}

test("whose a port is remains unknown to other namespaces", async () => {
  const said = await refusal("tenant/c1");
  expect(said).toContain("belongs to a control plane of another namespace");
  expect(said).not.toMatch(/victim|payroll/);
});

test("within a namespace the message names the control plane", async () => {
  expect(await refusal("victim/c1")).toContain("belongs to victim/payroll");
});
