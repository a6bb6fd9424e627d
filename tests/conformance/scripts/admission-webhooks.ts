import { crd, installCrd, JSON_PATCH, type Script, type Step } from "../harness/script.ts";
import { type AdmissionBehaviour, admissionPath } from "../harness/webhook-server.ts";

const API = "/apis/admissionregistration.k8s.io/v1";
const CM = "/api/v1/namespaces/<ns>/configmaps";
const GADGETS = "/apis/admission.example/v1/namespaces/<ns>/gadgets";

const NOBODY = "authorizer.serviceAccount('default', 'stranger')";

/** Match conditions each of which costs more than an expression may. */
function dear(count: number): object[] {
  const numbers = "[1,2,3,4,5,6,7,8,9,10]";
  const expression = [..."abcdef"].reduce((inner, name) => `${numbers}.all(${name}, ${inner})`, "true");
  return Array.from({ length: count }, (_, i) => ({ name: `dear-${i}`, expression }));
}

/** A short webhook configuration for ConfigMaps with the label `ask: <ask>`. */
interface Hook extends Readonly<Record<string, unknown>> {
  readonly ask: string;
  readonly does: AdmissionBehaviour;
}

function hook({ ask, does, ...rest }: Hook): object {
  return {
    name: `${ask}.webhooks.example`,
    clientConfig: { url: `<webhooks.url>${admissionPath(does)}`, caBundle: "<webhooks.ca>" },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE", "UPDATE"] }],
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "<ns>" } },
    objectSelector: { matchLabels: { ask } },
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    timeoutSeconds: 5,
    ...rest,
  };
}

/** Writes a configuration and waits until the server applies it: its last webhook denies objects labelled with its name. */
function configure(kind: "mutating" | "validating", name: string, hooks: readonly Hook[]): Step[] {
  const probe = hook({ ask: `probe-${name}`, does: { response: { allowed: false, status: { code: 418 } } } });
  const labels = { ask: `probe-${name}` };
  return [
    {
      do: `POST ${API}/${kind}webhookconfigurations`,
      body: { metadata: { name: `c-${name}` }, webhooks: [...hooks.map(hook), probe] },
      only: ["kind", "code", "message"],
    },
    { wait: `POST ${CM}?dryRun=All`, body: { metadata: { name: "probe", labels } }, status: 418 },
  ];
}

const create = (ask: string, rest: Partial<Extract<Step, { do: string }>> = {}, query = ""): Step => ({
  do: `POST ${CM}${query}`,
  body: { metadata: { name: ask, labels: { ask } }, data: { a: "b" } },
  ...rest,
});

const denial = (status?: object): AdmissionBehaviour => ({
  response: { allowed: false, ...(status ? { status } : {}) },
});
const add = (path: string, value: unknown): object => ({ op: "add", path, value });

