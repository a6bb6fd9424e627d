import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TREE_INPUTS } from "@capstan/node-image";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runNodeImageBuild } from "./node-image.run.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-node-image-"));
  const key = createHash("sha256").update(JSON.stringify(TREE_INPUTS)).digest("hex").slice(0, 12);
  // As an earlier build left it.
  mkdirSync(join(folder, "data/node-image", `tree-${key}`, "etc"), { recursive: true });
  mkdirSync(join(folder, "bin"));
  for (const name of ["kubelet", "kubectl", "kubeadm"]) {
    writeFileSync(join(folder, "bin", name), '#!/bin/sh\n[ "$1" = version ] && echo v1.37.1\n');
    chmodSync(join(folder, "bin", name), 0o755);
  }
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the command; returns its exit code, or what its error says and advises. */
async function build(version: string, options: Record<string, string>): Promise<unknown> {
  let printed = "";
  const print = (text: string): void => {
    printed += text;
  };
  const io = { out: print, err: print, env: {}, interactive: false };
  const input = { arguments: [version], options: { data: join(folder, "data"), ...options }, lists: {}, io };
  return await runNodeImageBuild(input).then(
    (code) => ({ code, printed }),
    ({ message, hint }: Error & { hint?: string }) => ({ message, hint }),
  );
}

describe.skipIf(process.getuid?.() !== 0)("capstan node-image build", () => {
  test("builds an archive from given programs and an image of the sandbox", async () => {
    const output = join(folder, "out/node.tar");
    const options = {
      programs: join(folder, "bin"),
      output,
      sandboxImage: "example.com/pause:1",
      tag: "example.com/node:1",
    };
    expect(await build("v1.37.1", options)).toEqual({
      code: 0,
      printed: `adding Kubernetes and images\nwriting ${output}\nexample.com/node:1 is in ${output}\n`,
    });
    expect(existsSync(output)).toBe(true);
  });

  test("explains what is wrong with the programs, and the cure", async () => {
    const options = { programs: join(folder, "bin"), output: join(folder, "node.tar") };
    expect(await build("v1.36.3", options)).toEqual({
      message: `kubeadm in ${options.programs} is v1.37.1, not v1.36.3`,
      hint: "build the image of v1.37.1, or take other programs",
    });
    expect(existsSync(options.output)).toBe(false);
  });

  test("refuses to download what is no version", async () => {
    expect(await build("latest", {})).toEqual({ message: "latest is not a version", hint: "write it like v1.37.1" });
  });
});
