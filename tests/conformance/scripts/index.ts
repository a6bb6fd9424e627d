import type { Script } from "../harness/script.ts";
import { serverSideApply } from "./apply.ts";
import { lifeCycle } from "./life-cycle.ts";
import { patches } from "./patches.ts";
import { requests } from "./requests.ts";

/** All scripts in the order they are told. */
export const scripts: readonly Script[] = [lifeCycle, requests, patches, serverSideApply];
