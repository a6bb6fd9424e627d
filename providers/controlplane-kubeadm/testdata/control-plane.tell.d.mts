import type { Unstructured } from "@capstan/apimachinery";
import type { Client } from "@capstan/runtime";
import type { Story } from "./control-plane.stories.mjs";

/** Where a story takes place. */
export interface World {
  readonly client: Client;
  readonly namespace: string;
  /** Kinds of the infrastructure provider. */
  readonly kinds: {
    readonly cluster: string;
    readonly clusterTemplate: string;
    readonly machine: string;
    readonly template: string;
  };
  now(): number;
  sleep(ms: number): Promise<unknown>;
  /** Time between two looks. */
  readonly lookMs: number;
  /** Throws if a step takes too long. */
  checkPatience(step: string, seen: { machines: Unstructured[]; plane: Unstructured | undefined }): void;
  infraCluster(given: {
    metadata: { name: string; namespace: string };
    domains: { name: string; controlPlane: boolean }[] | undefined;
  }): Unstructured;
  template(given: { metadata: { name: string; namespace: string }; slow: boolean }): Unstructured;
  clusterTemplate(given: { metadata: { name: string; namespace: string } }): Unstructured;
  /** A machine that belongs to no template. */
  machine(given: { metadata: { name: string; namespace: string } }): Unstructured;
  /** Members as etcd lists them, by the names of their Nodes; undefined while nothing answers. */
  members(): Promise<{ name: string; leader: boolean }[] | undefined>;
  workloadState(): Promise<{ kubeadmConfig: string | null; kubeProxy: string | null }>;
  /** Makes a component of a Node unhealthy, or healthy again. */
  component(component: string, node: string, ready: boolean): Promise<void>;
  /** Whether changes of members that one look found at once are marked with the same number: ` @N` at the end. */
  readonly marksLooks?: boolean;
  /** Adds a member that belongs to no Machine. */
  ghost(name: string): Promise<void>;
  setExpiry(machine: string, expiry: string): Promise<void>;
}

/** The state after a step, without what is made by chance. */
export interface State {
  after: string;
  controlPlane: {
    annotations: Record<string, string>;
    finalizers: string[];
    deleting: boolean;
    status: Record<string, unknown>;
    conditions: Record<string, string>;
    v1beta1: Record<string, string>;
  } | null;
  machines: Record<string, Record<string, unknown>>;
  configs: Record<string, Record<string, unknown>>;
  infraMachines: Record<string, Record<string, unknown>>;
  workload: { kubeadmConfig: string | null; kubeProxy: string | null };
}

/** What does not depend on timing. */
export interface Told {
  machines: string[];
  members: string[];
  states: State[];
}

export declare function tell(world: World, story: Story): Promise<Told>;
