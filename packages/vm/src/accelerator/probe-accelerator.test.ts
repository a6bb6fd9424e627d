import { VirtualClock } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { probeSector } from "./boot-sector.ts";
import { type ProbeRunner, probeAccelerator } from "./probe-accelerator.ts";

type Run = ProbeRunner["run"];

function runner(run: Run): ProbeRunner {
  return { store: () => Promise.resolve("/tmp/a,b"), run };
}

/** As KVM does that accepts a machine and never runs it. */
const hangs: Run = (_args, signal) =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve({ exitCode: undefined, stderr: "" }));
  });

test("the sector is the one that ran on QEMU, with the mark of a boot sector", () => {
  const sector = Buffer.from(probeSector());
  expect(sector.subarray(0, 17).toString("hex")).toBe("fa66b900000008664975fcb010e6f4f400");
  expect(sector.subarray(17, 510).every((byte) => byte === 0)).toBe(true);
  expect([sector.length, sector[510], sector[511]]).toEqual([512, 0x55, 0xaa]);
});

test("trusts KVM once the sector has run, on the processor that machines have", async () => {
  let seen: readonly string[] = [];
  const run: Run = (args) => {
    seen = args;
    return Promise.resolve({ exitCode: 33, stderr: "" });
  };
  const clock = new VirtualClock();
  expect(await probeAccelerator(runner(run), clock)).toEqual({ accelerator: "kvm", message: "KVM works" });
  expect(seen.join(" ")).toContain(
    "-accel kvm -cpu host,pmu=off -drive file=/tmp/a,,b,format=raw,if=floppy,readonly=on",
  );
  expect(clock.nextTimer()).toBeUndefined();
});

test("emulates when the sector has not run to its end within 3 s", async () => {
  const clock = new VirtualClock();
  const verdict = probeAccelerator(runner(hangs), clock);
  let decided = false;
  void verdict.then(() => {
    decided = true;
  });
  await clock.advance(2999);
  expect(decided).toBe(false);
  await clock.advance(1);
  expect(await verdict).toEqual({
    accelerator: "tcg",
    message: "QEMU emulates the processor, since KVM does not work: a boot sector did not run to its end within 3 s",
  });
});

test.each<[string, Run, string]>([
  [
    "the last line of QEMU",
    () => Promise.resolve({ exitCode: 1, stderr: "warning\nfailed to initialize kvm: Permission denied\n" }),
    "failed to initialize kvm: Permission denied",
  ],
  ["the exit code", () => Promise.resolve({ exitCode: 0, stderr: "" }), "QEMU exited with code 0"],
  ["that QEMU is missing", () => Promise.reject(new Error("spawn qemu ENOENT")), "spawn qemu ENOENT"],
])("says why it emulates: %s", async (_what, run, reason) => {
  const { accelerator, message } = await probeAccelerator(runner(run), new VirtualClock());
  expect(accelerator).toBe("tcg");
  expect(message).toContain(reason);
});
