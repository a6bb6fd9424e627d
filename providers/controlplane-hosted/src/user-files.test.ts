import { readFileSync } from "node:fs";
import { systemClock } from "@capstan/apimachinery";
import type { ReconcileContext } from "@capstan/runtime";
import { expect, test } from "vitest";
import type { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import { readUserFiles } from "./user-files.ts";

/** Processor time of the main thread, as the kernel counts it. */
function usedMs(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;
}

/** Returns the canonical files of kube-apiserver with these contents. */
async function write(contents: string[]): ReturnType<typeof readUserFiles> {
  const files = contents.map((content, index) => ({ name: `file-${index}.yaml`, content }));
  const object = { metadata: {}, spec: { version: "v1.34.4", apiServer: { files } } } as unknown as HostedControlPlane;
  return await readUserFiles(object, "Process", { clock: systemClock } as unknown as ReconcileContext);
}

const policy = (users: number): string =>
  `apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: None\n  users: [${"a, ".repeat(users)}a]\n`;

test("large files do not block the event loop, and get the same output as small ones", async () => {
  const contents = Array.from({ length: 6 }, (_, index) => policy(21_000 + index));
  const before = usedMs();
  const read = await write(contents);
  expect(usedMs() - before).toBeLessThan(300);
  const files = "files" in read ? Object.values(read.files.apiServer) : [];
  expect(files.map((text) => JSON.parse(text).rules[0].users.length)).toEqual(
    contents.map((_, index) => 21_001 + index),
  );
});

test("rejects a large file for the same reasons as a small one", async () => {
  for (const users of [1, 21_000])
    expect(await write([`${policy(users)}omitStages: &a []\n`])).toEqual({
      problem: "spec.apiServer.files: file-0.yaml has an anchor in line 6; remove it and write the value out",
    });
});