const VALIDATING: readonly Hook[] = [
  { ask: "allow", does: {} },
  { ask: "warn", does: { response: { warnings: ["mind the gap", 'a "quoted" one', "Größe", "line\nbreak"] } } },
  { ask: "deny", does: denial() },
  { ask: "deny-message", does: denial({ message: "not on a Tuesday" }) },
  { ask: "deny-reason", does: denial({ reason: "Teapot" }) },
  { ask: "deny-success", does: denial({ status: "Success", code: 200, message: "odd" }) },
  {
    ask: "deny-whole",
    does: denial({
      code: 403,
      reason: "Forbidden",
      message: "go away",
      details: { name: "x", causes: [{ reason: "R", message: "m", field: "f" }], retryAfterSeconds: 3 },
    }),
  },
  { ask: "deny-warn", does: { response: { allowed: false, warnings: ["also warned"] } } },
  { ask: "http-500", does: { http: [500, "broken inside"] } },
  { ask: "http-404", does: { http: [404, "no such hook"] } },
  { ask: "http-400", does: { http: [400, "malformed"] } },
  { ask: "http-503", does: { http: [503, ""] } },
  { ask: "no-json", does: { http: [200, "hello"] } },
  { ask: "no-response", does: { review: { response: undefined } } },
  { ask: "wrong-uid", does: { response: { uid: "other" } } },
  { ask: "wrong-kind", does: { review: { kind: "Review" } } },
  { ask: "wrong-version", does: { review: { apiVersion: "admission.k8s.io/v1beta1" } } },
  { ask: "patches", does: { patch: [add("/data/x", "y")] } },
  { ask: "patch-type", does: { response: { patchType: "JSONPatch" } } },
  { ask: "hangs", does: { hang: true }, timeoutSeconds: 1 },
  { ask: "cuts", does: { cut: true } },
  { ask: "ignored", does: { http: [500, "broken"] }, failurePolicy: "Ignore" },
  { ask: "ignored-denies", does: denial({ message: "still no" }), failurePolicy: "Ignore" },
  {
    ask: "refused",
    does: {},
    clientConfig: { url: "https://127.0.0.1:1/closed", caBundle: "<webhooks.ca>" },
  },
  {
    ask: "nowhere",
    does: {},
    clientConfig: { service: { namespace: "<ns>", name: "absent", path: "/hook" }, caBundle: "<webhooks.ca>" },
  },
  {
    ask: "own-certificate",
    does: denial({ message: "trusted" }),
    clientConfig: {
      url: `<webhooks.url>${admissionPath(denial({ message: "trusted" }))}`,
      caBundle: "<webhooks.serving>",
    },
  },
  { ask: "quotes", does: { quote: ["kind", "resource", "requestKind", "operation", "name", "namespace", "dryRun"] } },
  { ask: "quotes-rest", does: { quote: ["object", "oldObject", "options", "userInfo", "subResource"] } },
  { ask: "some", does: denial(), sideEffects: "NoneOnDryRun" },
  {
    ask: "matched",
    does: denial({ message: "matched" }),
    matchConditions: [{ name: "large", expression: "object.data.size() > 1" }],
  },
  {
    ask: "match-fails",
    does: denial(),
    matchConditions: [
      { name: "first", expression: "object.data.nope == 'x'" },
      { name: "second", expression: "object.data.neither == 'x'" },
    ],
  },
  {
    ask: "match-skips",
    does: denial(),
    matchConditions: [
      { name: "first", expression: "object.data.nope == 'x'" },
      { name: "second", expression: "object.data.a == 'c'" },
    ],
  },
  {
    ask: "match-ignored",
    does: denial(),
    failurePolicy: "Ignore",
    matchConditions: [{ name: "first", expression: "object.data.nope == 'x'" }],
  },
  {
    ask: "match-user",
    does: denial({ message: "admins only" }),
    matchConditions: [{ name: "who", expression: "!('system:masters' in request.userInfo.groups)" }],
  },
  ...["Fail", "Ignore"].map((failurePolicy) => ({
    ask: `match-dear-${failurePolicy.toLowerCase()}`,
    does: denial(),
    failurePolicy,
    // Their total cost exceeds the limit, which takes precedence over the first not holding.
    matchConditions: [{ name: "no", expression: "false" }, ...dear(3)],
  })),
  { ask: "match-dear-two", does: denial(), matchConditions: dear(2) },
  {
    ask: "match-may",
    does: denial({ message: "may" }),
    matchConditions: [{ name: "may", expression: "authorizer.requestResource.check('create').allowed()" }],
  },
  {
    ask: "match-may-not",
    does: denial(),
    matchConditions: [{ name: "may", expression: `${NOBODY}.group('').resource('secrets').check('get').allowed()` }],
  },
  {
    ask: "match-reason",
    does: denial({ message: "no reason" }),
    matchConditions: [
      { name: "reason", expression: `${NOBODY}.path('/metrics').check('get').reason() == ''` },
      { name: "errored", expression: `!${NOBODY}.path('/metrics').check('get').errored()` },
    ],
  },
  {
    ask: "match-bad-account",
    does: denial(),
    matchConditions: [
      { name: "may", expression: "authorizer.serviceAccount('a b', 'c').path('/x').check('get').allowed()" },
    ],
  },
];

