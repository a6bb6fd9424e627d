import type { CrdCondition, CrdNames, CrdStatus, CustomResourceDefinition } from "./crd-object.ts";
import { withCondition } from "./crd-object.ts";

/** The outcome of checking a CRD's names against the other CRDs of its group. */
interface Naming {
  readonly accepted: CrdNames;
  readonly condition: CrdCondition;
}

/** Checks the wanted names against what other CRDs of the group have been granted; a name once granted stays until replaced. */
function nameCrd(
  crd: CustomResourceDefinition,
  old: CrdNames | undefined,
  others: readonly CustomResourceDefinition[],
): Naming {
  const wanted = crd.spec.names;
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const other of others) {
    if (other.spec.group !== crd.spec.group || other.metadata.name === crd.metadata.name) continue;
    const names = other.status?.acceptedNames;
    if (names === undefined) continue;
    for (const name of [names.plural, names.singular, ...(names.shortNames ?? [])]) if (name) resources.add(name);
    for (const kind of [names.kind, names.listKind]) if (kind) kinds.add(kind);
  }
  const accepted: CrdNames = { plural: old?.plural ?? "", kind: old?.kind ?? "" };
  let conflict: { reason: string; message: string } | undefined;
  const check = (taken: boolean, reason: string, name: string, accept: () => void): void => {
    if (taken) conflict = { reason, message: `${JSON.stringify(name)} is already in use` };
    else accept();
  };
  check(resources.has(wanted.plural), "PluralConflict", wanted.plural, () => {
    accepted.plural = wanted.plural;
  });
  const singular = wanted.singular ?? "";
  check(singular !== "" && resources.has(singular), "SingularConflict", singular, () => {
    if (singular !== "") accepted.singular = singular;
  });
  const takenShort = (wanted.shortNames ?? []).filter((name) => resources.has(name));
  check(takenShort.length > 0, "ShortNamesConflict", takenShort[0] ?? "", () => {
    if (wanted.shortNames !== undefined) accepted.shortNames = [...wanted.shortNames];
  });
  check(kinds.has(wanted.kind), "KindConflict", wanted.kind, () => {
    accepted.kind = wanted.kind;
  });
  const listKind = wanted.listKind ?? "";
  check(listKind !== "" && kinds.has(listKind), "ListKindConflict", listKind, () => {
    if (listKind !== "") accepted.listKind = listKind;
  });
  if (wanted.categories !== undefined) accepted.categories = [...wanted.categories];
  const condition: CrdCondition =
    conflict === undefined
      ? { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" }
      : { type: "NamesAccepted", status: "False", ...conflict };
  return { accepted, condition };
}

const NOT_ESTABLISHED: CrdCondition = {
  type: "Established",
  status: "False",
  reason: "NotAccepted",
  message: "not all names are accepted",
};

const ESTABLISHED: CrdCondition = {
  type: "Established",
  status: "True",
  reason: "InitialNamesAccepted",
  message: "the initial names have been accepted",
};

/**
 * Fills in what upstream's naming and establishing controllers write a moment later: here it is part of the request, so that a CRD is
 * served as soon as it is created. A CRD that was established stays so. `before` is the status that is stored.
 */
export function settleNames(
  crd: CustomResourceDefinition,
  before: CrdStatus | undefined,
  others: readonly CustomResourceDefinition[],
  now: string,
): void {
  const { accepted, condition } = nameCrd(crd, before?.acceptedNames, others);
  let conditions = withCondition(before?.conditions ?? [], condition, now);
  const established = conditions.some((c) => c.type === "Established" && c.status === "True");
  if (!established)
    conditions = withCondition(conditions, condition.status === "True" ? ESTABLISHED : NOT_ESTABLISHED, now);
  const approval = approvalCondition(crd);
  if (approval !== undefined) conditions = withCondition(conditions, approval, now);
  crd.status = { ...before, conditions, acceptedNames: accepted, storedVersions: storedVersions(crd, before) };
}

/** Versions that may be on disk: what was, and the storage version of today. */
function storedVersions(crd: CustomResourceDefinition, before: CrdStatus | undefined): string[] {
  const known = before?.storedVersions ?? [];
  const storage = crd.spec.versions.find((v) => v.storage)?.name;
  return storage === undefined || known.includes(storage) ? [...known] : [...known, storage];
}

const APPROVAL = "api-approved.kubernetes.io";

/** Groups that belong to the Kubernetes community need an approval annotation. */
export function isProtectedGroup(group: string): boolean {
  return /(^|\.)(k8s|kubernetes)\.io$/.test(group);
}

/** What the approval annotation says; `invalid` when it is neither a link nor an admission of having none. */
export function approvalOf(crd: CustomResourceDefinition): "missing" | "invalid" | "unapproved" | "approved" {
  const value = crd.metadata.annotations?.[APPROVAL];
  if (value === undefined || value === "") return "missing";
  if (value.startsWith("unapproved")) return "unapproved";
  return URL.canParse(value) ? "approved" : "invalid";
}

function approvalCondition(crd: CustomResourceDefinition): CrdCondition | undefined {
  if (!isProtectedGroup(crd.spec.group)) return undefined;
  const type = "KubernetesAPIApprovalPolicyConformant";
  const value = crd.metadata.annotations?.[APPROVAL] ?? "";
  switch (approvalOf(crd)) {
    case "approved":
      return { type, status: "True", reason: "ApprovedAnnotation", message: `approved in ${value}` };
    case "unapproved":
      return {
        type,
        status: "False",
        reason: "UnapprovedAnnotation",
        message: `not approved: ${JSON.stringify(value)}`,
      };
    case "invalid":
      return {
        type,
        status: "False",
        reason: "InvalidAnnotation",
        message: `protected groups must have approval annotation "${APPROVAL}" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`,
      };
    case "missing":
      return {
        type,
        status: "False",
        reason: "MissingAnnotation",
        message: `protected groups must have approval annotation "${APPROVAL}", see https://github.com/kubernetes/enhancements/pull/1111`,
      };
  }
}
