/** `npm run bench -- hosted`: hosted control planes, beside the same done by hand. Figures with nodes need root. */

import { report } from "../lib/result.ts";
import { embedded } from "./embedded.ts";
import { nodes } from "./nodes.ts";
import { processes } from "./processes.ts";

const short = process.argv.includes("--short");
const figures = [
  ...(await processes({ samples: short ? 3 : 10, idlePlanes: short ? 2 : 10, idleSeconds: short ? 15 : 60 })),
  ...(await embedded(short ? 100 : 1000)),
  ...(await nodes()),
];
report("hosted", figures);