const MUTATING: readonly Hook[] = [
  { ask: "adds", does: { patch: [add("/data/x", "y"), add("/metadata/annotations", { by: "webhook" })] } },
  { ask: "unknown-field", does: { patch: [add("/nonsense", 1), add("/metadata/nonsense", 1)] } },
  { ask: "bad-type", does: { patch: [add("/data/x", 5)] } },
  { ask: "bad-path", does: { patch: [add("/no/such/place", 5)] } },
  { ask: "bad-test", does: { patch: [{ op: "test", path: "/data/a", value: "z" }] } },
  { ask: "no-patch", does: { patch: [] } },
  { ask: "untyped", does: { response: { patch: Buffer.from("[]").toString("base64") } } },
  { ask: "only-type", does: { response: { patchType: "JSONPatch" } } },
  { ask: "other-type", does: { patch: [add("/data/x", "y")], response: { patchType: "MergePatch" } } },
  { ask: "no-array", does: { response: { patchType: "JSONPatch", patch: Buffer.from("{}").toString("base64") } } },
  { ask: "breaks", does: { patch: [add("/data/bad key", "y")] } },
  { ask: "renames", does: { patch: [add("/metadata/name", "renamed")] } },
  { ask: "moves", does: { patch: [add("/metadata/namespace", "elsewhere")] } },
  { ask: "other-kind", does: { patch: [add("/kind", "Secret")] } },
  { ask: "says-no", does: { patch: [add("/data/x", "y")], response: { allowed: false } } },
  { ask: "late", does: { http: [500, "late"] }, failurePolicy: "Ignore" },
  { ask: "effects", does: {}, sideEffects: "NoneOnDryRun" },
  { ask: "deleted", does: denial({ message: "keep it" }), rules: rules("configmaps", "DELETE") },
  { ask: "patch-deleted", does: { patch: [add("/data/x", "y")] }, rules: rules("configmaps", "DELETE") },
];

function rules(resource: string, operation: string, group = "", version = "v1"): object[] {
  return [{ apiGroups: [group], apiVersions: [version], resources: [resource], operations: [operation] }];
}

/** They count their calls: a and b request reinvocation, c does not; d and e cause each other's reinvocation. */
const COUNTING: readonly Hook[] = ["a", "b", "c", "d", "e"].map((label) => ({
  ask: label < "d" ? "counted" : "mutual",
  name: `${label}.webhooks.example`,
  does: { count: label },
  reinvocationPolicy: label === "c" ? "Never" : "IfNeeded",
}));

const definition = crd("gadgets", "admission.example", [
  {
    name: "v1",
    schema: {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: { size: { type: "integer" }, colour: { type: "string", default: "red" } },
        },
      },
    },
    subresources: { status: {}, scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } },
  },
  { name: "v2", storage: false, schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
]);

const CUSTOM: readonly Hook[] = [
  {
    ask: "gadget-patched",
    does: { patch: [add("/spec/size", 7), add("/spec/unknown", 1), { op: "remove", path: "/spec/colour" }] },
    rules: rules("gadgets", "CREATE", "admission.example"),
  },
  {
    ask: "gadget-spoilt",
    does: { patch: [add("/spec/size", "seven")] },
    rules: rules("gadgets", "CREATE", "admission.example"),
  },
  {
    ask: "gadget-shown",
    does: { quote: ["kind", "resource", "requestKind", "requestResource", "object"] },
    rules: rules("gadgets", "CREATE", "admission.example", "v2"),
  },
  {
    ask: "gadget-exact",
    does: denial(),
    matchPolicy: "Exact",
    rules: rules("gadgets", "CREATE", "admission.example", "v2"),
  },
  {
    ask: "gadget-status",
    does: { quote: ["kind", "resource", "subResource", "requestSubResource", "operation", "name", "options"] },
    rules: rules("gadgets/status", "UPDATE", "admission.example"),
  },
];

const gadget = (ask: string, spec: object = { size: 1 }): Step => ({
  do: `POST ${GADGETS}`,
  body: {
    apiVersion: "admission.example/v1",
    kind: "Gadget",
    metadata: { name: ask, labels: { ask } },
    spec,
  },
});

