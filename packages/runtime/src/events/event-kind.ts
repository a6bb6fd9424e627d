import type { KubeObject } from "@capstan/apimachinery";
import { kindRef } from "../kind.ts";

/** Refers to the object that an Event is about. */
export interface EventReference {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
}

/** An Event of events.k8s.io/v1. */
export interface EventObject extends KubeObject {
  eventTime?: string;
  series?: { count: number; lastObservedTime: string };
  reportingController?: string;
  reportingInstance?: string;
  action?: string;
  reason?: string;
  regarding?: EventReference;
  note?: string;
  type?: "Normal" | "Warning";
}

/** Refers to the Event kind. */
export const EventKind = kindRef<EventObject>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
});
