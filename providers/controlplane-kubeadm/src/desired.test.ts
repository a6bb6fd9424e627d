import { deepEqual } from "@capstan/apimachinery";
import type { Cluster, KubeadmConfig, KubeadmControlPlane, Machine, TemplatePart } from "@capstan/capi";
import { describe, expect, test } from "vitest";
import { newMachine, syncedMachine } from "../../../packages/capi/src/machines/desired-machine.ts";
import { CLEANUP_HOOK, REMEDIATION_FOR, REMEDIATION_IN_PROGRESS } from "./annotations.ts";
import { desiredConfig } from "./desired-config.ts";
import { machinePlan } from "./machine-plan.ts";
import { recorded } from "./testing/upstream-decisions.ts";

interface Case {
  readonly name: string;
  readonly question: {
    readonly join: boolean;
    readonly cluster: Cluster;
    readonly controlPlane: KubeadmControlPlane;
    readonly machine?: Machine;
  };
  readonly answer: { readonly machine?: Machine; readonly kubeadmConfig?: KubeadmConfig };
}

const { cases } = recorded<{ cases: readonly Case[] }>("desired");
const mode = ({ join }: Case["question"]): "init" | "join" => (join ? "join" : "init");

describe("what upstream makes of a control plane", () => {
  const configs = cases.filter(({ answer }) => answer.kubeadmConfig !== undefined);

  test.each(configs)("KubeadmConfig: $name", ({ question, answer }) => {
    const own = desiredConfig(question.controlPlane, mode(question));
    expect(withoutEmpty(own)).toEqual(withoutEmpty(answer.kubeadmConfig?.spec ?? {}));
  });

  const machines = cases.filter(({ answer }) => answer.machine !== undefined);

  test.each(machines)("Machine: $name", ({ question, answer }) => {
    const own = desiredMachine(question);
    const expected = answer.machine as Machine;
    expect(own.metadata.labels).toEqual(expected.metadata.labels);
    expect(own.metadata.annotations).toEqual(expected.metadata.annotations);
    expect(own.metadata.ownerReferences).toEqual(expected.metadata.ownerReferences);
    const { bootstrap: _, infrastructureRef: _ref, ...spec } = own.spec;
    const { bootstrap: _b, infrastructureRef: _r, ...wanted } = expected.spec;
    expect(spec).toEqual(wanted);
  });
});

function desiredMachine({ controlPlane, cluster, machine, join }: Case["question"]): Machine {
  const reference = () => ({ apiGroup: "g", kind: "K", name: "n" });
  const part = { reference, existing: () => undefined, describe: undefined, problem: undefined };
  const plan = machinePlan({
    object: { ...controlPlane, apiVersion: "controlplane.cluster.x-k8s.io/v1beta2", kind: "KubeadmControlPlane" },
    clusterName: cluster.metadata.name ?? "",
    infrastructure: { ...part, template: { state: "none" } } as TemplatePart,
    mode: join ? "join" : "init",
    cache: undefined as never,
  });
  if (machine !== undefined) return syncedMachine(plan, machine);
  const remediation = controlPlane.metadata.annotations?.[REMEDIATION_IN_PROGRESS];
  const annotations = { [CLEANUP_HOOK]: "", ...(remediation === undefined ? {} : { [REMEDIATION_FOR]: remediation }) };
  return newMachine(plan, { name: "x", annotations });
}

/** Go leaves out empty structs that are no pointers. */
function withoutEmpty(value: object): object {
  const entries = Object.entries(value as Record<string, unknown>)
    .map(([name, item]) => {
      const inner = typeof item === "object" && item !== null && !Array.isArray(item) ? withoutEmpty(item) : item;
      return [name, inner] as const;
    })
    .filter(([name, item]) => name === "controlPlane" || !deepEqual(item, {}));
  return Object.fromEntries(entries);
}
