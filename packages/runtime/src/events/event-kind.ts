import type { KubeObject } from "@capstan/apimachinery";
import { kindRef } from "../kind.ts";

/** Names the object an event is about. */
export interface EventReference {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
}

/** events.k8s.io Event. */
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

/** The Event kind. */
export const EventKind = kindRef<EventObject>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
});
