import { crd, differing, installCrd, type Script, type Step, TABLE } from "../harness/script.ts";

const N = "/api/v1/namespaces/<ns>";
const CM = `${N}/configmaps`;
const HPA1 = "/apis/autoscaling/v1/namespaces/<ns>/horizontalpodautoscalers";
const HPA2 = "/apis/autoscaling/v2/namespaces/<ns>/horizontalpodautoscalers";
const PARTIAL = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/** A review, which is answered and not kept, in another form than JSON. */
function review(group: string, plural: string, kind: string, spec: object, accept: string): Step {
  const apiVersion = `${group}.k8s.io/v1`;
  return { do: `POST /apis/${apiVersion}/${plural}`, body: { apiVersion, kind, spec }, accept };
}

const ACCESS = { resourceAttributes: { verb: "get", resource: "pods" } };
const target = { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } };

function autoscaler(version: "v1" | "v2", name: string, spec: object): object {
  return { apiVersion: `autoscaling/${version}`, kind: "HorizontalPodAutoscaler", metadata: { name }, spec };
}

const WIDGETS = "/apis/clients.conformance.example/v1/namespaces/<ns>/widgets";
const template = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } };
const TEMPLATES = `${N}/podtemplates`;

/** The embedded API warns about kinds that it stores but does not run. */
const stored = (step: Step): Step => differing("workload-warning", step);

