import { type Clock, formatTime, isObject, shareEqualParts, type Unstructured } from "@capstan/apimachinery";
import { defineBuiltin } from "../builtin/define.ts";
import { prefixOf } from "../store/keys.ts";
import type { ObjectStore } from "../store/object-store.types.ts";
import type { ResourceType, Strategy } from "../types.ts";
import { CRD_COLUMNS } from "./crd-columns.ts";
import { settleNames } from "./crd-names.ts";
import { CLEANUP_FINALIZER, CRD_KEY, type CustomResourceDefinition, withCondition } from "./crd-object.ts";
import { judgeSchemas, validateCrd, validateCrdUpdate } from "./crd-validation.ts";
import { crdWarnings } from "./crd-warnings.ts";

/** Defaults of a decoded CRD. */
function applyDefaults(object: Unstructured): void {
  const { spec } = object as CustomResourceDefinition;
  if (!isObject(spec)) return;
  spec.conversion ??= { strategy: "None" };
  if (spec.conversion.strategy === undefined) spec.conversion.strategy = "None";
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service !== undefined) service.port ??= 443;
  if (!isObject(spec.names)) return;
  const { kind } = spec.names;
  if (typeof kind !== "string" || kind === "") return;
  if (!spec.names.singular) spec.names.singular = kind.toLowerCase();
  if (!spec.names.listKind) spec.names.listKind = `${kind}List`;
}

/** Takes what did not change in schemas from the stored CRD: whatever compares the two later is done soon. */
function shareSchemas(crd: CustomResourceDefinition, old: CustomResourceDefinition): void {
  if (!isObject(crd.spec) || !Array.isArray(crd.spec.versions)) return;
  for (const version of crd.spec.versions) {
    if (!isObject(version)) continue;
    const before = old.spec.versions.find((v) => v.name === version.name)?.schema;
    if (before === undefined || before === version.schema) continue;
    version.schema = shareEqualParts(version.schema, before) as typeof before;
  }
}

const STATIC: Strategy = {
  allowCreateOnUpdate: false,
  allowUnconditionalUpdate: false,
  applyDefaults,
  warnings: (object, old) =>
    crdWarnings(object as CustomResourceDefinition, old as CustomResourceDefinition | undefined),
  judgeAhead: (object, pause, old) =>
    judgeSchemas(object as CustomResourceDefinition, pause, old as CustomResourceDefinition | undefined),
  prepareForUpdate: (object, old) => shareSchemas(object as CustomResourceDefinition, old as CustomResourceDefinition),
  validate: (object) => validateCrd(object as CustomResourceDefinition),
  validateUpdate: (object, old, subresource) =>
    validateCrdUpdate(object as CustomResourceDefinition, old as CustomResourceDefinition, subresource),
  prepareForDelete: (object) => {
    const crd = object as CustomResourceDefinition;
    const finalizers = crd.metadata.finalizers ?? [];
    if (!finalizers.includes(CLEANUP_FINALIZER)) crd.metadata.finalizers = [...finalizers, CLEANUP_FINALIZER];
    const condition = {
      type: "Terminating",
      status: "True" as const,
      reason: "InstanceDeletionPending",
      message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    };
    const now = crd.metadata.deletionTimestamp ?? "";
    crd.status = { ...crd.status, conditions: withCondition(crd.status?.conditions ?? [], condition, now) };
  },
};

/** The kind CustomResourceDefinition of one server: its names are checked against the CRDs of that server. */
export function crdType(store: ObjectStore, clock: Clock): ResourceType {
  const others = (): CustomResourceDefinition[] =>
    store.peekAll(prefixOf(CRD_KEY.group, CRD_KEY.plural)).map((s) => s.object as CustomResourceDefinition);
  const settle = (object: Unstructured, old: Unstructured | undefined): void => {
    const crd = object as CustomResourceDefinition;
    // A body without versions or names is refused by validation right after this.
    if (!isObject(crd.spec) || !Array.isArray(crd.spec.versions) || !isObject(crd.spec.names)) return;
    settleNames(crd, (old as CustomResourceDefinition | undefined)?.status, others(), formatTime(clock.now()));
  };
  return defineBuiltin({
    group: CRD_KEY.group,
    kind: "CustomResourceDefinition",
    shortNames: ["crd", "crds"],
    categories: ["api-extensions"],
    namespaced: false,
    status: true,
    columns: CRD_COLUMNS,
    strategy: { ...STATIC, settleAmongOthers: settle },
  });
}
