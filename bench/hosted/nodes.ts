import { onRealMachines } from "../lib/real-machines.ts";
import type { Figure } from "../lib/result.ts";

/** Real nodes: tests/e2e/hosted-figures.bench.ts makes the machines, here its figures are judged. Nothing without root. */
export async function nodes(): Promise<Figure[]> {
  const compared = onRealMachines<"joinToReady" | "total">("hosted-figures.bench.ts");
  if (compared === undefined) return [];
  const { ours, peer } = compared;
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
