import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@capstan/apimachinery";
import { S3Store } from "@capstan/backup";
import { renderTemplate } from "@capstan/capi";
import { RedfishDriver } from "@capstan/infra-metal3";
import { Client, httpTransport, kindRef, kubeconfigFromText, openDialGate } from "@capstan/runtime";
import { HostileServer } from "./foreign-servers.ts";
import { isBusy, slowness } from "./machine-speed.ts";
import { NO_STALL, type Stall, stallMeter } from "./stall-meter.ts";

const LIMIT_CPU_MS = 200;
const LIMIT_HELD_MS = 250;
const LIMIT_MEMORY_MB = 256;
const ATTEMPTS = 3;

interface ForeignCase {
  readonly name: string;
  run(): Promise<unknown>;
}

/** The effect of untrusted documents on the event loop and on the memory. */
export interface ForeignOutcome {
  readonly cases: number;
  readonly longest: Stall;
  readonly at: string;
  readonly megabytes: number;
}

const clock = systemClock;
const gate = openDialGate();
const Node = kindRef({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });

/**
 * Reads malicious documents: listings, responses, kubeconfigs and templates. None may block the event loop, fill the memory,
 * or be read without end.
 */
export async function foreignRounds(): Promise<ForeignOutcome> {
  const scratchDir = mkdtempSync(join(tmpdir(), "capstan-foreign-"));
  const meter = stallMeter();
  const slow = slowness();
  const failures: string[] = [];
  let longest = NO_STALL;
  let at = "";
  let megabytes = 0;
  try {
    const cases = [...templates(), ...kubeconfigs(), ...stores(scratchDir), ...clusters(), ...controllers()];
    for (const one of cases) {
      const stalls: Stall[] = [];
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const before = process.memoryUsage().rss;
        meter.start();
        const end = await one.run().then(String, String);
        if (end.includes("a hostile server")) failures.push(`${one.name}: ${end}`);
        stalls.push(meter.stop());
        if (process.env["FAULTS_VERBOSE"] !== undefined) console.log(`    ${one.name}: ${end.slice(0, 100)}`);
        megabytes = Math.max(megabytes, (process.memoryUsage().rss - before) / 1024 / 1024);
      }
      // A busy machine or its garbage collector is slow once, a malicious document always.
      const cpuMs = Math.min(...stalls.map((stall) => stall.cpuMs));
      const heldMs = Math.min(...stalls.map((stall) => stall.heldMs));
      if (cpuMs > LIMIT_CPU_MS * slow || (heldMs > LIMIT_HELD_MS * slow && !isBusy()))
        failures.push(`${one.name}: ${cpuMs.toFixed(0)} ms of processor time, ${heldMs.toFixed(0)} held`);
      if (cpuMs > longest.cpuMs) [longest, at] = [{ cpuMs, heldMs, clockMs: heldMs }, one.name];
    }
    if (megabytes > LIMIT_MEMORY_MB) failures.push(`the memory grew by ${megabytes.toFixed(0)} MB`);
    if (failures.length > 0) throw new Error(`documents that hold up everybody:\n  ${failures.join("\n  ")}`);
    return { cases: cases.length, longest, at, megabytes };
  } finally {
    rmSync(scratchDir, { recursive: true, force: true });
  }
}

function templates(): ForeignCase[] {
  const bombs: Record<string, string> = {
    "a value that is in itself": "{{$x := list 1}}{{range until 60}}{{$x = list $x $x}}{{end}}{{toJson $x}}",
    "a long replacement": '{{replace "" (repeat 900000 "x") (repeat 900000 "y")}}',
    "a step that leads nowhere": "{{untilStep 9007199254740992 9007199254741000 1}}",
    "a format with two readings": '{{printf (print "%" (repeat 900000 "0"))}}',
    "a pattern that repeats": '{{regexMatch "(.{900}){900}" (repeat 900000 "y")}}',
    "long YAML": '{{fromYaml (repeat 100000 "- {a: [b, c]}\\n")}}',
    "text again and again": '{{$y := repeat 300000 "ab "}}{{range until 9000}}{{$z := upper $y}}{{end}}',
  };
  return Object.entries(bombs).map(([name, template]) => ({
    name: `template: ${name}`,
    run: async () => renderTemplate(template, {}).length,
  }));
}

