/** `npm run bench -- hosted`: hosted control planes, compared with the same done by hand. Figures with nodes need root. */

import { type Figure, report } from "../lib/result.ts";
import { embedded } from "./embedded.ts";
import { nodes } from "./nodes.ts";
import { processes } from "./processes.ts";

const short = process.argv.includes("--short");
const parts: (() => Promise<Figure[]>)[] = [
  () => processes({ samples: short ? 3 : 10, idlePlanes: short ? 2 : 10, idleSeconds: short ? 15 : 60 }),
  () => embedded(short ? 100 : 1000),
  nodes,
];
const figures: Figure[] = [];
for (const part of parts) {
  const measured = await part();
  for (const { name, value, peer, unit } of measured)
    console.log(`${name}: ${value.toFixed(3)} ${unit}${peer === null ? "" : `, peer ${peer.toFixed(3)}`}`);
  figures.push(...measured);
}
report("hosted", figures);
