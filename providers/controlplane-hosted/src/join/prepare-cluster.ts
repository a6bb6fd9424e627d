import { createHash } from "node:crypto";
import { isReason, type Unstructured } from "@capstan/apimachinery";
import { coreDNS, hostPort, kubeProxy, type NodeConfigurationInput } from "@capstan/controlplane";
import type { Client } from "@capstan/runtime";
import { konnectivity } from "../addons/konnectivity.ts";
import type { HostedControlPlaneSpec } from "../kinds/hosted-control-plane.ts";
import { clusterInfoKubeconfig } from "./cluster-info.ts";
import { kubernetesEndpoints } from "./kubernetes-endpoints.ts";
import { kubeadmConfig, kubeletConfig } from "./node-configuration.ts";
import { joinRbac } from "./rbac.ts";

export interface PrepareInput extends NodeConfigurationInput {
  caPem: string;
  spec: HostedControlPlaneSpec;
  /** Where the API is behind its endpoint, when it shares that with others. */
  access?: { path: string; serverName: string };
  /** Addresses of the endpoint, when its host is a name. */
  addresses?: readonly string[];
  /** Where agents of konnectivity find their server, when there is one. */
  konnectivity?: { host: string; port: number };
}

/** Everything that `kubeadm join` and the nodes after it rely on, and that `kubeadm init` would have written. */
export function clusterObjects(input: PrepareInput): Unstructured[] {
  const server = `https://${hostPort(input.endpoint.host, input.endpoint.port)}${input.access?.path ?? ""}`;
  const { addons } = input.spec;
  return [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "cluster-info", namespace: "kube-public" },
      data: { kubeconfig: clusterInfoKubeconfig(server, input.caPem, input.access?.serverName) },
    },
    kubeadmConfig(input),
    kubeletConfig(input),
    ...joinRbac(),
    ...kubernetesEndpoints(input.addresses ?? [input.endpoint.host], input.endpoint.port),
    ...(addons?.kubeProxy?.enabled === false ? [] : kubeProxy(input, addons?.kubeProxy?.mode)),
    ...(addons?.coreDNS?.enabled === false ? [] : coreDNS(input)),
    ...(input.konnectivity === undefined ? [] : konnectivity(input, input.konnectivity)),
  ];
}

/** What add-ons consist of that are switched off: it goes, where it is ours. */
export function absentObjects(input: PrepareInput): Unstructured[] {
  const { addons } = input.spec;
  return [
    ...(addons?.kubeProxy?.enabled === false ? kubeProxy(input, addons.kubeProxy.mode) : []),
    ...(addons?.coreDNS?.enabled === false ? coreDNS(input) : []),
    ...(addons?.konnectivity?.mode === "Off" ? konnectivity(input, input.endpoint) : []),
  ];
}

/** Takes objects away that we have made and nobody else has a hand in: another's add-on of that name stays. */
export async function removeObjects(
  client: Client,
  objects: readonly Unstructured[],
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    objects.map(async (object) => {
      const { namespace, name = "" } = object.metadata;
      const live = await client.get(await client.kindOf(object), { namespace, name }, signal);
      if (live === undefined) return;
      // An object that is nothing but a name has no fields that anybody could own.
      const all = live.metadata.managedFields ?? [];
      const applied = all.filter(({ operation }) => operation === "Apply");
      if (applied.length === 0 ? all.length > 0 : applied.some(({ manager }) => manager !== client.fieldManager))
        return;
      await client.delete(live, { propagationPolicy: "Background" }, signal);
    }),
  );
}

/** Identifies what the objects are made from: the same ones are not written twice. Of the spec only the add-ons count. */
export function inputDigest(input: PrepareInput): string {
  const { spec, ...rest } = input;
  return createHash("sha256")
    .update(JSON.stringify([rest, spec.addons]))
    .digest("hex");
}

/** Applies all objects, independent ones at the same time. A binding whose role changed is replaced: roleRef is immutable. */
export async function applyObjects(
  client: Client,
  objects: readonly Unstructured[],
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    objects.map(async (object) => {
      try {
        await client.apply(object, {}, signal);
      } catch (error) {
        if (!isReason(error, "Invalid") || !object.kind.endsWith("Binding")) throw error;
        await client.delete(object, {}, signal);
        await client.apply(object, {}, signal);
      }
    }),
  );
}
