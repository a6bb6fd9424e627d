import { envelope, message, type ProtoField } from "../harness/protobuf.ts";
import { type Script, type Step } from "../harness/script.ts";

const TYPE = "application/vnd.kubernetes.protobuf";
const N = "/api/v1/namespaces/c-protobuf";
const post = (path: string, apiVersion: string, kind: string, ...fields: ProtoField[]): Step => ({
  do: `POST ${path}`,
  type: TYPE,
  body: envelope(apiVersion, kind, message(...fields)),
});
const meta = (name: string, ...more: ProtoField[]): ProtoField => [
  1,
  message([1, name], [2, ""], [3, ""], [4, ""], [5, ""], [6, ""], [7, 0], [8, message()], ...more),
];
const entry = (key: string, value: string | Uint8Array): Uint8Array => message([1, key], [2, value]);

/** Bodies as client-go sends them for built-in kinds. */
export const protobuf: Script = {
  name: "protobuf",
  steps: [
    post(
      `${N}/configmaps`,
      "v1",
      "ConfigMap",
      meta("c", [11, entry("l", "1")]),
      [2, entry("k", "v")],
      [3, entry("b", Buffer.from([0, 1]))],
      [4, 0],
    ),
    post(
      `${N}/secrets`,
      "v1",
      "Secret",
      meta("s"),
      [2, entry("k", Buffer.from("v"))],
      [3, "Opaque"],
      [4, entry("t", "text")],
    ),
    post(
      "/api/v1/namespaces?dryRun=All",
      "v1",
      "Namespace",
      meta("c-protobuf-x"),
      [2, message()],
      [3, message([1, ""])],
    ),
    post(`${N}/serviceaccounts`, "v1", "ServiceAccount", meta("sa"), [4, 0]),
    post("/apis/coordination.k8s.io/v1/namespaces/c-protobuf/leases", "coordination.k8s.io/v1", "Lease", meta("l"), [
      2,
      message([1, "me"], [2, 15], [3, message([1, 1_577_836_800], [2, 1000])], [5, 0]),
    ]),
    post(
      `${N}/events`,
      "v1",
      "Event",
      meta("e"),
      [2, message([1, "ConfigMap"], [2, "c-protobuf"], [3, "c"])],
      [3, "R"],
      [4, "M"],
      [5, message([1, "x"], [2, ""])],
      [6, message([1, 1_577_836_800])],
      [8, 2],
      [9, "Normal"],
    ),
    post(
      "/apis/rbac.authorization.k8s.io/v1/namespaces/c-protobuf/roles",
      "rbac.authorization.k8s.io/v1",
      "Role",
      meta("r"),
      [2, message([1, "get"], [1, "list"], [2, ""], [3, "pods"])],
    ),
    post(
      "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      "authorization.k8s.io/v1",
      "SelfSubjectAccessReview",
      [1, message()],
      [2, message([1, message([1, "default"], [2, "get"], [3, ""], [4, ""], [5, "pods"], [6, ""], [7, ""])])],
      [3, message([1, 0], [2, ""], [3, ""], [4, 0])],
    ),
    post(`${N}/configmaps`, "v1", "Secret", meta("wrong")),
    post(`${N}/configmaps`, "v9", "ConfigMap", meta("wrong")),
    { do: `POST ${N}/configmaps`, type: TYPE, body: Buffer.from("k8s\0") },
    { do: `POST ${N}/configmaps`, type: TYPE, body: Buffer.from("k8") },
    {
      do: `PUT ${N}/configmaps/c`,
      type: TYPE,
      body: envelope("v1", "ConfigMap", message(meta("c"), [2, entry("k", "w")])),
    },
    {
      do: `DELETE ${N}/configmaps/c`,
      type: TYPE,
      body: envelope("v1", "DeleteOptions", message([2, message([1, "wrong"])])),
    },
    {
      do: `DELETE ${N}/configmaps/c`,
      type: TYPE,
      body: envelope("v1", "DeleteOptions", message([1, 0], [4, "Background"])),
    },
  ],
};
