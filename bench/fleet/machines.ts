import { onRealMachines } from "../lib/real-machines.ts";
import type { Figure } from "../lib/result.ts";

/** How many times as long as by hand a control plane may take. */
const TIMES = 1.3;

/** Control planes on real machines: tests/e2e/kcp-figures.bench.ts makes them, here its figures are judged. Nothing without root. */
export function machines(): Figure[] {
  const compared = onRealMachines<"oneToThree" | "nextMinor">("kcp-figures.bench.ts");
  if (compared === undefined) return [];
  const { ours, peer } = compared;
  const judged = (name: string, value: number, byHand: number): Figure => ({
    name,
    value,
    unit: "s",
    peer: byHand,
    goal: `at most ${TIMES} times the same kubeadm commands by hand`,
    ok: value <= TIMES * byHand,
  });
  return [
    judged("real machines: 1 to 3", ours.oneToThree, peer.oneToThree),
    judged("real machines: three to the next minor version", ours.nextMinor, peer.nextMinor),
  ];
}