const configText = (server: string): string =>
  JSON.stringify({
    "current-context": "a",
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    clusters: [{ name: "a", cluster: { server } }],
    users: [{ name: "a", user: { token: "t" } }],
  });

function kubeconfigs(): ForeignCase[] {
  const line = "- {a: [b, {c: d}], e: &x [f, g], h: *x}\n";
  return [
    { name: "kubeconfig: long", run: () => kubeconfigFromText(line.repeat(1_000), { clock, gate }) },
    { name: "kubeconfig: huge", run: () => kubeconfigFromText(line.repeat(100_000), { clock, gate }) },
    { name: "kubeconfig: deep", run: () => kubeconfigFromText("[".repeat(100_000), { clock, gate }) },
  ];
}

function stores(scratchDir: string): ForeignCase[] {
  const list =
    (answer: Parameters<typeof HostileServer.start>[0], mostRequests: number, mostMegabytes: number) =>
    async (): Promise<void> => {
      const server = await HostileServer.start(answer);
      const keys = { accessKeyId: "id", secretAccessKey: "key" };
      const store = new S3Store({
        field: "spec.etcd.backup.s3",
        endpoint: server.url,
        bucket: "b",
        ...keys,
        scratchDir,
        clock,
        gate,
      });
      await store.list("default/c1").catch(() => undefined);
      within(server, mostRequests, mostMegabytes);
    };
  return [
    { name: "object store: elements without end", run: list((_, r) => r.end("<Contents>".repeat(400_000)), 1, 1) },
    {
      name: "object store: pages without end",
      run: list((_, r) => r.end("<NextContinuationToken>x</NextContinuationToken>"), 20, 1),
    },
    { name: "object store: bytes without end", run: list((_, r, server) => void server.endless(r), 1, 16) },
  ];
}

function clusters(): ForeignCase[] {
  const read =
    (answer: Parameters<typeof HostileServer.start>[0], mostRequests: number, mostMegabytes: number) =>
    async (): Promise<void> => {
      const server = await HostileServer.start(answer);
      const transport = httpTransport(await kubeconfigFromText(configText(server.url), { clock, gate }), { clock });
      const client = new Client(transport, { fieldManager: "faults", clock, maxObjects: 10_000 });
      await client.list(Node).catch(() => undefined);
      await transport.close();
      within(server, mostRequests, mostMegabytes);
    };
  const page = JSON.stringify({ metadata: { continue: "more" }, items: [] });
  return [
    {
      name: "workload cluster: pages without end",
      run: read((_, r) => r.setHeader("content-type", "application/json").end(page), 101, 1),
    },
    { name: "workload cluster: bytes without end", run: read((_, r, server) => void server.endless(r), 1, 48) },
  ];
}

function controllers(): ForeignCase[] {
  const run = async (): Promise<void> => {
    const members = Array.from({ length: 20_000 }, (_, i) => ({ "@odata.id": `/members/${i}` }));
    const bodies: Record<string, object> = {
      "/redfish/v1/Systems/1": { "@odata.id": "/redfish/v1/Systems/1", EthernetInterfaces: { "@odata.id": "/all" } },
      "/all": { Members: members },
    };
    const server = await HostileServer.start((path, response) =>
      response.setHeader("content-type", "application/json").end(JSON.stringify(bodies[path] ?? {})),
    );
    const driver = new RedfishDriver({
      clock,
      gate,
      media: {} as never,
      images: {} as never,
      open: () => Promise.reject(new Error("no image")),
    });
    const { host } = new URL(server.url);
    const identity = {
      address: `redfish-virtualmedia+http://${host}/redfish/v1/Systems/1`,
      credentials: { username: "u", password: "p" },
    };
    const { signal } = new AbortController();
    await driver.inspect(identity as never, signal);
    await driver.close(signal);
    within(server, 300, 1);
  };
  return [{ name: "management controller: members without end", run }];
}

function within(server: HostileServer, mostRequests: number, mostMegabytes: number): void {
  server.close();
  const { requests, megabytes } = server;
  if (requests > mostRequests || megabytes > mostMegabytes)
    throw new Error(`a hostile server was asked ${requests} times and sent ${megabytes} MB`);
}
