import { compileSchema, isObject } from "@capstan/apimachinery";
import { type BareMetalHost, HOST_STATUS_ANNOTATION } from "../kinds/bare-metal-host.ts";
import { hostStatus } from "../kinds/bare-metal-host-status.ts";
import { emptyStatus, type HostStatus } from "./status.ts";

/** Returns the status that a move carried in an annotation; undefined if there is none or it cannot be parsed. */
export function carriedStatus(host: BareMetalHost): HostStatus | undefined {
  const text = host.metadata.annotations?.[HOST_STATUS_ANNOTATION];
  if (text === undefined || hasStatus(host)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return undefined;
    const schema = compileSchema(hostStatus.json);
    const status = { ...emptyStatus(), ...value };
    schema.prune(status, { root: false });
    return schema.validate(status).length === 0 ? status : undefined;
  } catch {
    return undefined;
  }
}

function hasStatus({ status }: BareMetalHost): boolean {
  return status !== undefined && (status.provisioning?.state ?? "") !== "";
}
