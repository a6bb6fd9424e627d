import { isObject } from "@capstan/apimachinery";
import type { HostIdentity } from "../provisioner.ts";
import { headerOf, type RedfishClient, type Resource } from "./client.ts";
import { RedfishError } from "./errors.ts";

/** The device that a system boots from. */
export type BootWish = "cd" | "disk";

/** Sets the device that a system boots from, unless it is already set. */
export async function setBoot(
  client: RedfishClient,
  system: Resource,
  wish: BootWish,
  mode: HostIdentity["bootMode"],
  signal: AbortSignal,
): Promise<void> {
  const boot = isObject(system["Boot"]) ? system["Boot"] : {};
  const path = String(system["@odata.id"]);
  const target = wish === "cd" ? cdTarget(boot) : "None";
  const enabled = wish === "cd" ? "Continuous" : "Disabled";
  if (boot["BootSourceOverrideTarget"] === target && boot["BootSourceOverrideEnabled"] === enabled) return;
  // Some do not know the mode: only what they show may be set.
  const withMode =
    wish === "cd" && boot["BootSourceOverrideMode"] !== undefined
      ? { BootSourceOverrideMode: mode === "legacy" ? "Legacy" : "UEFI" }
      : {};
  const tries: object[] =
    wish === "cd"
      ? [
          { BootSourceOverrideTarget: target, BootSourceOverrideEnabled: enabled, ...withMode },
          { BootSourceOverrideTarget: target, BootSourceOverrideEnabled: "Once", ...withMode },
          { BootSourceOverrideTarget: target, BootSourceOverrideEnabled: "Once" },
        ]
      : [
          { BootSourceOverrideEnabled: "Disabled" },
          { BootSourceOverrideTarget: "None", BootSourceOverrideEnabled: "Disabled" },
          { BootSourceOverrideTarget: "Hdd", BootSourceOverrideEnabled: "Continuous" },
        ];
  await firstAccepted(tries, (candidate) => patch(client, path, { Boot: candidate }, signal));
}

function cdTarget(boot: Readonly<Record<string, unknown>>): string {
  const allowed = boot["BootSourceOverrideTarget@Redfish.AllowableValues"];
  return Array.isArray(allowed) && !allowed.includes("Cd") && allowed.includes("UsbCd") ? "UsbCd" : "Cd";
}

/** Patches a resource; sends its ETag if the server requires one. */
export async function patch(client: RedfishClient, path: string, body: object, signal: AbortSignal): Promise<void> {
  try {
    await client.request("PATCH", path, body, signal);
  } catch (error) {
    if (!(error instanceof RedfishError) || (error.status !== 412 && error.status !== 428)) throw error;
    const etag = headerOf(await client.request("GET", path, undefined, signal), "etag") ?? "*";
    await client.request("PATCH", path, body, signal, { "if-match": etag });
  }
}

/** Tries variants of a request until the controller accepts one, because vendors differ. If all are rejected, throws the first error. */
export async function firstAccepted<T>(variants: readonly T[], send: (variant: T) => Promise<unknown>): Promise<void> {
  let first: unknown;
  for (const variant of variants) {
    try {
      await send(variant);
      return;
    } catch (error) {
      first ??= error;
      const refused =
        error instanceof RedfishError && (error.status === 400 || error.status === 422 || error.status === 501);
      if (!refused) throw error;
    }
  }
  throw first;
}
