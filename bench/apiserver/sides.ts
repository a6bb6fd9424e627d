import { type ChildProcess, spawn } from "node:child_process";
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

/** Ours, on a data directory. */
export function startOurs(dir: string): Promise<Side> {
  const child = spawn(process.execPath, [fileURLToPath(new URL("./server.js", import.meta.url)), dir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
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
