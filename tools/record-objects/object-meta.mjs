/** What is said about the metadata of a ConfigMap. */
const PATH = "/api/v1/namespaces/default/configmaps?dryRun=All";
/** Written out, the longest annotation would be most of the file. */
const LONG = "<262144 bytes>";

export const objectMeta = {
  file: "testdata/object-meta.golden.json",
  async record({ call, before }) {
    const cases = [];
    for (const { meta } of before.cases) {
      const annotations = meta.annotations?.a === LONG ? { annotations: { a: "x".repeat(262144) } } : {};
      const { status, json } = await call("POST", PATH, { body: { metadata: { ...meta, ...annotations } } });
      cases.push(status === 201 ? { meta } : { meta, message: json.message, causes: json.details?.causes });
    }
    return { cases };
  },
  /** Generated names are random. */
  comparable: (value) => JSON.parse(JSON.stringify(value).replaceAll(/(?<=\\"Bad-)\w+(?=\\")/g, "x")),
};
