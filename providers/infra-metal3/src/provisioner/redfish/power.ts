import { isObject } from "@capstan/apimachinery";
import type { HardwareHealth, PowerOffMode } from "../provisioner.ts";
import { type RedfishClient, type Resource } from "./client.ts";
import { RedfishError } from "./errors.ts";

/** Returns the power state that a system reports. */
export function powerStateOf(system: Resource): "On" | "Off" | "PoweringOn" | "PoweringOff" {
  const state = system["PowerState"];
  return state === "Off" || state === "PoweringOn" || state === "PoweringOff" ? state : "On";
}

/** Returns the health that a system reports, including its components if available; undefined if it reports none. */
export function healthOf(system: Resource): HardwareHealth | undefined {
  const status = isObject(system["Status"]) ? system["Status"] : {};
  const word = status["HealthRollup"] ?? status["Health"];
  return word === "OK" || word === "Warning" || word === "Critical" ? word : undefined;
}

const ON = ["On", "ForceOn", "PushPowerButton"];
const OFF: Readonly<Record<PowerOffMode, readonly string[]>> = {
  soft: ["GracefulShutdown", "ForceOff", "PushPowerButton"],
  hard: ["ForceOff", "ForceRestart"],
};
const RESTART: Readonly<Record<PowerOffMode, readonly string[]>> = {
  soft: ["GracefulRestart", "ForceRestart", "PowerCycle"],
  hard: ["ForceRestart", "PowerCycle", "GracefulRestart"],
};

/** The requested power change. */
export type PowerWish = { readonly to: "on" } | { readonly to: "off" | "restart"; readonly mode: PowerOffMode };

/** Requests a power change with the first suitable reset type that the system supports, and returns that type. */
export async function reset(
  client: RedfishClient,
  system: Resource,
  wish: PowerWish,
  signal: AbortSignal,
): Promise<string> {
  const actions = system["Actions"];
  const action = isObject(actions) ? actions["#ComputerSystem.Reset"] : undefined;
  const target = isObject(action) && typeof action["target"] === "string" ? action["target"] : undefined;
  if (!isObject(action) || target === undefined)
    throw new RedfishError(
      `${String(system["@odata.id"])} has no action #ComputerSystem.Reset: is spec.bmc.address that of a System?`,
    );
  const wanted = wish.to === "on" ? ON : wish.to === "off" ? OFF[wish.mode] : RESTART[wish.mode];
  const allowed = await allowedTypes(client, action, signal);
  const type = allowed === undefined ? wanted[0] : wanted.find((candidate) => allowed.includes(candidate));
  if (type === undefined)
    throw new RedfishError(
      `The system supports none of the reset types ${wanted.join(", ")}, only ${allowed?.join(", ")}`,
    );
  await client.request("POST", target, { ResetType: type }, signal);
  return type;
}

async function allowedTypes(
  client: RedfishClient,
  action: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  const values = action["ResetType@Redfish.AllowableValues"];
  if (Array.isArray(values)) return values.map(String);
  const info = action["@Redfish.ActionInfo"];
  const described = typeof info === "string" ? await client.find(info, signal) : undefined;
  const parameters = Array.isArray(described?.["Parameters"]) ? described["Parameters"] : [];
  const parameter: unknown = parameters.find((entry) => isObject(entry) && entry["Name"] === "ResetType");
  return isObject(parameter) && Array.isArray(parameter["AllowableValues"])
    ? parameter["AllowableValues"].map(String)
    : undefined;
}
