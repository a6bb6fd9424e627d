import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@capstan/apimachinery";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runBootstrap } from "./bootstrap.ts";
import { redact, tail } from "./redact.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-bootstrap-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

// Commands are real processes, so the clock is real; nothing waits for time.
const run = (data: string, more: object = {}) =>
  runBootstrap(data, {
    clock: systemClock,
    metadata: { local_hostname: "h1" },
    defaultInterface: "eth0",
    root,
    ...more,
  });

test("files are written with mode and content, templates filled in, commands run in order", async () => {
  const report = await run(`## template: jinja
#cloud-config

write_files:
-   path: /etc/join.yaml
    permissions: '0640'
    content: |
      name: {{ ds.meta_data.local_hostname }}
      device: {{ .DefaultNetworkInterfaceName }}
runcmd:
  - echo one
  - ["sh", "-c", "echo two"]
`);
  expect(report).toMatchObject({ ok: true });
  expect(await readFile(join(root, "etc/join.yaml"), "utf8")).toBe("name: h1\ndevice: eth0\n");
  expect((await stat(join(root, "etc/join.yaml"))).mode & 0o777).toBe(0o640);
  expect(report.steps.map((step) => [step.name, step.exitCode])).toEqual([
    ["write /etc/join.yaml", undefined],
    ["echo one", 0],
    ["sh -c echo two", 0],
  ]);
});

test("the first command that fails ends it, in the command's own words", async () => {
  const report = await run("#cloud-config\nruncmd:\n- echo no space left on device >&2; exit 3\n- echo never\n");
  expect(report.ok).toBe(false);
  expect(report.message).toContain("ended with code 3: no space left on device");
  expect(report.steps).toHaveLength(1);
});

test("what cannot be done is refused by name before anything is touched", async () => {
  const report = await run(
    "#cloud-config\nwrite_files:\n- path: /x\n  content: y\nmounts:\n- [a, b]\npackages: [vim]\n",
  );
  expect(report.ok).toBe(false);
  expect(report.message).toContain("asks for mounts, packages");
  await expect(stat(join(root, "x"))).rejects.toThrow();
});

test("data that is no cloud-config is an answer, not an exception", async () => {
  expect((await run("#!/bin/sh\necho hi")).message).toContain("cannot be read");
});

test("secrets never leave the host", async () => {
  const report = await run(
    "#cloud-config\nruncmd:\n- 'echo kubeadm join --token abcdef.0123456789abcdef --certificate-key=c0ffee'\n",
  );
  expect(JSON.stringify(report)).not.toContain("0123456789abcdef");
  expect(redact("-----BEGIN EC PRIVATE KEY-----\nabc\n-----END EC PRIVATE KEY-----")).toBe("***");
  expect(redact("https://user:hunter2@example.dev/x")).toBe("https://user:***@example.dev/x");
  expect(redact("password: hunter2")).toBe("password: ***");
  expect(tail("x".repeat(5000)).length).toBeLessThanOrEqual(2049);
});
