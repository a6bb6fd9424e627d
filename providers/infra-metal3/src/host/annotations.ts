import { isObject } from "@capstan/apimachinery";
import {
  type BareMetalHost,
  HOST_DETACHED_ANNOTATION,
  HOST_INSPECT_ANNOTATION,
  HOST_REBOOT_ANNOTATION,
} from "../kinds/bare-metal-host.ts";
import type { PowerOffMode } from "../provisioner/provisioner.ts";

/** What the reboot annotations of a host ask for. */
export interface RebootWish {
  /** Reboot once: the annotation is removed when the host is off. */
  readonly once: boolean;
  /** Keys of those who want the host to stay off until they remove them. */
  readonly holders: readonly string[];
  readonly mode: PowerOffMode;
}

/** What is asked for, or undefined. A value that cannot be read counts as empty: a soft reboot. */
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

/** How a host is to be let go of, or undefined. */
export function detachWish(host: BareMetalHost): { force: boolean; delayDelete: boolean } | undefined {
  const value = host.metadata.annotations?.[HOST_DETACHED_ANNOTATION];
  if (value === undefined) return undefined;
  const json = jsonOf(value);
  return { force: json?.["force"] === true, delayDelete: json?.["deleteAction"] === "delay" };
}

/** Whether a host is not to be inspected. */
export function inspectionDisabled(host: BareMetalHost): boolean {
  return host.spec.inspectionMode === "disabled" || host.metadata.annotations?.[HOST_INSPECT_ANNOTATION] === "disabled";
}

/** Whether somebody asked for another inspection. */
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
