import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Figure } from "../lib/result.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

interface Times {
  joinToReady: number;
  total: number;
}

/** Real nodes: tests/e2e/hosted-figures.bench.ts makes the machines, here its figures are judged. Nothing without root. */
export async function nodes(): Promise<Figure[]> {
  if (process.getuid?.() !== 0) {
    console.log("figures with real nodes are left out: they need root");
    return [];
  }
  const args = ["run", "--config", "tests/e2e/bench.config.mjs", "tests/e2e/hosted-figures.bench.ts"];
  const { stdout, status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", ...args], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const line = stdout.split("\n").find((each) => each.includes("FIGURE {"));
  if (status !== 0 || line === undefined) throw new Error(`the run with real nodes failed:\n${stdout}`);
  const { ours, peer } = JSON.parse(line.slice(line.indexOf("{"))) as { ours: Times; peer: Times };
  return [
    {
      name: "two hosts' kubeadm join to both Nodes Ready",
      value: ours.joinToReady,
      unit: "s",
      peer: peer.joinToReady,
      goal: "at most 1.2 times the same join against kubeadm's own control plane, and under 10",
      ok: ours.joinToReady <= 1.2 * peer.joinToReady && ours.joinToReady < 10,
    },
    {
      name: "one file to a Service answering over two real nodes",
      value: ours.total,
      unit: "s",
      peer: peer.total,
      goal: "at most 1.3 times the same steps by hand",
      ok: ours.total <= 1.3 * peer.total,
    },
  ];
}
