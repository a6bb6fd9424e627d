import type { Unstructured } from "@capstan/apimachinery";
import type { ClusterPlan } from "@capstan/capi";
import type { ControlPlaneHome, PlannedCluster } from "@capstan/dashboard-server";
import { apiPath, request } from "../api/request.ts";
import type { ClusterClassObject } from "./class-form.ts";

interface ResourceList {
  resources?: { name: string; kind: string }[];
}

/** Thrown with the object that the server rejected. */
export class ObjectRefused extends Error {
  readonly object: Unstructured;
  override readonly cause: Error;

  constructor(object: Unstructured, cause: Error) {
    super(`${object.kind}/${object.metadata.name ?? ""}: ${cause.message}`);
    this.name = "ObjectRefused";
    this.object = object;
    this.cause = cause;
  }
}

/** Creates all objects as a server dry run; resolves when the server would accept every one. */
export async function tryObjects(objects: readonly Unstructured[]): Promise<void> {
  const paths = await pathsOf(objects);
  for (const [index, object] of objects.entries())
    await request(paths[index] ?? "", {
      method: "POST",
      body: object,
      query: { dryRun: "All", fieldValidation: "Strict", fieldManager: "capstan-dashboard" },
    }).catch((error: unknown) => {
      throw new ObjectRefused(object, error as Error);
    });
}

/** Writes all objects in order with server-side apply, which is safe to repeat. */
export async function writeObjects(objects: readonly Unstructured[]): Promise<void> {
  const paths = await pathsOf(objects);
  for (const [index, object] of objects.entries())
    await request(`${paths[index] ?? ""}/${object.metadata.name ?? ""}`, {
      method: "PATCH",
      contentType: "application/apply-patch+yaml",
      body: object,
      query: { fieldValidation: "Strict", fieldManager: "capstan-dashboard", force: "true" },
    }).catch((error: unknown) => {
      throw new ObjectRefused(object, error as Error);
    });
}

async function pathsOf(objects: readonly Unstructured[]): Promise<string[]> {
  const versions = [...new Set(objects.map((object) => object.apiVersion))];
  const lists = new Map(
    await Promise.all(
      versions.map(async (version) => [version, await request<ResourceList>(`/k8s/apis/${version}`)] as const),
    ),
  );
  return objects.map((object) => {
    const found = lists
      .get(object.apiVersion)
      ?.resources?.find((resource) => resource.kind === object.kind && !resource.name.includes("/"));
    if (found === undefined) throw new ObjectRefused(object, new Error(`the API does not serve ${object.kind}`));
    return apiPath(object.apiVersion, found.name, object.metadata.namespace);
  });
}

/** Fetches where control planes run and which Kubernetes versions are installed there. */
export function controlPlaneHome(): Promise<ControlPlaneHome> {
  return request<ControlPlaneHome>("/control-planes");
}

/** Requests the objects and obstacles of a plan from the server. */
export function plannedCluster(plan: ClusterPlan): Promise<PlannedCluster> {
  return request<PlannedCluster>("/plan", { method: "POST", body: plan });
}

/** Returns the kinds served in the infrastructure group, which decide the available providers. */
export async function servedInfrastructure(): Promise<ReadonlySet<string>> {
  const list = await request<ResourceList>("/k8s/apis/infrastructure.cluster.x-k8s.io/v1beta2");
  return new Set((list.resources ?? []).map((resource) => resource.kind));
}

/** Lists the ClusterClasses of a namespace; empty when the user may not list them or the namespace does not exist. */
export async function clusterClasses(namespace: string): Promise<readonly ClusterClassObject[]> {
  const path = apiPath("cluster.x-k8s.io/v1beta2", "clusterclasses", namespace);
  const list = await request<{ items?: ClusterClassObject[] }>(path).catch(() => ({ items: [] }));
  return list.items ?? [];
}
