import { trimEndOf } from "@capstan/apimachinery";
/** A parsed address of a management controller. */
export interface BmcAddress {
  readonly driver: "redfish" | "memory" | "other";
  /** Scheme without transport, e.g. `redfish-virtualmedia`. */
  readonly scheme: string;
  /** Base URL of requests, e.g. `https://10.0.0.5:8443`; empty for drivers that send none. */
  readonly origin: string;
  readonly host: string;
  /** Path of the System without trailing slash; empty means the only one. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly needsBootMac: boolean;
  /** Whether the driver of this address supports secure boot. */
  readonly secureBoot: boolean;
}

const REDFISH = new Set([
  "redfish",
  "redfish-virtualmedia",
  "redfish-uefihttp",
  "ilo5-redfish",
  "ilo5-virtualmedia",
  "idrac-redfish",
  "idrac-virtualmedia",
]);
/** Known to upstream, which drives them with Ironic. */
const OTHERS = new Set(["ipmi", "libvirt"]);

/** Parses `spec.bmc.address`; throws an error that describes what is invalid and the expected format. */
export function parseBmcAddress(text: string): BmcAddress {
  const match = /^([a-z0-9.-]+)(?:\+(https?))?:\/\/(.*)$/i.exec(text);
  const scheme = (match?.[1] ?? "ipmi").toLowerCase();
  const transport = match?.[2] ?? "https";
  const rest = match?.[3] ?? text;
  const driver = REDFISH.has(scheme) ? "redfish" : scheme === "memory" ? "memory" : "other";
  if (driver === "other" && !OTHERS.has(scheme))
    throw new Error(
      `the scheme ${scheme}:// is not supported: use one of redfish-virtualmedia://, redfish://, idrac-virtualmedia://, memory://`,
    );
  const url = parse(`${transport}://${rest}`, text);
  if (url.username !== "" || url.password !== "")
    throw new Error("the address must not hold a user name or password: put them into the Secret of credentialsName");
  const path = trimEndOf(url.pathname, "/");
  if (driver === "redfish" && /\/Managers(\/|$)/.test(path))
    throw new Error("the path names a Manager: use the path of the System, e.g. /redfish/v1/Systems/1");
  return {
    driver,
    scheme,
    origin: driver === "redfish" ? url.origin : "",
    host: url.hostname.replace(/^\[|\]$/g, ""),
    path: path === "/redfish/v1" ? "" : path,
    query: url.searchParams,
    needsBootMac: scheme === "libvirt",
    secureBoot: driver !== "other",
  };
}

function parse(url: string, text: string): URL {
  try {
    const parsed = new URL(url);
    if (parsed.hostname !== "") return parsed;
  } catch {
    // Said below, with the text as it was given.
  }
  throw new Error(
    `${JSON.stringify(text)} is not a valid address: it should look like redfish-virtualmedia://HOST[:PORT]/redfish/v1/Systems/ID`,
  );
}
