import { chmod, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@capstan/apimachinery";
import { afterEach, beforeEach, expect, test } from "vitest";
import { qemuProgram } from "./qemu-program.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-vm-qemu-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function qemu(script: string) {
  const program = join(folder, "qemu");
  await writeFile(program, `#!/bin/sh\n${script}\n`);
  await chmod(program, 0o755);
  return qemuProgram({ clock: new VirtualClock(), program, folder });
}

test("reads the version of QEMU", async () => {
  const found = await qemu("echo 'QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)'");
  expect(await found.version()).toBe("7.2.22");
});

test.each([
  ["that is too old", "echo 'QEMU emulator version 6.2.0'", "QemuTooOld"],
  ["that is none", "echo hello", "QemuNotFound"],
])("refuses a program %s", async (_what, script, reason) => {
  await expect((await qemu(script)).version()).rejects.toMatchObject({ reason });
});

test("reports a program that is missing", async () => {
  const missing = qemuProgram({ clock: new VirtualClock(), program: join(folder, "none"), folder });
  await expect(missing.version()).rejects.toMatchObject({ reason: "QemuNotFound" });
});

test("probes KVM once, with a boot sector that the program reads", async () => {
  const found = await qemu(`echo x >> ${folder}/runs; exit 33`);
  expect((await found.accelerator()).accelerator).toBe("kvm");
  expect(await found.accelerator()).toBe(await found.accelerator());
  expect((await readFile(join(folder, "runs"), "utf8")).trim()).toBe("x");
  expect((await readdir(folder)).sort()).toEqual(["qemu", "runs"]);
});

test("falls back to emulation when the probe fails", async () => {
  const found = await qemu("echo 'failed to initialize kvm: Permission denied' >&2; exit 1");
  expect(await found.accelerator()).toMatchObject({
    accelerator: "tcg",
    message: expect.stringContaining("Permission"),
  });
});

test("probes KVM again after a probe that failed", async () => {
  const found = await qemu(`test -e ${folder}/works && exit 33; exit 1`);
  expect((await found.accelerator()).accelerator).toBe("tcg");
  await writeFile(join(folder, "works"), "");
  expect((await found.accelerator()).accelerator).toBe("kvm");
});

test("probes KVM again after a probe that could not be made", async () => {
  const found = await qemu("exit 33");
  const other = `${folder}-moved`;
  await rename(folder, other);
  await expect(found.accelerator()).rejects.toThrow("ENOENT");
  await rename(other, folder);
  expect((await found.accelerator()).accelerator).toBe("kvm");
});
