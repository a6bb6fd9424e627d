import type { KubeObject } from "@capstan/apimachinery";

/** Records Kubernetes Events about objects. */
export interface Recorder {
  /**
   * Records an event. `reason` is a CamelCase word for machines, `action` what was done or tried, `note` a sentence for people.
   * Never fails and never waits.
   */
  event(object: KubeObject, type: "Normal" | "Warning", reason: string, action: string, note: string): void;
  /** The same under a controller's own name; controllers get theirs this way. */
  named?(controller: string): Recorder;
}

/** A recorder that drops every Event. */
export const silentRecorder: Recorder = { event: () => undefined };
