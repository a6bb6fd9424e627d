import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ApiProcess } from "./api-process.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const OBJECTS = 400;

/**
 * A server on a small disk of its own that another program fills: writes fail with the reason, reads and deletions keep working,
 * readiness says why, restarts serve reads, and writes continue once there is space. Needs root for the disk; reports that otherwise.
 */
export async function fullDiskServer(root: string): Promise<string> {
  const disk = join(root, "disk");
  mkdirSync(disk);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=96m", "tmpfs", disk]).status !== 0)
    return "left out: no disk of its own can be mounted here";
  try {
    return await onDisk(disk);
  } finally {
    spawnSync("umount", ["-l", disk]);
  }
}

async function onDisk(disk: string): Promise<string> {
  const data = join(disk, "data");
  const filler = join(disk, "filler");
  let api = await ApiProcess.start(data);
  try {
    for (let i = 0; i < OBJECTS; i++) await expectStatus(api, "POST", MAPS, 201, configMap(`m${i}`));
    fill(filler);
    // The first request that finds the disk full is a deletion.
    await expectStatus(api, "DELETE", `${MAPS}/m0`, 200);
    const refused = await untilRefused(api);
    if (!refused.includes("no space left on")) throw new Error(`a full disk gave: ${refused}`);
    const ready = await api.json("GET", "/readyz?verbose");
    if (ready?.status !== 500 || !ready.body.includes("no space left on"))
      throw new Error(`a full disk left /readyz at ${ready?.status}: ${ready?.body}`);
    await expectStatus(api, "GET", `${MAPS}/m1`, 200);
    for (let i = 1; i < OBJECTS / 2; i++) await expectStatus(api, "DELETE", `${MAPS}/m${i}`, 200);
    for (let restart = 0; restart < 3; restart++) {
      // The other program continues: it fills the released space, too.
      fill(filler);
      await api.kill("SIGKILL");
      api = await ApiProcess.start(data);
      await expectStatus(api, "GET", `${MAPS}/m${OBJECTS - 1}`, 200);
      await expectStatus(api, "GET", `${MAPS}/m1`, 404);
      await expectStatus(api, "DELETE", `${MAPS}/m${OBJECTS - 2 - restart}`, 200);
    }
    rmSync(filler);
    rmSync(`${filler}.more`, { force: true });
    await expectStatus(api, "GET", "/readyz", 200);
    await expectStatus(api, "POST", MAPS, 201, configMap("after"));
    return `"${refused.slice(0, 120)}"; reads, ${OBJECTS / 2 + 3} deletions and three restarts worked, writes continued with space`;
  } finally {
    await api.kill("SIGKILL");
  }
}

/** Fills the disk to the last block. */
function fill(file: string): void {
  for (const [name, size] of [
    [file, 1 << 20],
    [`${file}.more`, 4096],
  ] as const) {
    const block = Buffer.alloc(size);
    try {
      for (;;) writeFileSync(name, block, { flag: "a" });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
    }
  }
}

/** LMDB still has pages to use for a while after the disk is full. */
async function untilRefused(api: ApiProcess): Promise<string> {
  for (let i = 0; i < 200; i++) {
    const answer = await api.json("POST", MAPS, configMap(`more${i}`));
    if (answer?.status !== 201) return `${answer?.status}: ${answer?.body ?? "the connection broke"}`;
  }
  throw new Error("200 writes were accepted on a full disk");
}

async function expectStatus(
  api: ApiProcess,
  method: string,
  path: string,
  status: number,
  body?: object,
): Promise<void> {
  const answer = await api.json(method, path, body);
  if (answer?.status !== status)
    throw new Error(`${method} ${path}: ${answer?.status} ${answer?.body}, wanted ${status}`);
}

function configMap(name: string): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { padding: "x".repeat(20_000) } };
}
