import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, seededRandom, systemClock } from "@capstan/apimachinery";
import { createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { expect, test } from "vitest";
import { PortAllocator } from "./ports.ts";
import { ProcessWorkloads } from "./process-workloads.ts";

const id = { owner: "default/c1", name: "web" };

/**
 * Every second connection shows another's certificate, as where two share a port. The check fails for good in the first two
 * processes and not in the third.
 */
const SHARES_ITS_PORT = `
  const fs = require("fs"), tls = require("tls"), [port, data, files] = process.argv.slice(1);
  fs.appendFileSync(data + "/starts", "x");
  const lost = fs.readFileSync(data + "/starts", "utf8").length < 3;
  const show = (name) => ({ cert: fs.readFileSync(files + "/" + name + ".crt"), key: fs.readFileSync(files + "/" + name + ".key") });
  const body = lost ? "[+]ping ok\\n[-]repair failed: reason withheld\\n" : "ok";
  const server = require("https").createServer(show("other"), (_, response) => response.writeHead(lost ? 500 : 200).end(body));
  let connections = 0;
  server.on("connection", () => server.setSecureContext(show(++connections % 2 ? "other" : "own")));
  server.listen(Number(port), "127.0.0.1");
`;

test("a program whose one call to itself reached another on its port is restarted until the call reaches itself", async () => {
  // What a real kube-apiserver gets seconds for takes a tenth here.
  const hasty: Clock = { ...systemClock, now: () => systemClock.now() * 10 };
  const root = await mkdtemp(join(tmpdir(), "capstan-lost-call-"));
  const workloads = new ProcessWorkloads({ root, clock: hasty });
  try {
    const { web: port = 0 } = await new PortAllocator(root).allocate(id.owner, ["web"], "127.0.0.1");
    const ready = new Promise<void>((resolve) => {
      workloads.subscribe(() => {
        void workloads.list(id.owner).then((states) => {
          if (states.some(({ phase }) => phase === "Ready")) resolve();
        });
      });
    });
    await workloads.ensure({
      id,
      command: process.execPath,
      args: ["-e", SHARES_ITS_PORT, String(port), "$DATA", "$FILES"],
      dataDir: true,
      secretFiles: { ...(await certificate("own")), ...(await certificate("other")) },
      probe: { url: `https://127.0.0.1:${port}/readyz`, servedBy: "own.internal", checkedOnce: "repair" },
    });
    await ready;
    expect(await readFile(join(root, "default/c1/web/data/starts"), "utf8")).toBe("xxx");
    // Not its fault: whoever counts restarts to give up does not count these.
    expect((await workloads.list(id.owner))[0]?.restarts).toBe(0);
  } finally {
    await workloads.stopAll(() => 0);
    await rm(root, { recursive: true, force: true });
  }
});

async function certificate(name: string): Promise<Record<string, string>> {
  const nowMs = systemClock.now();
  const random = seededRandom(5);
  const authority = await createCertificateAuthority({ commonName: "ca", notBeforeMs: nowMs, validMs: 1e9, random });
  const names = { commonName: name, dnsNames: [`${name}.internal`] };
  const leaf = await issueCertificate(authority, { ...names, usages: ["server"], nowMs, validMs: 1e9, random });
  return { [`${name}.crt`]: leaf.certPem, [`${name}.key`]: leaf.keyPem };
}