const NONSENSE = new Set(["no-json", "wrong-kind", "wrong-version", "bad-path", "bad-test", "other-kind"]);

const nonsense = (ask: string): { differs?: string } => (NONSENSE.has(ask) ? { differs: "webhook-nonsense" } : {});

const NOT_COMPARED = new Set(["quotes-rest", "some", "matched"]);

/** Webhook requests and responses: mutations, failures, policies, conditions, reinvocation and dry run. */
export const admissionWebhooks: Script = {
  name: "admission-webhooks",
  steps: [
    ...configure("validating", "validating", VALIDATING),
    ...VALIDATING.filter(({ ask }) => !NOT_COMPARED.has(ask)).map(({ ask }) => create(ask, nonsense(ask))),
    create("allow", { body: { metadata: { name: "unlabelled" }, data: { a: "b" } } }),
    create("quotes-rest", { id: "rest" }, "?fieldManager=me&fieldValidation=Strict"),
    create("quotes", {}, "?dryRun=All"),
    { do: `PATCH ${CM}/allow`, body: { metadata: { labels: { ask: "quotes" } } } },
    { do: `PATCH ${CM}/allow?fieldManager=me`, body: { metadata: { labels: { ask: "quotes-rest" } } } },
    create("quotes-rest"),
    {
      do: `PUT ${CM}/allow?fieldManager=me&fieldValidation=Warn`,
      body: { metadata: { name: "allow", labels: { ask: "quotes-rest" } } },
    },
    { do: `PUT ${CM}/allow`, body: { metadata: { name: "allow", labels: { ask: "quotes-rest" } } } },
    { do: `PATCH ${CM}/allow`, type: JSON_PATCH, body: [add("/data/c", "d")] },
    create("deny", {}, "?dryRun=All"),
    create("some", {}, "?dryRun=All"),
    create("matched"),
    create("matched", { body: { metadata: { name: "m2", labels: { ask: "matched" } }, data: { a: "b", c: "d" } } }),
    create("match-user", { as: "bob,system:masters" }),
    { do: `DELETE ${API}/validatingwebhookconfigurations/c-validating`, only: ["status"] },
    ...configure("mutating", "mutating", MUTATING),
    ...MUTATING.map(({ ask }) => create(ask, nonsense(ask))),
    create("adds", {}, "?dryRun=All"),
    { do: `GET ${CM}/adds` },
    { do: `DELETE ${CM}/deleted` },
    { do: `DELETE ${CM}/patch-deleted` },
    { do: `PATCH ${CM}/adds`, body: { data: { a: "c" } } },
    { do: `DELETE ${API}/mutatingwebhookconfigurations/c-mutating`, only: ["status"] },
    ...configure("mutating", "counting", COUNTING),
    create("counted"),
    create("mutual"),
    { do: `PATCH ${CM}/counted`, body: { data: { a: "c" } } },
    { do: `DELETE ${API}/mutatingwebhookconfigurations/c-counting`, only: ["status"] },
    ...installCrd(definition),
    ...configure("mutating", "custom", CUSTOM),
    gadget("gadget-patched", { size: 1, colour: "blue" }),
    { do: `GET ${GADGETS}/gadget-patched` },
    gadget("gadget-spoilt"),
    gadget("gadget-shown"),
    gadget("gadget-exact"),
    gadget("gadget-status"),
    { do: `PATCH ${GADGETS}/gadget-status/status`, body: { spec: { size: 5 } } },
    { do: `DELETE ${API}/mutatingwebhookconfigurations/c-custom`, only: ["status"] },
    {
      do: `POST ${API}/validatingwebhookconfigurations`,
      body: {
        metadata: { name: "c-effects" },
        webhooks: [
          hook({ ask: "x", does: {}, sideEffects: "Some" }),
          hook({ ask: "y", does: {}, sideEffects: "Unknown" }),
        ],
      },
      only: ["code", "message"],
    },
  ],
};
