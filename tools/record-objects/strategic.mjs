/** Strategic merge patches of a Deployment. */
const PATH = "/apis/apps/v1/namespaces/default/deployments";
const TYPE = "application/strategic-merge-patch+json";

/** The fields of the base object, without what the server adds by default. */
function project({ metadata, spec }) {
  const { containers, volumes, nodeSelector } = spec.template.spec;
  return {
    metadata: { finalizers: metadata.finalizers, labels: metadata.labels, annotations: metadata.annotations },
    containers: containers.map(({ name, image, env, args }) => ({ name, image, env, args })),
    volumes,
    nodeSelector,
  };
}

export const strategic = {
  file: "testdata/strategic.golden.json",
  async record({ call, load }) {
    const { base, patches } = load("testdata/strategic.json");
    const labels = { app: "x" };
    const { metadata, ...pod } = base;
    const name = "strategic";
    const body = {
      metadata: { ...metadata, name, labels },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
    };
    const { status, text } = await call("POST", PATH, { body });
    if (status !== 201) throw new Error(text);
    const results = [];
    for (const patch of patches) {
      const sent = {
        ...(patch.metadata && { metadata: patch.metadata }),
        ...(patch.spec && { spec: { template: { spec: patch.spec } } }),
      };
      const { json } = await call("PATCH", `${PATH}/${name}?dryRun=All`, { body: sent, type: TYPE });
      results.push(json.kind === "Status" ? { error: json.message, code: json.code } : project(json));
    }
    return { results };
  },
};
