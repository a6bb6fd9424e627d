import { forbidden, namespaceTerminating, notFound } from "@capstan/apimachinery";
import { at } from "../builtin/read.ts";
import type { AdmissionPlugin, InternalApi } from "../types.ts";

const NAMESPACES = { group: "", plural: "namespaces" };
const IMMORTAL = new Set(["default", "kube-system", "kube-public"]);

/** Nothing is created in a missing or terminating namespace, and the system's own namespaces stay (upstream's NamespaceLifecycle). */
export function namespaceLifecycle(api: Pick<InternalApi, "get">): AdmissionPlugin {
  return {
    name: "NamespaceLifecycle",
    handles: (type, operation) =>
      type.namespaced
        ? operation === "CREATE"
        : operation === "DELETE" && type.group === "" && type.plural === NAMESPACES.plural,
    mutate({ attributes, operation, object, type }) {
      const gr = { group: type.group, resource: type.plural };
      if (operation === "DELETE") {
        if (IMMORTAL.has(attributes.name)) throw forbidden(gr, attributes.name, "this namespace may not be deleted");
        return;
      }
      const { namespace } = attributes;
      const found = api.get(NAMESPACES, "", namespace);
      if (found === undefined) throw notFound({ group: "", resource: NAMESPACES.plural }, namespace);
      if (found.metadata.deletionTimestamp === undefined && at(found, "status", "phase") !== "Terminating") return;
      // Before a name is generated, upstream names the object by its generateName.
      const name = attributes.name || object?.metadata.name || object?.metadata.generateName || "";
      throw namespaceTerminating(gr, name, namespace);
    },
  };
}
