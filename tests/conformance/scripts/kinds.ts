import type { Script, Step } from "../harness/script.ts";
import { differing, TABLE } from "../harness/script.ts";

const N = "/api/v1/namespaces/<ns>";
const post = (path: string, body: object): Step => ({ do: `POST ${path}`, body });
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/<ns>/leases";
const EVENTS = `${N}/events`;
const WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

/** A webhook that asks for its conditions. */
function matching(...matchConditions: readonly Record<string, string>[]): object {
  const hook = {
    name: "a.b.c",
    clientConfig: { url: "https://127.0.0.1:1/x" },
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    matchConditions,
  };
  return { metadata: { name: "c-matching" }, webhooks: [hook] };
}

/** Built-in kinds: their defaults, validation and Tables. */
export const kinds: Script = {
  name: "kinds",
  steps: [
    post(`${N}/secrets`, { metadata: { name: "s" }, stringData: { a: "b" }, data: { c: "ZA==" } }),
    post(`${N}/secrets`, { metadata: { name: "bad" }, data: { a: "!!" } }),
    post(`${N}/secrets`, { metadata: { name: "bad" }, data: { "a b": "AA==" } }),
    post(`${N}/secrets`, { metadata: { name: "tls" }, type: "kubernetes.io/tls", data: {} }),
    post(`${N}/secrets`, {
      metadata: { name: "docker" },
      type: "kubernetes.io/dockerconfigjson",
      data: { ".dockerconfigjson": "eA==" },
    }),
    post(`${N}/secrets`, { metadata: { name: "basic" }, type: "kubernetes.io/basic-auth", data: {} }),
    post(`${N}/secrets`, { metadata: { name: "ssh" }, type: "kubernetes.io/ssh-auth", data: {} }),
    post(`${N}/secrets`, { metadata: { name: "sa" }, type: "kubernetes.io/service-account-token" }),
    { do: `PATCH ${N}/secrets/s`, body: { type: "other" } },
    { do: `PATCH ${N}/secrets/s`, body: { immutable: true }, only: ["immutable"] },
    { do: `PATCH ${N}/secrets/s`, body: { immutable: null, data: { x: "AA==" } } },
    { do: `GET ${N}/secrets?fieldSelector=type%3DOpaque`, only: ["items.0.metadata.name", "items.1"] },
    {
      do: `GET ${N}/secrets`,
      accept: TABLE,
      only: [
        "rows.0.cells",
        "columnDefinitions.0.name",
        "columnDefinitions.1.name",
        "columnDefinitions.2.name",
        "columnDefinitions.3.name",
      ],
    },
    post(`${N}/serviceaccounts`, {
      metadata: { name: "sa" },
      automountServiceAccountToken: false,
      imagePullSecrets: [{ name: "x" }],
    }),
    {
      do: `GET ${N}/serviceaccounts/sa`,
      accept: TABLE,
      only: ["rows.0.cells", "columnDefinitions.1.name", "columnDefinitions.2.name"],
    },
    post(LEASES, {
      metadata: { name: "l" },
      spec: {
        holderIdentity: "me",
        leaseDurationSeconds: 15,
        renewTime: "2020-01-01T00:00:00.123456Z",
        acquireTime: "2020-01-01T00:00:00.000000Z",
        leaseTransitions: 0,
      },
    }),
    post(LEASES, { metadata: { name: "bad" }, spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }),
    post(LEASES, { metadata: { name: "bad" }, spec: { renewTime: "soon" } }),
    post(LEASES, { metadata: { name: "bad" }, spec: { renewTime: "2020-01-01T00:00:00Z" } }),
    { do: `PUT ${LEASES}/l`, body: { metadata: { name: "l" }, spec: { holderIdentity: "you" } } },
    { do: `PUT ${LEASES}/fresh`, body: { metadata: { name: "fresh" }, spec: { holderIdentity: "you" } } },
    { do: `GET ${LEASES}/l`, accept: TABLE, only: ["rows.0.cells", "columnDefinitions.1.name"] },
    post(EVENTS, {
      metadata: { name: "e" },
      involvedObject: { kind: "ConfigMap", namespace: "<ns>", name: "x", uid: "1" },
      reason: "Because",
      message: "text",
      type: "Normal",
      count: 1,
      source: { component: "test" },
      firstTimestamp: "2020-01-01T00:00:00Z",
      lastTimestamp: "2020-01-01T00:00:00Z",
    }),
    post(EVENTS, { metadata: { name: "bad" }, involvedObject: { namespace: "default" } }),
    {
      do: `GET ${EVENTS}?fieldSelector=involvedObject.name%3Dx%2Creason%3DBecause%2Ctype%3DNormal`,
      only: ["items.0.metadata.name", "items.1"],
    },
    { do: `GET ${EVENTS}?fieldSelector=nope%3Dx` },
    {
      do: `GET ${EVENTS}/e`,
      accept: TABLE,
      only: ["rows.0.cells.1", "rows.0.cells.2", "rows.0.cells.3", "rows.0.cells.4", "columnDefinitions.9.name"],
    },
    { do: "GET /apis/events.k8s.io/v1/namespaces/<ns>/events/e" },
    post("/apis/events.k8s.io/v1/namespaces/<ns>/events", {
      metadata: { name: "e1" },
      eventTime: "2020-01-01T00:00:00.000001Z",
      reportingController: "x.io/c",
      reportingInstance: "i",
      action: "Do",
      reason: "Why",
      regarding: { kind: "ConfigMap", name: "x", namespace: "<ns>" },
      type: "Warning",
      note: "n",
    }),
    post("/apis/events.k8s.io/v1/namespaces/<ns>/events", {
      metadata: { name: "bad" },
      regarding: { namespace: "<ns>" },
    }),
    { do: `GET ${EVENTS}/e1` },
    {
      do: `PUT ${EVENTS}/fresh`,
      body: { metadata: { name: "fresh" }, involvedObject: { namespace: "<ns>" } },
      only: ["metadata.name", "message"],
    },
    differing(
      "service-defaults",
      post(`${N}/services`, {
        metadata: { name: "svc" },
        spec: { ports: [{ port: 80 }], clusterIP: "None", selector: { a: "b" } },
      }),
    ),
    post(`${N}/services`, {
      metadata: { name: "bad" },
      spec: { type: "Weird", clusterIP: "None", ports: [{ port: 0 }] },
    }),
    post(`${N}/services`, {
      metadata: { name: "bad" },
      spec: { clusterIP: "None", ports: [{ port: 1 }, { port: 2 }] },
    }),
    post(`${N}/pods`, { metadata: { name: "bad" }, spec: { containers: [] } }),
    post(`${N}/pods`, {
      metadata: { name: "bad" },
      spec: { containers: [{ name: "A b", image: "" }], restartPolicy: "Sometimes" },
    }),
    post("/apis/apps/v1/namespaces/<ns>/deployments", {
      metadata: { name: "bad" },
      spec: {
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "c" } }, spec: { containers: [{ name: "x", image: "y" }] } },
      },
    }),
    post("/apis/apps/v1/namespaces/<ns>/deployments", { metadata: { name: "bad" }, spec: {} }),
    post("/apis/batch/v1/namespaces/<ns>/jobs", {
      metadata: { name: "bad" },
      spec: { template: { spec: { containers: [{ name: "x", image: "y" }], restartPolicy: "Always" } } },
    }),
    differing(
      "json-order",
      post("/apis/policy/v1/namespaces/<ns>/poddisruptionbudgets", {
        metadata: { name: "bad" },
        spec: { minAvailable: "x", maxUnavailable: 1 },
      }),
    ),
    differing(
      "new-nodes",
      post("/api/v1/nodes", {
        metadata: { name: "c-kinds-node" },
        spec: { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.1.0/24"] },
      }),
    ),
    post("/api/v1/nodes", { metadata: { name: "c-kinds-node" }, spec: { taints: [{ key: "a b", effect: "Nope" }] } }),
    post("/apis/scheduling.k8s.io/v1/priorityclasses", { metadata: { name: "system-mine" }, value: 1 }),
    post("/apis/storage.k8s.io/v1/storageclasses", { metadata: { name: "bad" }, provisioner: "" }),
    post(WEBHOOKS, {
      metadata: { name: "c-kinds" },
      webhooks: [
        {
          name: "a.b.c",
          clientConfig: { url: "https://127.0.0.1:1/x" },
          rules: [],
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    }),
    post(WEBHOOKS, {
      metadata: { name: "bad" },
      webhooks: [
        {
          name: "short",
          clientConfig: {},
          rules: [{ operations: [], apiGroups: [], apiVersions: [], resources: [] }],
          sideEffects: "Many",
          admissionReviewVersions: [],
          timeoutSeconds: 40,
          failurePolicy: "Hmm",
        },
      ],
    }),
    post(WEBHOOKS, {
      metadata: { name: "bad" },
      webhooks: [
        {
          name: "a.b.c",
          clientConfig: { url: "http://x", service: { name: "s", namespace: "n" } },
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
          matchConditions: [{ name: "x", expression: "nope(" }],
        },
      ],
    }),
    post(WEBHOOKS, matching({ name: "x", expression: "object.a + 1" }, { name: "x", expression: " " })),
    post(WEBHOOKS, matching({ name: "not a name", expression: "true" }, { expression: "'text'" })),
    post(WEBHOOKS, matching({ name: "x", expression: "request.nope == 'a'" })),
    post(WEBHOOKS, matching({ name: "x", expression: "request.kind.nope == 'a' && request.userInfo.username == 1" })),
    post(WEBHOOKS, matching({ name: "x", expression: "unknown.a == 1" })),
    post(WEBHOOKS, matching({ name: "x", expression: "authorizer.path('/x').check('get')" })),
    post(WEBHOOKS, matching({ name: "x", expression: "authorizer.group('a').check('get').allowed()" })),
    post(WEBHOOKS, matching({ name: "x", expression: "authorizer.requestResource.allowed()" })),
    post(
      `${WEBHOOKS}?dryRun=All`,
      matching(
        { name: "e", expression: "authorizer.requestResource.check('breakglass').allowed()" },
        { name: "f", expression: "authorizer.path('/healthz').check('get').reason() == 'x'" },
        {
          name: "g",
          expression:
            "authorizer.serviceAccount('a', 'b').group('apps').resource('deployments').subresource('scale').namespace('n').name('x').check('get').errored()",
        },
        { name: "a", expression: "request.userInfo.groups.exists(g, g == 'system:nodes') && !request.dryRun" },
        { name: "b", expression: "object.metadata.name.startsWith('x') || has(oldObject.spec)" },
        { name: "c.example/d", expression: "request.options.kind == 'CreateOptions' && 'k' in request.userInfo.extra" },
      ),
    ),
    { do: `DELETE ${WEBHOOKS}/c-kinds`, only: ["status"] },
    post(CSRS, { metadata: { name: "bad" }, spec: { request: "AA==", signerName: "x", usages: ["nope"] } }),
    post(CSRS, { metadata: { name: "bad" }, spec: {} }),
    post(`${N}/configmaps`, { metadata: { name: "cm" }, data: { a: "1" }, binaryData: { b: "AA==" } }),
    { do: `GET ${N}/configmaps/cm`, accept: TABLE, only: ["rows.0.cells"] },
    { do: `GET ${N}/configmaps/cm/status` },
  ],
};
