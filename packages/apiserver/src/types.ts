import type { FieldError, JSONSchemaProps, Unstructured, UserInfo } from "@capstan/apimachinery";

/** A served resource in one version, built-in or from a CRD, with all that discovery, OpenAPI, tables and request handlers need. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly builtin: boolean;
  /** Version in which objects are stored; equal to `version` for all built-ins. */
  readonly storageVersion: string;
  /** The object's schema: for CRDs as the user wrote it, for built-ins recorded from Kubernetes (without descriptions). */
  readonly schema: JSONSchemaProps;
  readonly status: boolean;
  readonly scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  /** Other subresources, e.g. `finalize`, `token`, `approval`, `eviction`. */
  readonly subresources: readonly SubresourceType[];
  readonly columns: readonly PrinterColumn[];
  /** Field selector name to the value of an object. metadata.name and metadata.namespace are always there. */
  readonly fieldSelectors: Readonly<Record<string, (object: Unstructured) => string>>;
  readonly strategy: Strategy;
  /** Sent as a Warning header with each request that creates or changes an object. */
  readonly deprecation?: string;
  readonly createWarning?: string;
  /** Whether strategic merge patch is accepted (built-ins only). */
  readonly strategicMerge: boolean;
  /** Read-only objects computed from the registry instead of stored ones (APIService). */
  readonly derived?: (registry: ResourceRegistry) => readonly Unstructured[];
  /** Another view of a stored type (events.k8s.io/v1 of core events, autoscaling/v1 of v2): requests use that type's storage. */
  readonly storedAs?: {
    group: string;
    /** Default: the version of the view. */
    version?: string;
    plural: string;
    toStorage(o: Unstructured): Unstructured;
    fromStorage(o: Unstructured): Unstructured;
  };
}

/** A verb of requests for resources, as discovery lists it and RBAC names it. */
export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

/** A subresource other than status and scale, such as `eviction` of Pods. */
export interface SubresourceType {
  readonly name: string;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly Verb[];
  /** Fields that a write through it cannot change (the reset fields of upstream's strategy). */
  readonly keeps?: readonly (readonly string[])[];
  /** Handles a POST of the subresource's own kind. Without one it shows and changes the object itself, like `status`. */
  readonly handle?: SubresourceHandler;
}

/** Handles a POST to a subresource, such as a binding or an eviction, and returns status code and body of the response. */
export type SubresourceHandler = (request: {
  user: UserInfo;
  namespace: string;
  name: string;
  /** The decoded body, after admission. */
  body: Unstructured;
  dryRun: boolean;
  nowMs: number;
  api: InternalApi;
}) => Promise<{ status: number; object: Unstructured }>;

/** A column of `kubectl get` output, which the server renders as a Table. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  /** JSONPath for CRDs, where dates are rendered as ages by the table printer; a function for built-ins, whose result is the cell. */
  readonly value: string | ((object: Unstructured, nowMs: number) => unknown);
}

/** The kind-specific part of the request pipeline, as upstream's REST strategies. Objects are private copies and may be modified. */
export interface Strategy {
  /** PUT on a missing name creates it (Leases, Events). */
  readonly allowCreateOnUpdate: boolean;
  /** An update without resourceVersion is allowed (most built-ins; not CRDs, CRs, Leases). */
  readonly allowUnconditionalUpdate: boolean;
  /** Fill defaults after decoding (built-ins; CRs are defaulted by their schema). */
  applyDefaults?(object: Unstructured): void;
  /** Runs after the client's `status` was dropped; may set the initial one. */
  prepareForCreate?(object: Unstructured, context?: { readonly user?: UserInfo }): void;
  prepareForUpdate?(object: Unstructured, old: Unstructured, subresource: string, nowMs: number): void;
  /**
   * Fills in what depends on other objects of the kind (names of CRDs). Runs before validation, and once more within the decision
   * to write, because others may have written in between; so it starts from `old`, never from what it filled in before.
   */
  settleAmongOthers?(object: Unstructured, old: Unstructured | undefined): void;
  validate?(object: Unstructured): FieldError[];
  /** For large objects: does the long parts of the check before `validate` needs their outcome, with pauses for other requests. */
  judgeAhead?(object: Unstructured, pause: () => Promise<void>, old?: Unstructured): Promise<void>;
  /** The whole check of an update; without it `validate` runs on the new object. */
  validateUpdate?(object: Unstructured, old: Unstructured, subresource: string): FieldError[];
  warnings?(object: Unstructured, old?: Unstructured): string[];
  /** Kinds of the rule for metadata.name; default dns-subdomain. */
  readonly nameRule?: "dns-subdomain" | "dns-label" | "path-segment";
  /** A status sent with a create is kept (Node: a kubelet registers with it). */
  readonly keepStatusOnCreate?: boolean;
  /** Real objects of this kind never carry metadata.generation (Secret, ConfigMap, Lease, RBAC…). */
  readonly noGeneration?: boolean;
  /** What holds a deleted object back besides metadata.finalizers (Namespace: spec.finalizers). */
  extraFinalizers?(object: Unstructured): readonly string[];
  /** Changes the object when its deletionTimestamp is set (Namespace: status.phase Terminating); may add finalizers (CRDs). */
  prepareForDelete?(object: Unstructured): void;
  /** Called in place of the store for create-only review kinds. */
  createOnly?(
    object: Unstructured,
    context: { user: UserInfo; namespace: string; api: InternalApi },
  ): Promise<Unstructured>;
}

