import type { CelBudget, LabelSelector } from "@capstan/apimachinery";

/** One webhook of a configuration, read and defaulted. */
export interface Webhook {
  readonly name: string;
  readonly configuration: string;
  readonly mutating: boolean;
  readonly client: WebhookClientConfig;
  readonly rules: readonly WebhookRule[];
  readonly failurePolicy: "Fail" | "Ignore";
  readonly matchPolicy: "Exact" | "Equivalent";
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly sideEffects: string;
  readonly timeoutSeconds: number;
  readonly reinvoke: boolean;
  readonly conditions: readonly MatchCondition[];
}

/** A compiled matchCondition. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
  /** Gets ready to evaluate, which is done at first use otherwise; throws when the expression cannot be compiled. */
  compile(): void;
  /** Throws when the expression fails. */
  evaluate(variables: Readonly<Record<string, unknown>>, budget: CelBudget): unknown;
}

/** Turns a CEL expression over `object`, `oldObject` and `request` into a function; throws with the reason when it cannot. */
export type CompileCondition = (expression: string) => MatchCondition["evaluate"];

/** Which requests a webhook wants. */
export interface WebhookRule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly scope: string;
}

/** Where a webhook listens. */
export interface WebhookClientConfig {
  readonly url: string | undefined;
  readonly service:
    | { readonly namespace: string; readonly name: string; readonly path: string; readonly port: number }
    | undefined;
  readonly caPem: string | undefined;
}
