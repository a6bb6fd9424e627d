import { createHash } from "node:crypto";
import { isReason, type Unstructured } from "@capstan/apimachinery";
import {
  clusterInfoKubeconfig,
  coreDNS,
  hostPort,
  joinRbac,
  kubeadmConfig,
  kubeletConfig,
  kubeProxy,
  type NodeConfigurationInput,
} from "@capstan/controlplane";
import type { Client } from "@capstan/runtime";
import { konnectivity } from "../addons/konnectivity.ts";
import type { HostedControlPlaneSpec } from "../kinds/hosted-control-plane.ts";
import { kubernetesEndpoints } from "./kubernetes-endpoints.ts";

/** Everything that the objects for joining nodes are built from. */
export interface PrepareInput extends NodeConfigurationInput {
  caPem: string;
  spec: HostedControlPlaneSpec;
  /** How to reach the API if it shares its endpoint with others. */
  access?: { path: string; serverName: string };
  /** Addresses of the endpoint if its host is a name. */
  addresses?: readonly string[];
  /** Address of the konnectivity server for agents, if there is one. */
  konnectivity?: { host: string; port: number };
}

/** Returns the objects that `kubeadm join` and the nodes need and that `kubeadm init` would create. */
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

/** Returns the objects of disabled add-ons, which are deleted if this provider created them. */
export function absentObjects(input: PrepareInput): Unstructured[] {
  const { addons } = input.spec;
  return [
    ...(addons?.kubeProxy?.enabled === false ? kubeProxy(input, addons.kubeProxy.mode) : []),
    ...(addons?.coreDNS?.enabled === false ? coreDNS(input) : []),
    ...(addons?.konnectivity?.mode === "Off" ? konnectivity(input, input.endpoint) : []),
  ];
}

/** Deletes objects that only this provider has applied; an object of the same name that another manager applied stays. */
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
      // An object that is only a name has no fields that a manager could own.
      const all = live.metadata.managedFields ?? [];
      const applied = all.filter(({ operation }) => operation === "Apply");
      if (applied.length === 0 ? all.length > 0 : applied.some(({ manager }) => manager !== client.fieldManager))
        return;
      await client.delete(live, { propagationPolicy: "Background" }, signal);
    }),
  );
}

/** Returns a digest of the inputs, so that unchanged objects are not applied again. Of the spec only the add-ons count. */
export function inputDigest(input: PrepareInput): string {
  const { spec, ...rest } = input;
  return createHash("sha256")
    .update(JSON.stringify([rest, spec.addons]))
    .digest("hex");
}

/** Applies all objects, independent ones concurrently. A binding with a changed role is replaced, because roleRef is immutable. */
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
