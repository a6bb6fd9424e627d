import type { KubeObject } from "@capstan/apimachinery";

/** Tells people what happened to an object, as Kubernetes events. */
export interface Recorder {
  /**
   * Records an event. `reason` is a CamelCase word for machines, `action` what was done or tried, `note` a sentence for people.
   * Never fails and never waits.
   */
  event(object: KubeObject, type: "Normal" | "Warning", reason: string, action: string, note: string): void;
  /** The same under a controller's own name; controllers get theirs this way. */
  named?(controller: string): Recorder;
}

/** Drops everything. */
export const silentRecorder: Recorder = { event: () => undefined };