/** What common clients and tools send beyond kubectl's everyday requests. */
export const clients: Script = {
  name: "clients",
  steps: [
    ...["x", "5", "5y", "-", "0", "0s", "1h", "2s", "-1s", "1.5s", ".s", ""].map(
      (timeout): Step => ({ do: `GET ${CM}/missing?timeout=${timeout}` }),
    ),
    { do: `GET ${CM}?timeout=nope`, credentials: "none" },
    { do: `GET ${CM}/missing?watch=true&timeout=nope` },
    { do: `GET ${CM}?watch=False&timeout=nope` },
    { do: `GET ${CM}?watch=true&timeout=nope&timeoutSeconds=1`, only: ["type"] },
    { do: "GET /api/v1/watch/namespaces/<ns>/configmaps?timeout=nope&timeoutSeconds=1", only: ["type"] },
    { do: `POST ${CM}?timeout=nope`, body: {} },
    { do: "GET /version?timeout=nope", only: ["kind", "status", "reason", "message", "code"] },

    ...[TABLE, PARTIAL, PARTIAL_LIST].flatMap((accept): Step[] => [
      review("authorization", "selfsubjectaccessreviews", "SelfSubjectAccessReview", ACCESS, accept),
      review("authorization", "selfsubjectrulesreviews", "SelfSubjectRulesReview", { namespace: "default" }, accept),
      review("authorization", "subjectaccessreviews", "SubjectAccessReview", { user: "u", ...ACCESS }, accept),
      review("authentication", "selfsubjectreviews", "SelfSubjectReview", {}, accept),
      review("authentication", "tokenreviews", "TokenReview", { token: "x" }, accept),
    ]),
    review(
      "authorization",
      "selfsubjectaccessreviews",
      "SelfSubjectAccessReview",
      ACCESS,
      `${TABLE}, application/json`,
    ),

    ...[
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"zzz":1,"data":{"a":"1","a":"2"},"bogus":1}',
      '{"apiVersion":"v1","kind":"ConfigMap","bogus":1,"metadata":{"name":"x","nope":1,"name":"x"},"data":{"a":"1"}}',
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","name":"x","nope":1},"bogus":1,"bogus":2}',
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"1"},"nope":{"b":1,"b":2},"data":{}}',
      '{"kind":"ConfigMap","apiVersion":"v1","data":{"a":"1"},"metadata":{"labels":{"a":"b","a":"c"},"what":1,"name":"x"}}',
    ].map((body): Step => ({ do: `POST ${CM}?fieldValidation=Strict&dryRun=All`, body })),
    ...[
      '{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","imag":1,"name":"d"},{"nam":1,"name":"e","image":"i"}],"nope":1},"wrong":1}',
      '{"metadata":{"name":"x"},"spec":{"nope":{"a":1},"restartPolicy":"Never","restartPolicy":"Always","containers":[{"name":"c","image":"i"}],"a":1}}',
    ].map((body): Step => ({ do: `POST ${N}/pods?fieldValidation=Strict&dryRun=All`, body })),

    { do: "GET /apis/autoscaling" },
    { do: "GET /apis/autoscaling/v1" },
    { do: "GET /apis/autoscaling/v2" },
    stored({ do: `POST ${HPA1}`, body: autoscaler("v1", "cpu", { ...target, maxReplicas: 5 }) }),
    stored({
      do: `POST ${HPA1}`,
      body: autoscaler("v1", "cpu-70", {
        ...target,
        minReplicas: 2,
        maxReplicas: 5,
        targetCPUUtilizationPercentage: 70,
      }),
    }),
    stored({
      do: `POST ${HPA2}`,
      body: autoscaler("v2", "memory", {
        ...target,
        maxReplicas: 3,
        metrics: [
          { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } } },
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } } },
        ],
        behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
      }),
    }),
    { do: `GET ${HPA2}/cpu` },
    { do: `GET ${HPA2}/cpu-70` },
    { do: `GET ${HPA1}/memory` },
    differing("descriptions", { do: `GET ${HPA2}/memory`, accept: TABLE }),
    differing("descriptions", { do: `GET ${HPA1}/cpu-70`, accept: TABLE }),
    { do: `POST ${HPA2}`, body: autoscaler("v2", "bad", { maxReplicas: 0 }) },
    { do: `POST ${HPA2}`, body: autoscaler("v2", "bad", { ...target, minReplicas: 7, maxReplicas: 3 }) },
    {
      do: `POST ${HPA1}`,
      body: autoscaler("v1", "bad", { ...target, maxReplicas: 3, targetCPUUtilizationPercentage: 0 }),
    },
    { do: `DELETE ${HPA1}/cpu` },

    stored({
      do: `POST ${TEMPLATES}`,
      body: { apiVersion: "v1", kind: "PodTemplate", metadata: { name: "a" }, template },
    }),
    differing("descriptions", { do: `GET ${TEMPLATES}/a`, accept: TABLE }),
    { do: `POST ${TEMPLATES}`, body: { apiVersion: "v1", kind: "PodTemplate", metadata: { name: "b" } } },

    {
      do: "GET /api/v1/namespaces/default/services/kubernetes",
      only: [
        "metadata.name",
        "metadata.labels",
        "spec.type",
        "spec.ports.0.name",
        "spec.ports.0.port",
        "spec.sessionAffinity",
      ],
    },

    stored({
      do: `POST ${N}/pods`,
      body: { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: template.spec },
      only: ["kind"],
    }),
    {
      do: `POST ${N}/pods/p/binding`,
      body: { apiVersion: "v1", kind: "Binding", metadata: { name: "p" }, target: {} },
    },
    {
      do: `POST ${N}/pods/p/binding`,
      body: { apiVersion: "v1", kind: "Binding", metadata: { name: "q" }, target: { kind: "Node", name: "n1" } },
    },
    {
      do: `POST ${N}/pods/p/binding?dryRun=All`,
      body: { apiVersion: "v1", kind: "Binding", metadata: { name: "p" }, target: { kind: "Node", name: "n1" } },
    },
    { do: `GET ${N}/pods/p`, only: ["spec.nodeName", "status.conditions.0.type"] },
    {
      do: `POST ${N}/pods/p/binding`,
      body: {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name: "p", annotations: { a: "b" } },
        target: { kind: "Node", name: "n1" },
      },
    },
    {
      do: `GET ${N}/pods/p`,
      only: ["spec.nodeName", "metadata.annotations", "status.conditions.0.type", "status.conditions.0.status"],
    },
    {
      do: `POST ${N}/pods/p/binding`,
      body: { apiVersion: "v1", kind: "Binding", metadata: { name: "p" }, target: { kind: "Node", name: "n2" } },
    },
    {
      do: `POST ${N}/pods/missing/binding`,
      body: { apiVersion: "v1", kind: "Binding", metadata: { name: "missing" }, target: { kind: "Node", name: "n1" } },
    },

    ...installCrd(
      crd("widgets", "clients.conformance.example", {
        schema: {
          type: "object",
          properties: {
            spec: { type: "object", description: "What is wanted.", properties: { size: { type: "integer" } } },
          },
        },
      }),
    ),
    {
      do: `POST ${WIDGETS}`,
      body: {
        apiVersion: "clients.conformance.example/v1",
        kind: "Widget",
        metadata: { name: "w", labels: { a: "b" } },
        spec: { size: 1 },
      },
    },
    { do: `GET ${WIDGETS}`, accept: PARTIAL_LIST },
    { watch: "partial", path: `${WIDGETS}?watch=true&timeoutSeconds=20`, accept: PARTIAL },
    { events: "partial", count: 1 },
    { watch: "cm", path: `${CM}?watch=true&timeoutSeconds=20`, accept: PARTIAL },
    { events: "cm", count: 1 },
    { do: `GET ${CM}`, accept: PARTIAL_LIST },
  ],
};
