import { deepEqual, findCondition, type LabelOperator, labelRequirement, labelSelector } from "@capstan/apimachinery";
import { explainNoHost as explain, type HostTexts } from "@capstan/capi";
import { type BareMetalHost, HOST_DETACHED_ANNOTATION, HOST_PAUSED_ANNOTATION } from "../kinds/bare-metal-host.ts";
import type { Metal3Machine } from "../kinds/metal3-machine.ts";
import { FAILURE_DOMAIN_LABEL, NODE_REUSE_LABEL, UNHEALTHY_ANNOTATIONS } from "./names.ts";

type HostSelector = NonNullable<NonNullable<Metal3Machine["spec"]>["hostSelector"]>;
type Labels = Readonly<Record<string, string>> | undefined;

const TEXTS: HostTexts = {
  hosts: "BareMetalHosts",
  none: "there are no BareMetalHosts in this namespace: register one",
  selector: "hostSelector",
  label: "one",
  domainLabel: FAILURE_DOMAIN_LABEL,
  free: "available",
};

/** What a machine requires of its host. */
export interface Wanted {
  selector?: HostSelector | undefined;
  failureDomain?: string | undefined;
}

/** Returns why a host cannot be used by any machine; undefined if it can, now or later. */
export function whyUnfit({ metadata, status }: BareMetalHost): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return "being deleted";
  if (metadata.annotations?.[HOST_PAUSED_ANNOTATION] !== undefined) return "paused";
  if (metadata.annotations?.[HOST_DETACHED_ANNOTATION] !== undefined) return "detached";
  if (UNHEALTHY_ANNOTATIONS.some((name) => metadata.annotations?.[name] !== undefined)) return "marked unhealthy";
  if ((status?.errorMessage ?? "") !== "") return "in error";
  const health = findCondition(status?.conditions ?? [], "Healthy");
  return health?.status === "False" && health.reason === "CriticalError" ? "in bad health" : undefined;
}

/** Returns why a host cannot be claimed now; undefined if it can. */
export function whyNotFree(host: BareMetalHost): string | undefined {
  const { metadata, spec, status } = host;
  if (spec.consumerRef !== undefined) return "in use";
  if (metadata.labels?.[NODE_REUSE_LABEL] !== undefined) return "kept for reuse";
  const unfit = whyUnfit(host);
  if (unfit !== undefined) return unfit;
  if (spec.image !== undefined || spec.customDeploy !== undefined) return "with their own image";
  return isAvailable(host) ? undefined : (status?.provisioning.state ?? "") || "not registered yet";
}

/** Reports whether a host is available for provisioning; `ready` is the earlier name of that state. */
export function isAvailable({ status }: BareMetalHost): boolean {
  return status?.provisioning.state === "available" || status?.provisioning.state === "ready";
}

/** Returns a predicate for hosts that meet a machine's requirements, whether or not they are free. */
export function hostMatches(wanted: Wanted): (host: BareMetalHost) => boolean {
  const selected = selectorOf(wanted.selector);
  const { failureDomain } = wanted;
  return ({ metadata }) =>
    selected(metadata.labels) &&
    (failureDomain === undefined || metadata.labels?.[FAILURE_DOMAIN_LABEL] === failureDomain);
}

/** Reports whether a change may have made a host claimable; labels decide which machines a free host matches. */
export function isNews(host: BareMetalHost, old: BareMetalHost | undefined): boolean {
  if (whyNotFree(host) !== undefined) return false;
  return old === undefined || whyNotFree(old) !== undefined || !deepEqual(host.metadata.labels, old.metadata.labels);
}

/** Describes why none of these hosts can be claimed, and what to do. */
export function explainNoHost(hosts: readonly BareMetalHost[], wanted: Wanted): string {
  return explain(hosts, TEXTS, {
    failureDomain: wanted.failureDomain,
    isSelected: hostMatches({ selector: wanted.selector }),
    isInDomain: hostMatches({ failureDomain: wanted.failureDomain }),
    why: (host) => whyNotFree(host) ?? "being claimed",
    cure: () => "register another, or wait",
  });
}

/** Selects labels as upstream does, which takes more operators than Kubernetes, in any case. A bad one selects nothing. */
function selectorOf(selector: HostSelector | undefined): (labels: Labels) => boolean {
  try {
    const exact = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) =>
      labelRequirement(key, "=", [value]),
    );
    const further = (selector?.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
      const word = operator.toLowerCase();
      return labelRequirement(key, (word === "doesnotexist" ? "!" : word) as LabelOperator, values);
    });
    const all = labelSelector([...exact, ...further]);
    return (labels) => all.matches(labels);
  } catch {
    return () => false;
  }
}
