/** What is said to the real programs when they are recorded, and again by the tests to the recording. */

/** A guest that reports a panic to pvpanic as soon as it runs: mov dx,0x505; mov al,1; out dx,al; hlt; jmp back to hlt. */
export const BOOT_SECTOR = Buffer.alloc(512);
BOOT_SECTOR.set([0xba, 0x05, 0x05, 0xb0, 0x01, 0xee, 0xf4, 0xeb, 0xfd]);
BOOT_SECTOR.set([0x55, 0xaa], 510);

/**
 * @param {import("../src/index.ts").Qmp} qmp
 * @param {import("../src/index.ts").VmControl} control
 * @param {import("./conversations.d.mts").NextEvent} next
 */
export async function talkToQemu(qmp, control, next) {
  const seen = [];
  seen.push(await control.status());
  await control.resume();
  seen.push(await next("resumed"), await next("guestPanicked"), await next("stopped"));
  seen.push(await control.status());
  await control.reset();
  seen.push(await next("reset"));
  await control.resume();
  seen.push(await next("guestPanicked"));
  const sizes = await control.diskBytes();
  seen.push([...sizes]);
  await control.growDisk("disk0", 2 * 1024 ** 2);
  seen.push([...(await control.diskBytes())]);
  seen.push(await control.growDisk("disk0", 1024).catch((error) => error.message));
  seen.push(await control.memoryBytes());
  await control.setMemory(64 * 1024 ** 2);
  seen.push(
    await qmp.execute("capstan-nonsense").catch(({ problem, refusal, message }) => [problem, refusal, message]),
  );
  await control.powerDown();
  seen.push(await next("powerDownRequested"));
  await control.quit();
  seen.push(await next("shutdown"));
  return seen;
}

/** @param {import("../src/index.ts").GuestAgent} agent */
export async function talkToAgent(agent) {
  const seen = [];
  await agent.ping();
  seen.push(await agent.networkInterfaces());
  seen.push(
    await agent.exec({ path: "/bin/sh", args: ["-c", "cat; echo failed >&2; exit 3"], input: "in the guest\n" }),
  );
  seen.push(await agent.exec({ path: "/bin/sh", args: ["-c", "kill -9 $$"] }));
  seen.push(await agent.exec({ path: "/nonexistent" }).catch(({ problem, refusal }) => [problem, refusal]));
  return seen;
}
