import { deepEqual } from "@capstan/apimachinery";
import type { schema as resourceSetSchema } from "../kinds/cluster-resource-set.ts";
import type { schema as bindingSchema } from "../kinds/cluster-resource-set-binding.ts";
import type { KindAdmission, KindObject } from "../schema/kind.ts";
import type { Infer } from "../schema/schema.ts";
import { invalid, parseSelector } from "./problems.ts";

type ClusterResourceSet = KindObject<Infer<typeof resourceSetSchema>>;
type ClusterResourceSetBinding = KindObject<Infer<typeof bindingSchema>>;

/** ClusterResourceSet: upstream's rules. */
export const clusterResourceSetAdmission: KindAdmission<ClusterResourceSet> = {
  default: ({ spec }) => {
    spec.strategy ??= "ApplyOnce";
  },
  validate: ({ spec }, old) => {
    const { selector, problems } = parseSelector(spec.clusterSelector, "spec.clusterSelector");
    return [
      ...problems,
      ...(selector?.empty === true
        ? [invalid("spec.clusterSelector", spec.clusterSelector, "selector must not be empty")]
        : []),
      ...(old?.spec.strategy !== undefined && old.spec.strategy !== spec.strategy
        ? [invalid("spec.strategy", spec.strategy, "field is immutable")]
        : []),
      ...(old !== undefined && !deepEqual(old.spec.clusterSelector, spec.clusterSelector)
        ? [invalid("spec.clusterSelector", spec.clusterSelector, "field is immutable")]
        : []),
    ];
  },
};

/** ClusterResourceSetBinding: upstream's rules. */
export const clusterResourceSetBindingAdmission: KindAdmission<ClusterResourceSetBinding> = {
  validate: ({ spec }, old) =>
    old === undefined || (old.spec.clusterName ?? "") === "" || old.spec.clusterName === spec.clusterName
      ? []
      : [invalid("spec.clusterName", spec.clusterName, "field is immutable")],
};
