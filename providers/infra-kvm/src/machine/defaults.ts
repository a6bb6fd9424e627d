import type { KVMMachine } from "../kinds/kvm-machine.ts";
import { mibOf } from "../kinds/size.ts";

type Spec = NonNullable<KVMMachine["spec"]>;

const CPUS = 4;
const MEMORY = "8Gi";
const GRACE_SECONDS = 600;

/** What a spec that does not say otherwise means. */
export interface Defaults {
  readonly cpus: number;
  readonly memoryMib: number;
  readonly graceMs: number;
}

/** Returns the size of a machine and how long it may take to shut down. */
export function defaultsOf({ resources, shutdown }: Spec): Defaults {
  return {
    cpus: resources?.cpu ?? CPUS,
    memoryMib: mibOf(resources?.memory ?? MEMORY) ?? 0,
    graceMs: 1000 * (shutdown?.graceSeconds ?? GRACE_SECONDS),
  };
}
