import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Unstructured } from "../object.ts";
import { ApiError } from "../status.ts";
import { decodeKubernetesProtobuf } from "./decode.ts";

// Both forms of the same objects, as a real kube-apiserver sent them.
const golden = ["protobuf.golden.json", "protobuf-builtin.golden.json"].flatMap(
  (file) =>
    (
      JSON.parse(readFileSync(new URL(`../../testdata/${file}`, import.meta.url), "utf8")) as {
        objects: { json: Unstructured; protobuf: string }[];
      }
    ).objects,
);

/**
 * What Go writes for a struct or pointer that holds nothing, and zeros of structs that were not sent: the decoder leaves them out,
 * but never leaves out anything else.
 */
function compact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(compact);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .map(([k, v]) => [k, k === "fieldsV1" ? v : compact(v)] as const)
    .filter(
      ([, v]) => v !== null && !(typeof v === "object" && !Array.isArray(v) && Object.keys(v as object).length === 0),
    );
  return Object.fromEntries(entries);
}

/** The type of a claim template is not in its message; the server adds it. */
function withoutInnerTypes(json: Unstructured): unknown {
  return JSON.parse(
    JSON.stringify(json).replace(/(?<="volumeClaimTemplates":\[\{)"kind":"\w+","apiVersion":"v1",/, ""),
  );
}

for (const { json, protobuf } of golden) {
  test(`${json.kind} ${json.metadata.name ?? ""} decodes to its JSON form`, () => {
    const decoded = decodeKubernetesProtobuf(Buffer.from(protobuf, "base64"));
    expect(compact(decoded)).toEqual(compact(withoutInnerTypes(json)));
  });
}

test("empty structs behind pointers and explicit zeros survive", () => {
  const pod = golden.find(({ json }) => json.metadata.name === "everything");
  const { spec } = decodeKubernetesProtobuf(Buffer.from(pod?.protobuf ?? "", "base64")) as unknown as {
    spec: { volumes: { emptyDir?: object }[]; terminationGracePeriodSeconds: number };
  };
  expect(spec.volumes[0]).toEqual({ name: "empty", emptyDir: {} });
  expect(spec.terminationGracePeriodSeconds).toBe(0);
});

const message = (...parts: (number | number[])[]): Uint8Array => Uint8Array.from(parts.flat());
const text = (number: number, value: string): number[] => {
  const bytes = [...Buffer.from(value)];
  return [(number << 3) | 2, bytes.length, ...bytes];
};
const nested = (number: number, bytes: number[]): number[] => [(number << 3) | 2, bytes.length, ...bytes];
const envelope = (apiVersion: string, kind: string, raw: number[]): Uint8Array =>
  message([0x6b, 0x38, 0x73, 0], nested(1, [...text(1, apiVersion), ...text(2, kind)]), nested(2, raw));

test("pointers count even when zero, plain zeros do not", () => {
  const options = decodeKubernetesProtobuf(envelope("v1", "DeleteOptions", [0x08, 0x00, ...nested(2, text(1, "u"))]));
  expect(options).toEqual({
    apiVersion: "v1",
    kind: "DeleteOptions",
    gracePeriodSeconds: 0,
    preconditions: { uid: "u" },
  });
  const secret = decodeKubernetesProtobuf(
    envelope("v1", "Secret", [...nested(1, text(1, "s")), ...text(3, ""), 0x28, 0]),
  );
  expect(secret).toEqual({ apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, immutable: false });
});

test("delete options come with the version of any group", () => {
  const bytes = envelope("rbac.authorization.k8s.io/v1", "DeleteOptions", text(4, "Foreground"));
  expect(decodeKubernetesProtobuf(bytes)).toMatchObject({ propagationPolicy: "Foreground" });
});

test("certificate requests, evictions and empty resource attributes", () => {
  const csr = envelope(
    "certificates.k8s.io/v1",
    "CertificateSigningRequest",
    nested(2, [...nested(1, [1, 2]), 0x40, 0x3c, ...text(5, "client auth")]),
  );
  expect(decodeKubernetesProtobuf(csr)["spec"]).toEqual({
    request: "AQI=",
    expirationSeconds: 60,
    usages: ["client auth"],
  });
  const eviction = envelope("policy/v1", "Eviction", [...nested(1, text(1, "p")), ...nested(2, [])]);
  expect(decodeKubernetesProtobuf(eviction)).toMatchObject({ metadata: { name: "p" }, deleteOptions: {} });
  const review = envelope("authorization.k8s.io/v1", "SelfSubjectAccessReview", nested(2, nested(1, [])));
  expect(decodeKubernetesProtobuf(review)["spec"]).toEqual({ resourceAttributes: {} });
});

test("a label called __proto__ stays a label", () => {
  const bytes = envelope("v1", "ConfigMap", nested(2, [...text(1, "__proto__"), ...text(2, "x")]));
  const { data } = decodeKubernetesProtobuf(bytes) as unknown as { data: Record<string, string> };
  expect(Object.keys(data)).toEqual(["__proto__"]);
});

test("unknown kinds are 415, custom resources too", () => {
  expect(() => decodeKubernetesProtobuf(envelope("x/v1", "Widget", []))).toThrow(/send it as application\/json/);
});

test("a body of countless tiny fields is refused before it holds up others", () => {
  const raw = Buffer.alloc(1_000_000, Buffer.from([0x12, 0]));
  const length = [...Buffer.from([0x80 | (raw.length & 127), 0x80 | ((raw.length >> 7) & 127), raw.length >> 14])];
  const head = envelope("v1", "ConfigMap", []).subarray(0, -1);
  expect(() => decodeKubernetesProtobuf(Buffer.concat([head, Uint8Array.from(length), raw]))).toThrow(/too large/);
});

test("no bytes crash the decoder", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom("ConfigMap", "Secret", "Event", "Namespace"),
      (raw, kind) => {
        for (const bytes of [raw, envelope("v1", kind, [...raw].slice(0, 100))]) {
          try {
            decodeKubernetesProtobuf(bytes);
          } catch (error) {
            expect(error).toBeInstanceOf(ApiError);
          }
        }
      },
    ),
  );
});
