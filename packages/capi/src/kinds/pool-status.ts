import { conditions } from "../schema/common.ts";
import type { PrinterColumnDefinition } from "../schema/kind.ts";
import { integer, object, optional } from "../schema/schema.ts";

const count = (doc: string) => integer({ doc, format: "int64" });

/** The status of a pool, of addresses as of prefixes: upstream has one shape for both. */
export const poolStatus = (what: "Addresses" | "Prefixes") =>
  object(
    {
      ipAddresses: optional(
        object(
          {
            total: count(`${what} of the pool.`),
            free: count(`${what} that are free.`),
            used: count(`${what} that are allocated.`),
            outOfRange: count(`${what} that are allocated and no longer in the pool.`),
          },
          { doc: `${what} of the pool by use.` },
        ),
      ),
      conditions: optional(conditions),
    },
    { doc: "Observed state of the pool." },
  );

/** Columns of a pool. */
export const poolColumns = (name: string, jsonPath: string): PrinterColumnDefinition[] => [
  { name, type: "string", jsonPath },
  { name: "Total", type: "integer", jsonPath: ".status.ipAddresses.total" },
  { name: "Free", type: "integer", jsonPath: ".status.ipAddresses.free" },
  { name: "Used", type: "integer", jsonPath: ".status.ipAddresses.used" },
];
