import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { startKubeApiserver } from "@capstan/tests/real-kubernetes";
import type { Endpoint } from "../lib/https-client.ts";

/** One of the two servers compared. */
export interface Side {
  endpoint: Endpoint;
  /** All processes whose CPU and memory count. */
  pids: number[];
  stop(): Promise<void>;
}

/** The peer: real kube-apiserver and etcd with their default durability. */
export async function startPeer(): Promise<Side> {
  const real = await startKubeApiserver();
  const { etcd, apiserver } = real.components;
  return {
    endpoint: { server: real.server, caPem: real.caPem, ...real.admin },
    pids: [etcd.pid ?? 0, apiserver.pid ?? 0],
    stop: () => real.stop(),
  };
}

/** The server as the build leaves it, one file per module. */
export const BUILT = fileURLToPath(new URL("./server.js", import.meta.url));
/** The server in few files, as the product is installed. */
const BUNDLED = fileURLToPath(new URL("../bundled/server.js", import.meta.url));

/** Bundles the server as `npm run bundle` does the product. */
export function bundleOurs(): void {
  const tool = fileURLToPath(new URL("../../../tools/bundle/program.mjs", import.meta.url));
  const { status } = spawnSync(process.execPath, [tool, BUILT, dirname(BUNDLED)], { stdio: "inherit" });
  if (status !== 0) throw new Error("the server could not be bundled");
}

/** Ours, on a data directory. */
export function startOurs(dir: string, program = BUNDLED): Promise<Side> {
  const child = spawn(process.execPath, [program, dir], { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    let output = "";
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const match = /READY (.*)\n/.exec(output);
      if (match?.[1] === undefined) return;
      child.removeAllListeners("exit");
      resolve({ endpoint: JSON.parse(match[1]) as Endpoint, pids: [child.pid ?? 0], stop: () => end(child) });
    });
  });
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}