/** All served resources; the set changes when CRDs change. */
export interface ResourceRegistry {
  types(): readonly ResourceType[];
  find(group: string, version: string, plural: string): ResourceType | undefined;
  findKind(group: string, version: string, kind: string): ResourceType | undefined;
  /** Preferred (highest priority) version of a resource. */
  preferred(group: string, plural: string): ResourceType | undefined;
  /** A number that changes whenever the set of types does: key for cached discovery and OpenAPI documents. */
  generation(): number;
  onChange(listener: () => void): () => void;
}

/** The server's own access to objects: without authentication and authorization, but with validation and field ownership. */
export interface InternalApi {
  get(type: ResourceKey, namespace: string, name: string): Unstructured | undefined;
  list(type: ResourceKey, namespace?: string): readonly Unstructured[];
  create(type: ResourceKey, object: Unstructured, manager: string): Promise<Unstructured>;
  /** Reads the object, lets `change` modify a copy (return false to skip the write) and writes it; retries on conflict. */
  update(
    type: ResourceKey,
    namespace: string,
    name: string,
    manager: string,
    change: (object: Unstructured) => void | false,
    subresource?: string,
    options?: {
      /** The request that causes the change has passed admission itself (binding). */
      admitted?: boolean;
    },
  ): Promise<Unstructured | undefined>;
  delete(
    type: ResourceKey,
    namespace: string,
    name: string,
    options?: {
      propagationPolicy?: "Background" | "Foreground" | "Orphan";
      preconditions?: { uid?: string; resourceVersion?: string };
      dryRun?: boolean;
      /** The request that causes the deletion has passed admission itself (eviction). */
      admitted?: boolean;
    },
  ): Promise<void>;
  /** Calls back for every durable change of a resource (of all resources if undefined), starting with existing objects as additions. */
  watch(type: ResourceKey | undefined, onChange: (change: InternalChange) => void): () => void;
}

/** Group and plural name of a resource, in any version. */
export interface ResourceKey {
  group: string;
  plural: string;
}

/** A durable change of one object: `object` is undefined after a deletion, `previous` for an addition. */
export interface InternalChange {
  type: ResourceKey;
  namespace: string;
  name: string;
  object: Unstructured | undefined;
  previous: Unstructured | undefined;
}

/** The attributes of a request that authorization, audit and admission use. */
export interface RequestAttributes {
  readonly user: UserInfo;
  readonly verb: string;
  readonly isResource: boolean;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Determines the user of a request. Returns undefined if it does not apply to the request; throws ApiError 401 for bad credentials. */
export interface Authenticator {
  authenticate(input: AuthenticationInput): Promise<UserInfo | undefined>;
}

/** The input of authentication: a request's headers and the client certificate of its connection. */
export interface AuthenticationInput {
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The verified client certificate's DER bytes, if one was given and chains to the client CA. */
  readonly clientCertificate?: Uint8Array;
}

/** Decides whether a user may make a request, and lists the rules that apply to a user in a namespace. */
export interface Authorizer {
  authorize(attributes: RequestAttributes): { allowed: boolean; reason: string };
  rulesFor(
    user: UserInfo,
    namespace: string,
  ): { resourceRules: ResourceRule[]; nonResourceRules: { verbs: string[]; nonResourceURLs: string[] }[] };
}

/** A rule that a user has for resources, as SelfSubjectRulesReview returns it. */
export interface ResourceRule {
  verbs: string[];
  apiGroups: string[];
  resources: string[];
  resourceNames?: string[];
}

/** A request in the admission phase, as plugins see it. */
export interface AdmissionRequest {
  readonly attributes: RequestAttributes;
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly type: ResourceType;
  /** May be changed in place by mutate(). Undefined for DELETE. */
  object: Unstructured | undefined;
  readonly oldObject: Unstructured | undefined;
  readonly dryRun: boolean;
  readonly options: Record<string, unknown>;
  warn(text: string): void;
}

/** An admission plugin: built-in, registered in process by a provider, or the caller of webhooks. Rejects requests by throwing ApiError. */
export interface AdmissionPlugin {
  readonly name: string;
  /** Whether the plugin is interested in a request; cheap, so that it does not slow down other requests. */
  handles(type: ResourceType, operation: AdmissionRequest["operation"], subresource: string): boolean;
  mutate?(request: AdmissionRequest): void | Promise<void>;
  validate?(request: AdmissionRequest): void | Promise<void>;
}

/** Converts objects of one group-kind between versions in process. */
export interface Converter {
  readonly group: string;
  readonly kind: string;
  convert(object: Unstructured, toVersion: string): Unstructured;
}
