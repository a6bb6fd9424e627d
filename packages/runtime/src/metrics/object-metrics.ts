import type { Gauge, Registry } from "prom-client";
import type { Cache } from "../cache/cache.ts";
import type { KindRef } from "../kind.ts";

/** A controller and the kind that it reconciles. */
export interface ObjectSubject {
  readonly controller: string;
  readonly kind: KindRef;
  lastReconciledMs: number | undefined;
}

/**
 * Registers gauges that reveal stuck objects: creation, deletion and last reconcile times. They are computed from the cache at each scrape
 * and disappear with their objects.
 */
export function observeObjects(
  GaugeClass: typeof Gauge,
  registry: Registry,
  cache: Cache,
  subjects: readonly ObjectSubject[],
): void {
  const labelNames = ["controller", "kind", "namespace", "name"] as const;
  const perObject = (name: string, help: string, field: "creationTimestamp" | "deletionTimestamp"): void => {
    const gauge: Gauge<(typeof labelNames)[number]> = new GaugeClass({
      name,
      help,
      labelNames,
      registers: [registry],
      collect: () => {
        gauge.reset();
        for (const { controller, kind } of subjects) {
          if (!cache.synced(kind)) continue;
          for (const { metadata } of cache.list(kind)) {
            const time = metadata[field];
            if (time === undefined) continue;
            const labels = {
              controller,
              kind: kind.kind,
              namespace: metadata.namespace ?? "",
              name: metadata.name ?? "",
            };
            gauge.set(labels, Date.parse(time) / 1000);
          }
        }
      },
    });
  };
  perObject(
    "capstan_controller_creation_timestamp",
    "When an object was created, in Unix seconds",
    "creationTimestamp",
  );
  perObject(
    "capstan_controller_deletion_timestamp",
    "Since when an object is being deleted, in Unix seconds; only while it is",
    "deletionTimestamp",
  );
  const last: Gauge<"controller" | "kind"> = new GaugeClass({
    name: "capstan_controller_last_reconciled",
    help: "When a controller last reconciled an object of its kind, in Unix seconds",
    labelNames: ["controller", "kind"] as const,
    registers: [registry],
    collect: () => {
      for (const { controller, kind, lastReconciledMs } of subjects) {
        if (lastReconciledMs !== undefined) last.set({ controller, kind: kind.kind }, lastReconciledMs / 1000);
      }
    },
  });
}
