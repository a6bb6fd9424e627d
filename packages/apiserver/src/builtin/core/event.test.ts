import { deepCopy, type Unstructured } from "@capstan/apimachinery";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { event, groupEvent } from "./event.ts";

const stored: Unstructured = {
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: "e", namespace: "default" },
  involvedObject: { kind: "Machine", name: "m", namespace: "default", uid: "u" },
  reason: "Started",
  message: "it runs",
  source: { component: "c", host: "h" },
  firstTimestamp: "2026-01-02T03:04:05Z",
  lastTimestamp: "2026-01-02T03:05:05Z",
  count: 2,
  type: "Normal",
};

const view = groupEvent.storedAs;
if (view === undefined) throw new Error("events.k8s.io has no storage of its own");

describe("events in both groups", () => {
  it("are shown with the names of events.k8s.io", () => {
    expect(view.fromStorage(stored)).toEqual({
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: stored.metadata,
      regarding: stored.involvedObject,
      reason: "Started",
      note: "it runs",
      deprecatedSource: { component: "c", host: "h" },
      deprecatedFirstTimestamp: "2026-01-02T03:04:05Z",
      deprecatedLastTimestamp: "2026-01-02T03:05:05Z",
      deprecatedCount: 2,
      type: "Normal",
    });
  });

  it("come back as they were, and the stored object stays untouched", () => {
    const fields = ["reason", "message", "count", "reportingComponent", "series", "action", "eventTime"];
    fc.assert(
      fc.property(fc.subarray(fields), fc.string(), (present, value) => {
        // Go writes some fields of an event even when they are not set, and so every stored event has them.
        const object: Unstructured = {
          apiVersion: "v1",
          kind: "Event",
          metadata: { name: "e" },
          source: {},
          firstTimestamp: null,
          lastTimestamp: null,
          eventTime: null,
          reportingComponent: "",
          reportingInstance: "",
        };
        for (const field of present) object[field] = value;
        const before = deepCopy(object);
        expect(view.toStorage(view.fromStorage(object))).toEqual(before);
        expect(object).toEqual(before);
      }),
    );
  });

  it("are selected by the same fields", () => {
    const field = "involvedObject.name";
    expect(event.fieldSelectors[field]?.(stored)).toBe("m");
    expect(groupEvent.fieldSelectors[field]?.(view.fromStorage(stored))).toBe("m");
    expect(groupEvent.fieldSelectors["regarding.name"]?.(view.fromStorage(stored))).toBe("m");
    expect(event.fieldSelectors.source?.(stored)).toBe("c");
    expect(event.fieldSelectors.source?.({ ...stored, source: {}, reportingComponent: "r" })).toBe("r");
  });

  it("may change only their series through events.k8s.io", () => {
    const fresh: Unstructured = {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name: "e", namespace: "default" },
      eventTime: "2026-01-02T03:04:05.000000Z",
      reportingController: "example.test/c",
      reportingInstance: "i",
      action: "A",
      reason: "R",
      type: "Normal",
      regarding: { namespace: "default" },
    };
    const check = (change: object): string[] =>
      (groupEvent.strategy.validateUpdate?.({ ...fresh, ...change }, fresh, "") ?? []).map((e) => e.field);
    expect(check({ series: { count: 2, lastObservedTime: "2026-01-02T03:04:06.000000Z" } })).toEqual([]);
    expect(check({ series: { count: 1 } })).toEqual(["series.count", "series.lastObservedTime"]);
    expect(check({ note: "other", reportingController: "example.test/d" })).toEqual(["message", "reportingController"]);
  });
});
