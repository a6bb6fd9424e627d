import { AGE, NAME } from "../columns.ts";
import { defineBuiltin } from "../define.ts";

/** core/v1 ServiceAccount. Whoever builds the server gives its `token` subresource a handler (see withSubresource). */
export const serviceAccount = defineBuiltin({
  group: "",
  kind: "ServiceAccount",
  shortNames: ["sa"],
  namespaced: true,
  subresources: [
    { name: "token", kind: "TokenRequest", group: "authentication.k8s.io", version: "v1", verbs: ["create"] },
  ],
  columns: [NAME, AGE],
  strategy: { noGeneration: true },
});
