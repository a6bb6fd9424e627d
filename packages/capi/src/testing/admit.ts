import type { Unstructured } from "@capstan/apimachinery";
import { kindAdmissionPlugins } from "../admission/plugins.ts";
import { ALL_KINDS } from "../kinds/all.ts";
import type { AdmissionLookup } from "../schema/kind.ts";

export type Fields = Record<string, unknown>;

/** An object named x of one of Cluster API's kinds. */
export function sample(kind: string, spec: Fields, more: Fields = {}, version = "v1beta2"): Unstructured {
  const found = ALL_KINDS.find((k) => k.kind === kind);
  const { metadata, ...rest } = more;
  return {
    apiVersion: `${found?.group}/${found?.version === "v1alpha2" ? "v1alpha2" : version}`,
    kind,
    metadata: { name: "x", namespace: "ns", ...(metadata as Fields | undefined) },
    spec,
    ...rest,
  };
}

/** What the rules of an object's kind say to its creation, change or deletion; empty when they let it pass. */
export async function admit(
  next: Unstructured | undefined,
  old?: Unstructured,
  lookup?: AdmissionLookup,
  warn?: (text: string) => void,
): Promise<string> {
  const subject = next ?? old;
  if (subject === undefined) throw new Error("no object");
  const [group = "", version = ""] = subject.apiVersion.split("/");
  const plugin = kindAdmissionPlugins(ALL_KINDS, lookup === undefined ? {} : { lookup }).find((p) =>
    p.handles({ group, kind: subject.kind }, "CREATE", ""),
  );
  if (plugin === undefined) throw new Error(`${subject.kind} has no rules`);
  const operation = next === undefined ? "DELETE" : old === undefined ? "CREATE" : "UPDATE";
  const type = { group, version, kind: subject.kind };
  const request = { operation, type, object: next, oldObject: old, warn };
  try {
    await plugin.mutate(request);
    await plugin.validate(request);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}
