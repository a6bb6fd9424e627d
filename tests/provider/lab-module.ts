import { systemClock } from "@capstan/apimachinery";
import { labProvider } from "./lab.ts";
import { MemoryLab } from "./memory-lab.ts";

/** The provider as `capstan up --provider` loads it. */
export const provider = labProvider(new MemoryLab({ clock: systemClock, hosts: { "rack-1": 3 }, bootMs: 0 }));
