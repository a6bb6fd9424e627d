import { isObject } from "@capstan/apimachinery";
import {
  type BareMetalHost,
  HOST_DETACHED_ANNOTATION,
  HOST_INSPECT_ANNOTATION,
  HOST_REBOOT_ANNOTATION,
} from "../kinds/bare-metal-host.ts";
import type { PowerOffMode } from "../provisioner/provisioner.ts";

/** The reboot that a host's annotations request. */
export interface RebootWish {
  /** Reboot once; the annotation is removed when the host is off. */
  readonly once: boolean;
  /** Annotation keys that keep the host off until they are removed. */
  readonly holders: readonly string[];
  readonly mode: PowerOffMode;
}

/** Returns the requested reboot, or undefined. A value that cannot be parsed counts as empty: a soft reboot. */
export function rebootWish(host: BareMetalHost): RebootWish | undefined {
  const wishes = Object.entries(host.metadata.annotations ?? {}).filter(
    ([key]) => key === HOST_REBOOT_ANNOTATION || key.startsWith(`${HOST_REBOOT_ANNOTATION}/`),
  );
  if (wishes.length === 0) return undefined;
  return {
    once: wishes.some(([key]) => key === HOST_REBOOT_ANNOTATION),
    holders: wishes.map(([key]) => key).filter((key) => key !== HOST_REBOOT_ANNOTATION),
    mode: wishes.some(([, value]) => jsonOf(value)?.["mode"] === "hard") ? "hard" : "soft",
  };
}

/** Returns how the host is to be detached, or undefined if it is not. */
export function detachWish(host: BareMetalHost): { force: boolean; delayDelete: boolean } | undefined {
  const value = host.metadata.annotations?.[HOST_DETACHED_ANNOTATION];
  if (value === undefined) return undefined;
  const json = jsonOf(value);
  return { force: json?.["force"] === true, delayDelete: json?.["deleteAction"] === "delay" };
}

/** Reports whether inspection of a host is disabled. */
export function inspectionDisabled(host: BareMetalHost): boolean {
  return host.spec.inspectionMode === "disabled" || host.metadata.annotations?.[HOST_INSPECT_ANNOTATION] === "disabled";
}

/** Reports whether an annotation requests another inspection. */
export function inspectionWanted(host: BareMetalHost): boolean {
  const value = host.metadata.annotations?.[HOST_INSPECT_ANNOTATION];
  return value !== undefined && value !== "disabled";
}

function jsonOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
