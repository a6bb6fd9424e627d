import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "@capstan/apimachinery";
import { httpTransport, loadKubeconfig, silentLogger } from "@capstan/runtime";
import { expect, test } from "vitest";
import { startStandalone } from "./standalone.ts";

test("the API's metrics hold those of the controllers, for whom the API allows", async () => {
  const dir = await mkdtemp(join(tmpdir(), "capstan-standalone-"));
  const standalone = await startStandalone({
    dataDir: join(dir, "data"),
    listen: { host: "127.0.0.1", port: 0 },
    version: "test",
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
  });
  try {
    const config = await loadKubeconfig({ clock: systemClock, path: standalone.kubeconfig });
    const admin = httpTransport(config, { clock: systemClock });
    const page = await admin.request({ method: "GET", path: "/metrics" });
    expect(page.status).toBe(200);
    const text = String(page.body);
    expect(text).toContain("apiserver_request_total");
    expect(text).toMatch(/controller_runtime_max_concurrent_reconciles\{controller="cluster"\} [1-9]/);
    expect(text).toMatch(/rest_client_requests_total\{code="200",method="GET",host="embedded"\} [1-9]/);
    // Prometheus rejects a page that declares a family twice.
    const families = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    expect(new Set(families).size).toBe(families.length);
    await admin.close();
    const { credentials: _none, ...nobody } = config;
    const stranger = httpTransport(nobody, { clock: systemClock });
    expect((await stranger.request({ method: "GET", path: "/metrics" })).status).toBe(403);
    await stranger.close();
  } finally {
    await standalone.close(true);
    await rm(dir, { recursive: true, force: true });
  }
});

test("a start that fails leaves neither a listener nor a lock: the next one works", async () => {
  const dir = await mkdtemp(join(tmpdir(), "capstan-standalone-"));
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const options = {
    dataDir: join(dir, "data"),
    listen: { host: "127.0.0.1", port: 0 },
    version: "test",
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
  };
  try {
    const dashboard = { pageDir: dir, listen: { host: "127.0.0.1", port } };
    await expect(startStandalone({ ...options, dashboard })).rejects.toThrow("EADDRINUSE");
    const config = await loadKubeconfig({ clock: systemClock, path: join(options.dataDir, "kubeconfig") });
    const left = httpTransport(config, { clock: systemClock });
    await expect(left.request({ method: "GET", path: "/readyz" })).rejects.toThrow("ECONNREFUSED");
    await left.close();
    await (await startStandalone(options)).close(true);
  } finally {
    taken.close();
    await rm(dir, { recursive: true, force: true });
  }
});
