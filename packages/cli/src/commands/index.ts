import type { CommandDefinition } from "../command.ts";
import { describeCluster } from "./describe-cluster.ts";
import { down, status } from "./status.ts";
import { up } from "./up.ts";

/** Every command, in the order help shows them. */
export const COMMANDS: readonly CommandDefinition[] = [up, status, down, describeCluster];
