import { expect, test } from "vitest";
import { settleNames } from "./crd-names.ts";
import type { CrdNames, CrdStatus, CustomResourceDefinition } from "./crd-object.ts";

const NOW = "2026-01-01T00:00:00Z";

function crd(names: CrdNames, group = "example.test", status?: CrdStatus): CustomResourceDefinition {
  const version = { name: "v1", served: true, storage: true };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${names.plural}.${group}` },
    spec: { group, scope: "Namespaced", names, versions: [version] },
    status,
  } as CustomResourceDefinition;
}

/** One that has been granted its names. */
function holder(names: CrdNames, group = "example.test"): CustomResourceDefinition {
  return crd(names, group, { acceptedNames: names, conditions: [], storedVersions: ["v1"] } as unknown as CrdStatus);
}

function settled(names: CrdNames, others: CustomResourceDefinition[], before?: CrdStatus): CrdStatus {
  const object = crd(names);
  settleNames(object, before, others, NOW);
  return object.status ?? expect.fail("no status");
}

const shown = ({ conditions = [] }: CrdStatus): string[] => conditions.map((c) => `${c.type}=${c.status} ${c.reason}`);

const widget: CrdNames = {
  plural: "widgets",
  singular: "widget",
  kind: "Widget",
  listKind: "WidgetList",
  shortNames: ["wd"],
};
const gadget: CrdNames = { plural: "gadgets", singular: "gadget", kind: "Gadget", listKind: "GadgetList" };

test.each<[string, Partial<CrdNames>, string]>([
  ["its plural is another's short name", { plural: "wd" }, "PluralConflict"],
  ["its singular is another's plural", { singular: "widgets" }, "SingularConflict"],
  ["its short name is another's singular", { shortNames: ["gd", "widget"] }, "ShortNamesConflict"],
  ["its kind is another's", { kind: "Widget" }, "KindConflict"],
  ["its kind is another's list", { kind: "WidgetList" }, "KindConflict"],
  ["its list is another's kind", { listKind: "Widget" }, "ListKindConflict"],
])("a CRD is not established when %s", (_, change, reason) => {
  const status = settled({ ...gadget, ...change }, [holder(widget)]);
  expect(shown(status)).toEqual([`NamesAccepted=False ${reason}`, "Established=False NotAccepted"]);
});

test("names of another group, or that another CRD only requests, are free", () => {
  const granted = ["NamesAccepted=True NoConflicts", "Established=True InitialNamesAccepted"];
  expect(shown(settled(gadget, [holder(gadget, "other.test")]))).toEqual(granted);
  const waiting = crd({ ...gadget, plural: "gizmos" });
  expect(shown(settled(gadget, [waiting]))).toEqual(granted);
});

test("keeps a CRD established with its old names when it requests another's", () => {
  const before = settled(gadget, []);
  const status = settled({ ...gadget, kind: "Widget" }, [holder(widget)], before);
  expect(shown(status)).toEqual(["NamesAccepted=False KindConflict", "Established=True InitialNamesAccepted"]);
  expect(status.acceptedNames?.kind).toBe("Gadget");
});
