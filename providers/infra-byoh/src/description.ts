import { findCondition, type KubeObject } from "@capstan/apimachinery";
import { conditionsOf, field, type ProviderDescription } from "@capstan/capi";
import { factsOf } from "./host/facts.ts";
import { silentAtMs, troubleOf } from "./host/trouble.ts";
import { DEAD_AGENT, SIMULATED_AGENT_ANNOTATION } from "./simulation/annotations.ts";
import { simulatedByoHosts } from "./simulation/hosts.ts";

/** What people see of bring-your-own hosts. */
export const byohDescription: ProviderDescription = {
  name: "byoh",
  title: "Your own hosts",
  badge: { label: "Your own hosts", color: "#0c8599" },
  workers: {
    summary: "your own hosts, enrolled with: capstan host add NAME",
    clusterKind: "ByoCluster",
    templateKind: "ByoMachineTemplate",
    hostKind: "ByoHost",
    settings: {},
    templates: { flavor: "", mixed: { group: "own", count: "${WORKER_MACHINE_COUNT}" } },
    clusterSpec: {},
    machineSpec: ({ select }) => (Object.keys(select).length === 0 ? {} : { selector: { matchLabels: select } }),
  },
  hosts: [
    {
      group: "infrastructure.cluster.x-k8s.io",
      version: "v1beta2",
      kind: "ByoHost",
      plural: "byohosts",
      claimedBy: { kind: "ByoMachine", field: "machineRef" },
      reports: "capstan host list",
      cure: "enrol a host",
      command: "capstan host add NAME",
      isFree: (host) =>
        host.metadata.deletionTimestamp === undefined &&
        field(host, "spec", "machineRef") === undefined &&
        field(host, "spec", "release") === undefined &&
        field(host, "spec", "unschedulable") !== true &&
        isReady(host),
      row: factsOf,
      trouble: troubleOf,
      troubleAtMs: silentAtMs,
      simulation: {
        effect: "it stops reporting, and so does its Node",
        health: ({ metadata: { annotations } }) => {
          const agent = annotations?.[SIMULATED_AGENT_ANNOTATION];
          if (agent === undefined) return undefined;
          return agent === DEAD_AGENT ? "broken" : "well";
        },
        annotations: (broken) => ({ [SIMULATED_AGENT_ANNOTATION]: broken ? DEAD_AGENT : "" }),
        objects: simulatedByoHosts,
      },
    },
  ],
  reasons: async () => (await import("./reasons.ts")).BYOH_REASONS,
  why: { capacityCure: "enrol another one of your own hosts: capstan host add NAME" },
};

function isReady(host: KubeObject): boolean {
  return findCondition(conditionsOf(host as { status?: unknown }), "Ready")?.status === "True";
}
