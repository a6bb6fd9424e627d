/**
 * One request. `<ns>` is the script's namespace, `<id.path.to.field>` a field of the answer to the step with that id,
 * `<idHeaders.etag>` a header of it; `<webhooks.url>`, `<webhooks.ca>` and `<webhooks.serving>` locate the test's webhooks.
 */
export interface RequestStep {
  /** Method and path, `POST /api/v1/namespaces/<ns>/configmaps`. */
  readonly do: string;
  readonly id?: string;
  /** An object is sent as JSON, text and bytes as they are. */
  readonly body?: unknown;
  /** Content type; of a patch by default `application/merge-patch+json`, else `application/json`. */
  readonly type?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Impersonated user, as `name` or `name,group,group`. */
  readonly as?: string;
  /** Credentials: the admin's certificate by default. */
  readonly credentials?: "none" | { readonly token: string };
  /** Compares only these fields of the body. */
  readonly only?: readonly string[];
  /** Parts of the body's text that must differ between servers. */
  readonly mask?: readonly RegExp[];
  /** Name of an expected difference (see differences.ts). */
  readonly differs?: string;
  /** A list in the body of which only entries of the same name are compared: one server has more of them. */
  readonly among?: string;
}

/** The same step where the servers are known to differ. */
export function differing(name: string, step: Step): Step {
  return { ...step, differs: name } as Step;
}

/** Opens a watch; its answer is compared by an `events` step. */
export interface WatchStep extends Omit<RequestStep, "do" | "id"> {
  readonly watch: string;
  readonly path: string;
}

/** Compares the next events of an open watch; `end` also waits for the stream's end. */
export interface EventsStep {
  readonly events: string;
  readonly count: number;
  readonly end?: boolean;
  readonly only?: readonly string[];
  readonly mask?: readonly RegExp[];
  readonly differs?: string;
}

/** Repeats a request until it returns this status and, if specified, this value at a path of the body. Not compared. */
export interface WaitStep {
  /** A path to GET, or method and path. */
  readonly wait: string;
  /** Sent as that user: the real server applies a binding some moments after it is stored. */
  readonly as?: string;
  readonly body?: unknown;
  readonly id?: string;
  readonly status?: number;
  readonly where?: readonly [path: string, value: unknown];
}

export type Step = RequestStep | WatchStep | EventsStep | WaitStep;

/** A script that runs against both servers, step by step, in a namespace of its own. */
export interface Script {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** The schema of a CRD version, and what belongs to it. */
export interface VersionSketch {
  readonly name?: string;
  readonly schema?: unknown;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly [field: string]: unknown;
}

/** A short CRD: `widgets` in group `g.example` with kind Widget and one version v1. */
export function crd(
  plural: string,
  group: string,
  sketches: VersionSketch | readonly VersionSketch[],
  extra: Record<string, unknown> = {},
): { apiVersion: string; kind: string; metadata: { name: string }; spec: Record<string, unknown> } {
  const kind = plural.charAt(0).toUpperCase() + plural.slice(1, -1);
  const versions = (Array.isArray(sketches) ? sketches : [sketches]).map(
    ({ name = "v1", schema, served = true, storage, ...rest }: VersionSketch, index: number) => ({
      name,
      served,
      storage: storage ?? index === 0,
      schema: { openAPIV3Schema: schema ?? { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      ...rest,
    }),
  );
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions,
      ...extra,
    },
  };
}

/** Creates a CRD and waits until it is served. */
export function installCrd(definition: ReturnType<typeof crd>): Step[] {
  const name = definition.metadata.name;
  const { group, versions } = definition.spec as { group: string; versions: { name: string; served: boolean }[] };
  const plural = name.slice(0, name.indexOf("."));
  return [
    { do: `POST ${CRDS}`, body: definition, only: ["kind", "metadata.name", "code", "message"] },
    { wait: `${CRDS}/${name}`, where: ["status.conditions.1.status", "True"] },
    ...versions
      .filter((version) => version.served)
      .map((version): Step => ({ wait: `/apis/${group}/${version.name}/${plural}`, status: 200 })),
  ];
}

export const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

export const MERGE = "application/merge-patch+json";
export const JSON_PATCH = "application/json-patch+json";
export const STRATEGIC = "application/strategic-merge-patch+json";
export const APPLY = "application/apply-patch+yaml";
export const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
