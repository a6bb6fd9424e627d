import { isDns1123Label, isDns1123Subdomain } from "../names.ts";
import { define } from "./functions.ts";
import { CelError, CelHandle, type Value } from "./values.ts";

/** What an expression asks about: a path, or a resource. */
export interface AccessQuery {
  readonly verb: string;
  /** Checks this ServiceAccount instead of the request's user. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  readonly path?: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Answers an expression's question. */
export type AskAccess = (query: AccessQuery) => { readonly allowed: boolean; readonly reason: string };

interface Question extends AccessQuery {
  readonly ask: AskAccess;
}

const EMPTY = { verb: "", group: "", resource: "", subresource: "", namespace: "", name: "" };

/**
 * Values of the variables `authorizer` and `authorizer.requestResource`, whose types are `Authorizer` and `ResourceCheck`; `resource` is
 * that of the request under judgement.
 */
export function authorizerVariables(
  ask: AskAccess,
  resource: Pick<AccessQuery, "group" | "resource" | "subresource" | "namespace" | "name">,
): Record<string, unknown> {
  return {
    authorizer: handle("Authorizer", { ...EMPTY, ask }),
    "authorizer.requestResource": handle("ResourceCheck", { ...EMPTY, ...resource, ask }),
  };
}

function handle(type: string, content: object): CelHandle {
  return new CelHandle(`kubernetes.authorization.${type}`, content);
}

const question = (v: Value | undefined): Question => (v as CelHandle).content as Question;
const s = (v: Value | undefined): string => v as string;

function filled(value: Value | undefined, what: string): string {
  if (s(value) === "") throw new CelError(`${what} must not be empty`);
  return s(value);
}

define("path", "authorizer_path", "Authorizer.(string):PathCheck", (v, path) =>
  handle("PathCheck", { ...question(v), path: filled(path, "path") }),
);
define("group", "authorizer_group", "Authorizer.(string):GroupCheck", (v, group) =>
  handle("GroupCheck", { ...question(v), group: s(group) }),
);
define("serviceAccount", "authorizer_serviceaccount", "Authorizer.(string,string):Authorizer", (v, namespace, name) => {
  if (isDns1123Subdomain(s(name)).length > 0) throw new CelError("Invalid service account name");
  if (isDns1123Label(s(namespace)).length > 0) throw new CelError("Invalid service account namespace");
  return handle("Authorizer", { ...question(v), serviceAccount: { namespace: s(namespace), name: s(name) } });
});
define("resource", "groupcheck_resource", "GroupCheck.(string):ResourceCheck", (v, resource) =>
  handle("ResourceCheck", { ...question(v), resource: filled(resource, "resource") }),
);
for (const field of ["subresource", "namespace", "name"])
  define(field, `resourcecheck_${field}`, "ResourceCheck.(string):ResourceCheck", (v, value) =>
    handle("ResourceCheck", { ...question(v), [field]: s(value) }),
  );
// RBAC ignores selectors: a request narrowed by one is authorized as a whole.
for (const field of ["fieldSelector", "labelSelector"])
  define(field, `resourcecheck_${field.toLowerCase()}`, "ResourceCheck.(string):ResourceCheck", (v) => v ?? null);

function decide(v: Value | undefined, verb: Value | undefined): CelHandle {
  const { ask, ...query } = question(v);
  return handle("Decision", ask({ ...query, verb: s(verb) }));
}

define("check", "pathcheck_check", "PathCheck.(string):Decision", decide);
define("check", "resourcecheck_check", "ResourceCheck.(string):Decision", decide);

const decision = (v: Value | undefined): ReturnType<AskAccess> => (v as CelHandle).content as ReturnType<AskAccess>;
define("allowed", "decision_allowed", "Decision.():bool", (v) => decision(v).allowed);
define("reason", "decision_reason", "Decision.():string", (v) => decision(v).reason);
// An RBAC check cannot fail.
define("errored", "decision_errored", "Decision.():bool", () => false);
define("error", "decision_error", "Decision.():string", () => "");
