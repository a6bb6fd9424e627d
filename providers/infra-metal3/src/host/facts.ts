import type { Condition, KubeObject } from "@capstan/apimachinery";
import { conditionsOf, type HostFacts, notReady } from "@capstan/capi";
import type { BareMetalHost } from "../kinds/bare-metal-host.ts";

/** What lists of hosts show of a BareMetalHost. */
export function factsOf(object: KubeObject): HostFacts {
  const { metadata, spec, status } = object as BareMetalHost;
  const { cpu, ramMebibytes, nics, systemVendor } = status?.hardware ?? {};
  const { manufacturer, productName } = systemVendor ?? {};
  const machine = spec?.consumerRef?.name;
  const free = machine === undefined ? "Free" : "In use";
  return {
    state: metadata.deletionTimestamp === undefined ? (status?.provisioning?.state ?? free) : "Deleting",
    ready: readyOf(object as BareMetalHost),
    machine,
    system: [manufacturer, productName].filter((part) => part !== undefined && part !== "").join(" ") || undefined,
    architecture: cpu?.arch ?? spec?.architecture,
    cpus: cpu?.count,
    memoryMiB: ramMebibytes,
    addresses: (nics ?? []).flatMap(({ ip }) => ip ?? []),
  };
}

/** The error of a host, which its Ready condition does not show: a host is Ready only while a machine uses it. */
export function troubleOf(object: KubeObject): Condition | undefined {
  const { metadata, status } = object as BareMetalHost;
  const { errorMessage = "", errorType = "", lastUpdated } = status ?? {};
  if (errorMessage === "") return undefined;
  // status.lastUpdated changes with every attempt, so a condition that shows the error counts first.
  const shown = conditionsOf(object as { status?: unknown })
    .filter(({ status: value, message }) => value === "False" && message === errorMessage)
    .map(({ lastTransitionTime }) => lastTransitionTime)
    .sort();
  const since = shown.at(-1) ?? lastUpdated ?? metadata.creationTimestamp ?? "";
  return notReady("False", errorType === "" ? "Error" : errorType, errorMessage, since);
}

/** The conditions to judge a host by: a free one is judged by its operational status alone, as nothing makes it Ready. */
export function judgedConditions(object: KubeObject): Condition[] {
  const host = object as BareMetalHost;
  const free = host.spec?.consumerRef === undefined && readyOf(host) === "True";
  return free ? [] : conditionsOf(object as { status?: unknown });
}

/** What the operational status says; undefined without one. */
function readyOf({ status }: BareMetalHost): Condition["status"] | undefined {
  const operational = status?.operationalStatus ?? "";
  if (operational === "") return undefined;
  return operational === "OK" || operational === "detached" ? "True" : "False";
}
