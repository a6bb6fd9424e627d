import { type AskAccess, authorizerVariables, type CelVariableType, compileCel } from "@capstan/apimachinery";
import { authenticated, serviceAccountGroups, serviceAccountUser } from "../auth/users.ts";
import type { Authorizer, RequestAttributes } from "../types.ts";
import type { MatchCondition } from "./webhook.types.ts";

const KIND = { name: "kubernetes.GroupVersionKind", fields: { group: "string", version: "string", kind: "string" } };
const RESOURCE = {
  name: "kubernetes.GroupVersionResource",
  fields: { group: "string", version: "string", resource: "string" },
};

/** The request as match conditions see it. */
const REQUEST: CelVariableType = {
  name: "kubernetes.AdmissionRequest",
  fields: {
    kind: KIND,
    resource: RESOURCE,
    subResource: "string",
    requestKind: KIND,
    requestResource: RESOURCE,
    requestSubResource: "string",
    name: "string",
    namespace: "string",
    operation: "string",
    userInfo: {
      name: "kubernetes.UserInfo",
      fields: { username: "string", uid: "string", groups: "list<string>", extra: "map<string, list<string>>" },
    },
    dryRun: "bool",
    options: "dyn",
  },
};

const ACCESS = { authorizer: "Authorizer", "authorizer.requestResource": "ResourceCheck" };

/** Why an expression cannot be a match condition, or undefined. Checked when a webhook configuration is written. */
export function matchConditionProblem(expression: string): string | undefined {
  const compiled = compileCel(expression, { object: "dyn", oldObject: "dyn", request: REQUEST, ...ACCESS });
  if ("errors" in compiled) return `compilation failed: ${compiled.errors.join("; ")}`;
  return compiled.resultType === "bool" ? undefined : `must evaluate to bool but got ${compiled.resultType}`;
}

/** The condition as a function; throws when it does not compile. */
export function compileCondition(expression: string): MatchCondition["evaluate"] {
  const compiled = compileCel(expression, { object: "dyn", oldObject: "dyn", request: "dyn", ...ACCESS });
  if ("errors" in compiled) throw new Error(compiled.errors.join("; "));
  return (variables, budget) => compiled.evaluate(variables, budget);
}

/** The variables that ask what the request's user, or a ServiceAccount, may do. */
export function accessVariables(authorizer: Authorizer, request: RequestAttributes): Record<string, unknown> {
  const ask: AskAccess = ({ serviceAccount, path, ...query }) => {
    const user =
      serviceAccount === undefined
        ? request.user
        : authenticated({
            name: serviceAccountUser(serviceAccount.namespace, serviceAccount.name),
            groups: serviceAccountGroups(serviceAccount.namespace),
          });
    return authorizer.authorize({ ...query, user, version: "*", isResource: path === undefined, path: path ?? "" });
  };
  return authorizerVariables(ask, request);
}
