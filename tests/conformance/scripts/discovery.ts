import { crd, installCrd, type Script, type Step } from "../harness/script.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const group = (path: string): Step => ({ do: `GET ${path}`, among: "resources" });

const definition = crd(
  "gizmos",
  "discovery.example",
  [
    { name: "v1beta1", storage: false },
    {
      name: "v1",
      storage: true,
      subresources: {
        status: {},
        scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
      },
    },
    { name: "v2alpha1", storage: false },
    { name: "v10", storage: false, served: false },
    { name: "other", storage: false },
  ],
  { names: { plural: "gizmos", kind: "Gizmo", shortNames: ["gz"], categories: ["all", "things"] } },
);

/** Discovery, old and aggregated, and the shape of OpenAPI. */
export const discovery: Script = {
  name: "discovery",
  steps: [
    ...installCrd(definition),
    { wait: "/apis/discovery.example/v1" },
    { wait: "/openapi/v3/apis/discovery.example/v1" },
    { do: "GET /api", mask: [/\d+\.\d+\.\d+\.\d+:\d+/], differs: "server-address" },
    group("/api/v1"),
    group("/apis/discovery.example"),
    group("/apis/discovery.example/v1"),
    group("/apis/discovery.example/v1beta1"),
    group("/apis/discovery.example/other"),
    group("/apis/discovery.example/v10"),
    group("/apis/apps"),
    group("/apis/apps/v1"),
    group("/apis/coordination.k8s.io"),
    group("/apis/coordination.k8s.io/v1"),
    group("/apis/rbac.authorization.k8s.io/v1"),
    group("/apis/authorization.k8s.io/v1"),
    group("/apis/authentication.k8s.io/v1"),
    group("/apis/apiextensions.k8s.io"),
    group("/apis/apiextensions.k8s.io/v1"),
    group("/apis/events.k8s.io/v1"),
    group("/apis/admissionregistration.k8s.io/v1"),
    group("/apis/certificates.k8s.io/v1"),
    { do: "GET /api", accept: AGGREGATED, among: "items.0.versions.0.resources", differs: "fewer-subresources" },
    { do: "GET /apis", accept: AGGREGATED, only: ["kind", "apiVersion", "metadata"] },
    { do: "GET /apis", only: ["kind", "apiVersion"] },
    { do: "GET /apis/", only: ["kind", "apiVersion"] },
    { do: "GET /api/", only: ["kind"] },
    { do: "GET /apis/discovery.example/v1/" },
    {
      do: "GET /openapi/v3/apis/discovery.example/v1",
      only: [
        "openapi",
        "components.schemas.example\\.discovery\\.v1\\.Gizmo",
        "components.schemas.example\\.discovery\\.v1\\.GizmoList",
        "paths./apis/discovery\\.example/v1/namespaces/{namespace}/gizmos/{name}.patch",
      ],
      differs: "openapi-shape",
    },
    { do: "GET /openapi/v3/apis/nope.example/v1", differs: "openapi-content-type" },
    { do: "GET /openapi/v3", only: ["paths.api/v1"], mask: [/hash=[0-9A-F]+/], differs: "openapi-content-type" },
    {
      do: "GET /openapi/v3",
      only: ["paths.apis/discovery\\.example/v1"],
      mask: [/hash=[0-9A-F]+/],
      differs: "openapi-content-type",
    },
    {
      do: "GET /openapi/v3/api/v1",
      only: [
        "openapi",
        "info",
        "components.schemas.io\\.k8s\\.api\\.core\\.v1\\.ConfigMap",
        "components.schemas.io\\.k8s\\.apimachinery\\.pkg\\.apis\\.meta\\.v1\\.ObjectMeta",
        "components.schemas.io\\.k8s\\.apimachinery\\.pkg\\.apis\\.meta\\.v1\\.DeleteOptions.properties",
        "paths./api/v1/namespaces/{namespace}/configmaps/{name}.patch",
        "paths./api/v1/namespaces/{namespace}/configmaps.post",
        "paths./api/v1/namespaces/{namespace}/configmaps.get",
      ],
      differs: "openapi-shape",
    },
    {
      do: "GET /openapi/v2",
      only: [
        "swagger",
        "info",
        "definitions.io\\.k8s\\.api\\.core\\.v1\\.Secret",
        "definitions.example\\.discovery\\.v1\\.Gizmo",
      ],
      differs: "openapi-shape",
    },
    { do: "GET /.well-known/openid-configuration", differs: "server-address" },
    { do: "GET /openid/v1/jwks", accept: "*/*" },
  ],
};
