import { invalid, type KubeObject } from "@capstan/apimachinery";
import type { AdmissionPlugin } from "@capstan/apiserver";
import { MemoryCluster, MemoryClusterTemplate } from "../kinds/memory-cluster.ts";
import { MemoryMachine, MemoryMachineTemplate } from "../kinds/memory-machine.ts";

interface Checked {
  group: string;
  kind: string;
  plural: string;
  admission:
    | { validate?(object: KubeObject, old: KubeObject | undefined): { type: string; field: string; detail: string }[] }
    | undefined;
}

const KINDS = [MemoryCluster, MemoryClusterTemplate, MemoryMachine, MemoryMachineTemplate] as unknown as Checked[];

/** The kinds' own rules, as a manager runs them in process. */
export const kindAdmission: AdmissionPlugin = {
  name: "kinds",
  handles: (type, operation, subresource) =>
    subresource === "" && operation !== "DELETE" && KINDS.some((kind) => kind.plural === type.plural),
  validate: ({ type, object, oldObject }) => {
    const kind = KINDS.find(({ plural }) => plural === type.plural);
    if (kind === undefined || object === undefined) return;
    const problems = kind.admission?.validate?.(object, oldObject) ?? [];
    if (problems.length > 0) throw invalid(kind, object.metadata.name ?? "", problems as never);
  },
};
