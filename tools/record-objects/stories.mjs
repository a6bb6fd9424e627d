/** Stories of several managers who write to one object: what it is after each step, and who owns which field. */
import { setTimeout as sleep } from "node:timers/promises";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const COLLECTION = (version) => `/apis/test.example/${version}/namespaces/default/widgets`;

function normalize(object) {
  if (object.kind === "Status") {
    const { message, reason, code, details } = object;
    return { error: { code, reason, message, causes: details?.causes } };
  }
  const { managedFields = [], labels, annotations, finalizers, ownerReferences } = object.metadata;
  const entries = managedFields.map(({ time, ...entry }) => ({ ...entry, timed: time !== undefined }));
  const { apiVersion, spec, status } = object;
  return {
    apiVersion,
    metadata: { labels, annotations, finalizers, ownerReferences },
    spec,
    status,
    managedFields: entries,
  };
}

async function play(call, object, step) {
  const version = step.version ?? "v1";
  const query = `?fieldManager=${step.manager}${step.force ? "&force=true" : ""}`;
  const path = `${COLLECTION(version)}/${object}${step.sub ? `/${step.sub}` : ""}`;
  const body = {
    apiVersion: `test.example/${version}`,
    kind: "Widget",
    ...step.body,
    metadata: { ...step.body.metadata, name: object },
  };
  if (step.do === "create") return await call("POST", COLLECTION(version) + query, { body });
  if (step.do === "apply") return await call("PATCH", path + query, { body, type: "application/apply-patch+yaml" });
  if (step.do === "merge")
    return await call("PATCH", path + query, { body: step.body, type: "application/merge-patch+json" });
  body.metadata.resourceVersion = (await call("GET", path)).json.metadata.resourceVersion;
  return await call("PUT", path + query, { body });
}

/** Of several errors a map of Go's chooses the order. */
function withoutOrder({ stories: recorded }) {
  const order = ({ error, ...rest }) => {
    if ((error?.causes?.length ?? 0) < 2) return { error, ...rest };
    const causes = error.causes.map((cause) => JSON.stringify(cause)).sort();
    return { error: { ...error, causes, message: "" }, ...rest };
  };
  return recorded.map(({ name, results }) => ({ name, results: results.map(order) }));
}

export const stories = {
  file: "testdata/stories.golden.json",
  async record({ call, load }) {
    await call("POST", CRDS, { body: load("testdata/widget-crd.json") });
    while ((await call("GET", COLLECTION("v1"))).status !== 200) await sleep(200);
    const recorded = [];
    for (const [n, { name, steps }] of load("testdata/stories.json").stories.entries()) {
      const object = `w${n}`;
      const results = [];
      for (const step of steps) {
        const { json } = await play(call, object, step);
        // Names differ between stories; the error texts mention them.
        const text = JSON.stringify(normalize(json))
          .replaceAll(`default/${object};`, "default/NAME;")
          .replaceAll(`\\"${object}\\"`, '\\"NAME\\"');
        results.push(JSON.parse(text));
      }
      recorded.push({ name, results });
    }
    return { stories: recorded };
  },
  comparable: withoutOrder,
};
