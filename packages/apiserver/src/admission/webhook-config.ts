import { labelSelectorFromObject, type Unstructured } from "@capstan/apimachinery";
import { at, list, num, obj, text, texts } from "../builtin/read.ts";
import type { CompileCondition, MatchCondition, Webhook, WebhookClientConfig, WebhookRule } from "./webhook.types.ts";

/** The webhooks of a Mutating- or ValidatingWebhookConfiguration, in their order. */
export function readWebhooks(configuration: Unstructured, compile: CompileCondition): Webhook[] {
  const mutating = configuration.kind === "MutatingWebhookConfiguration";
  return list(configuration["webhooks"]).map((hook) => ({
    name: text(at(hook, "name")),
    configuration: configuration.metadata.name ?? "",
    mutating,
    client: readClientConfig(at(hook, "clientConfig")),
    rules: list(at(hook, "rules")).map(readRule),
    failurePolicy: at(hook, "failurePolicy") === "Ignore" ? "Ignore" : "Fail",
    matchPolicy: at(hook, "matchPolicy") === "Exact" ? "Exact" : "Equivalent",
    // Absent means everything here, unlike elsewhere: the real server defaults both selectors to {}.
    namespaceSelector: labelSelectorFromObject(obj(at(hook, "namespaceSelector"))),
    objectSelector: labelSelectorFromObject(obj(at(hook, "objectSelector"))),
    sideEffects: text(at(hook, "sideEffects")),
    timeoutSeconds: num(at(hook, "timeoutSeconds")) || 10,
    reinvoke: at(hook, "reinvocationPolicy") === "IfNeeded",
    conditions: list(at(hook, "matchConditions")).map((condition) => readCondition(condition, compile)),
  }));
}

/** Reads `clientConfig`. */
function readClientConfig(value: unknown): WebhookClientConfig {
  const service = at(value, "service");
  const bundle = text(at(value, "caBundle"));
  return {
    url: text(at(value, "url")) || undefined,
    service:
      service === undefined || service === null
        ? undefined
        : {
            namespace: text(at(service, "namespace")),
            name: text(at(service, "name")),
            path: text(at(service, "path")),
            port: num(at(service, "port")) || 443,
          },
    caPem: bundle === "" ? undefined : Buffer.from(bundle, "base64").toString("utf8"),
  };
}

function readRule(rule: unknown): WebhookRule {
  return {
    operations: texts(at(rule, "operations")),
    apiGroups: texts(at(rule, "apiGroups")),
    apiVersions: texts(at(rule, "apiVersions")),
    resources: texts(at(rule, "resources")),
    scope: text(at(rule, "scope")) || "*",
  };
}

function readCondition(condition: unknown, compile: CompileCondition): MatchCondition {
  const expression = text(at(condition, "expression"));
  let compiled: MatchCondition["evaluate"] | undefined;
  return {
    name: text(at(condition, "name")),
    expression,
    compile() {
      compiled ??= compile(expression);
    },
    evaluate(variables, budget) {
      compiled ??= compile(expression);
      return compiled(variables, budget);
    },
  };
}
