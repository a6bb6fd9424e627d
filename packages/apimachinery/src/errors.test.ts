import { expect, test } from "vitest";
import * as errors from "./errors.ts";
import {
  duplicate,
  type FieldError,
  fieldErrorText,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from "./field-error.ts";
import { compareApiVersions, groupVersion, gvkOf, parseGroupVersion } from "./gvk.ts";

const MACHINES = { group: "cluster.x-k8s.io", resource: "machines" };

test.each<[FieldError, string]>([
  [required("spec.x"), "spec.x: Required value"],
  [required("spec.x", "must be set"), "spec.x: Required value: must be set"],
  [invalidValue("spec.x", 'a"b\n', "no"), 'spec.x: Invalid value: "a\\"b\\n": no'],
  [invalidValue("spec.x", 3, "no"), "spec.x: Invalid value: 3: no"],
  [invalidValue("spec.x", 0.00001, "no"), "spec.x: Invalid value: 1e-05: no"],
  [invalidValue("spec.x", true, ""), "spec.x: Invalid value: true"],
  [invalidValue("spec.x", { b: 1, a: "<" }, "no"), 'spec.x: Invalid value: {"a":"\\u003c","b":1}: no'],
  [invalidValue("spec.x", null, "no"), "spec.x: Invalid value: null: no"],
  [invalidValue("spec.x", undefined, "no"), "spec.x: Invalid value: no"],
  [notSupported("spec.x", "c", ["a", "b"]), 'spec.x: Unsupported value: "c": supported values: "a", "b"'],
  [duplicate("spec.x[1]", { name: "a" }), 'spec.x[1]: Duplicate value: {"name":"a"}'],
  [forbiddenField("spec.x", "no"), "spec.x: Forbidden: no"],
  [tooLong("spec.x", 1), "spec.x: Too long: may not be more than 1 byte"],
  [tooLong("spec.x", 63), "spec.x: Too long: may not be more than 63 bytes"],
  [tooMany("spec.x", 3, 2), "spec.x: Too many: 3: must have at most 2 items"],
  [typeInvalid("spec.x", "a", "must be a number"), 'spec.x: Invalid value: "a": must be a number'],
])("%j", (error, text) => expect(fieldErrorText(error)).toBe(text));

test.each([
  [errors.notFound(MACHINES, "m"), 404, "NotFound", 'machines.cluster.x-k8s.io "m" not found'],
  [errors.notFound({ group: "", resource: "secrets" }, "s"), 404, "NotFound", 'secrets "s" not found'],
  [errors.alreadyExists(MACHINES, "m"), 409, "AlreadyExists", 'machines.cluster.x-k8s.io "m" already exists'],
  [
    errors.conflict(MACHINES, "m"),
    409,
    "Conflict",
    'Operation cannot be fulfilled on machines.cluster.x-k8s.io "m": the object has been modified; please apply your changes to the latest version and try again',
  ],
  [errors.forbidden(MACHINES, "m", "no"), 403, "Forbidden", 'machines.cluster.x-k8s.io "m" is forbidden: no'],
  [errors.forbidden(MACHINES, "", "no"), 403, "Forbidden", "machines.cluster.x-k8s.io is forbidden: no"],
  [errors.forbidden({ group: "", resource: "" }, "", "no"), 403, "Forbidden", "forbidden: no"],
  [errors.badRequest("x"), 400, "BadRequest", "x"],
  [errors.unauthorized(), 401, "Unauthorized", "Unauthorized"],
  [
    errors.methodNotSupported(MACHINES, "create"),
    405,
    "MethodNotAllowed",
    'create is not supported on resources of kind "machines.cluster.x-k8s.io"',
  ],
  [errors.expired("old"), 410, "Expired", "old"],
  [errors.tooLargeResourceVersion(9, 3), 504, "Timeout", "Timeout: Too large resource version: 9, current: 3"],
  [errors.internalError("x"), 500, "InternalError", "Internal error occurred: x"],
  [errors.timeout("x"), 504, "Timeout", "Timeout: x"],
  [errors.requestEntityTooLarge("x"), 413, "RequestEntityTooLarge", "Request entity too large: x"],
])("%s", (error, code, reason, message) => {
  expect(error.status).toMatchObject({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    code,
    reason,
    message,
  });
  expect(error.message).toBe(message);
});

test("details leave out what is empty", () => {
  expect(errors.notFound({ group: "", resource: "secrets" }, "s").status.details).toEqual({
    name: "s",
    kind: "secrets",
  });
  expect(errors.namespaceTerminating(MACHINES, "m", "n").status).toMatchObject({
    message:
      'machines.cluster.x-k8s.io "m" is forbidden: unable to create new content in namespace n because it is being terminated',
    details: {
      causes: [
        { reason: "NamespaceTerminating", message: "namespace n is being terminated", field: "metadata.namespace" },
      ],
    },
  });
});

test("invalid objects list every field once", () => {
  const gk = { group: "cluster.x-k8s.io", kind: "Machine" };
  const one = errors.invalid(gk, "m", [required("spec.x")]);
  expect(one.message).toBe('Machine.cluster.x-k8s.io "m" is invalid: spec.x: Required value');
  const two = errors.invalid(gk, "m", [required("spec.x"), required("spec.x"), required("spec.y")]);
  expect(two.message).toBe('Machine.cluster.x-k8s.io "m" is invalid: [spec.x: Required value, spec.y: Required value]');
  expect(two.status.details?.causes).toHaveLength(3);
  expect(errors.invalid(gk, "m", []).message).toBe('Machine.cluster.x-k8s.io "m" is invalid');
});

test("API versions", () => {
  expect(parseGroupVersion("v1")).toEqual({ group: "", version: "v1" });
  expect(parseGroupVersion("apps/v1")).toEqual({ group: "apps", version: "v1" });
  expect(() => parseGroupVersion("a/b/c")).toThrow("unexpected GroupVersion string: a/b/c");
  expect(groupVersion("", "v1")).toBe("v1");
  expect(gvkOf({ apiVersion: "apps/v1", kind: "Deployment" })).toEqual({
    group: "apps",
    version: "v1",
    kind: "Deployment",
  });
  const sorted = ["v1", "v11beta2", "foo10", "v10", "v3beta1", "v12alpha1", "v2", "foo1", "v11alpha2", "v10beta3"].sort(
    compareApiVersions,
  );
  expect(sorted).toEqual([
    "v10",
    "v2",
    "v1",
    "v11beta2",
    "v10beta3",
    "v3beta1",
    "v12alpha1",
    "v11alpha2",
    "foo1",
    "foo10",
  ]);
});
