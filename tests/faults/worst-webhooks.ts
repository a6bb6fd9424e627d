import { type Json, repeat } from "./worst-bodies.ts";
import type { WorstRequest } from "./worst-requests.ts";

const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const MAPS = "/api/v1/namespaces/worst/configmaps";
/** The maximum of one webhook. */
const CONDITIONS = 64;

const NUMBERS = `[${repeat(1_000, (i) => i).join()}]`;
/** Exceeds the cost limit of one expression. */
const DEAR = `${NUMBERS}.all(a, ${NUMBERS}.all(b, a + b >= 0))`;

/** Webhooks that are asked about ConfigMaps with a label of this name; no server listens, and failures are ignored. */
function configuration(label: string, webhooks: number, conditions: readonly string[]): Json {
  return {
    metadata: { name: label },
    webhooks: repeat(webhooks, (i) => ({
      name: `w${i}.worst.example`,
      failurePolicy: "Ignore",
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      clientConfig: { url: "https://127.0.0.1:1" },
      objectSelector: { matchLabels: { judge: label } },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
      matchConditions: conditions.map((expression, k) => ({ name: `c${k}`, expression })),
    })),
  };
}

const clear = (path: string): WorstRequest => ({ name: "clear", method: "DELETE", path });

function configured(label: string, webhooks: number, conditions: readonly string[]): WorstRequest {
  return {
    name: `webhook configuration: ${webhooks} × ${conditions.length} match conditions`,
    method: "POST",
    path: CONFIGURATIONS,
    body: () => configuration(label, webhooks, conditions),
    before: [clear(`${CONFIGURATIONS}/${label}`)],
  };
}

/** The configuration itself, and an object that it matches. */
function both(label: string, webhooks: number, conditions: readonly string[]): WorstRequest[] {
  const configure = configured(label, webhooks, conditions);
  return [
    configure,
    {
      name: `ConfigMap that ${webhooks} × ${conditions.length} match conditions judge`,
      method: "POST",
      path: MAPS,
      body: () => ({ metadata: { name: label, labels: { judge: label } } }),
      // Created again, so that nothing is compiled yet.
      before: [clear(`${MAPS}/${label}`), ...(configure.before ?? []), configure],
    },
    clear(`${CONFIGURATIONS}/${label}`),
  ];
}

/** Expensive match conditions of webhooks. */
export function webhookRequests(): WorstRequest[] {
  const short = repeat(CONDITIONS, (i) => `object.metadata.name != 'v${i}'`);
  const long = repeat(25, (i) => repeat(2_600, (k) => `object.metadata.name != 'v${i}-${k}'`).join(" && "));
  return [
    ...both("many", 25, short),
    ...both("long", 1, long),
    ...both(
      "dear",
      4,
      repeat(CONDITIONS, () => DEAR),
    ),
  ];
}
