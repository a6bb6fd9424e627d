import { type Condition, setCondition, type Unstructured } from "@capstan/apimachinery";

/** What is left in a namespace that is being deleted. */
export interface Remaining {
  /** `plural.group` to the number of objects. */
  resources: Map<string, number>;
  /** Finalizer to the number of objects that have it. */
  finalizers: Map<string, number>;
  /** Why deleting failed, if it did. */
  failures: string[];
}

/** The five conditions of upstream's namespace controller, in its order and with its messages. */
export function namespaceConditions(existing: Condition[], remaining: Remaining, nowTime: string): Condition[] {
  const { resources, finalizers, failures } = remaining;
  const wanted = [
    condition(
      "NamespaceDeletionDiscoveryFailure",
      false,
      "ResourcesDiscovered",
      "All resources successfully discovered",
    ),
    condition(
      "NamespaceDeletionGroupVersionParsingFailure",
      false,
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ),
    failures.length > 0
      ? condition(
          "NamespaceDeletionContentFailure",
          true,
          "ContentDeletionFailed",
          `Failed to delete all resource types, ${failures.length} remaining: ${[...failures].sort().join(", ")}`,
        )
      : condition(
          "NamespaceDeletionContentFailure",
          false,
          "ContentDeleted",
          "All content successfully deleted, may be waiting on finalization",
        ),
    resources.size > 0
      ? condition(
          "NamespaceContentRemaining",
          true,
          "SomeResourcesRemain",
          `Some resources are remaining: ${list(resources, "has")}`,
        )
      : condition("NamespaceContentRemaining", false, "ContentRemoved", "All content successfully removed"),
    finalizers.size > 0
      ? condition(
          "NamespaceFinalizersRemaining",
          true,
          "SomeFinalizersRemain",
          `Some content in the namespace has finalizers remaining: ${list(finalizers, "in")}`,
        )
      : condition(
          "NamespaceFinalizersRemaining",
          false,
          "ContentHasNoFinalizers",
          "All content-preserving finalizers finished",
        ),
  ];
  return wanted.reduce((conditions, next) => setCondition(conditions, next, nowTime), existing);
}

/** Counts objects as namespaceConditions() reports them. */
export function countRemaining(remaining: Remaining, resource: string, objects: readonly Unstructured[]): void {
  if (objects.length === 0) return;
  remaining.resources.set(resource, objects.length);
  for (const object of objects) {
    for (const finalizer of object.metadata.finalizers ?? []) {
      remaining.finalizers.set(finalizer, (remaining.finalizers.get(finalizer) ?? 0) + 1);
    }
  }
}

function list(counts: Map<string, number>, word: "has" | "in"): string {
  return [...counts]
    .map(([name, count]) => `${name} ${word} ${count} resource instances`)
    .sort()
    .join(", ");
}

function condition(
  type: string,
  status: boolean,
  reason: string,
  message: string,
): Omit<Condition, "lastTransitionTime"> {
  return { type, status: status ? "True" : "False", reason, message };
}
