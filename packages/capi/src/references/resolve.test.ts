import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { grantsNamespace, USABLE_FROM_ANNOTATION } from "./grant.ts";
import { namedTarget, resolveGranted, resolveReference } from "./resolve.ts";

const from = (namespace: string) => ({ metadata: { namespace } });
const target = (namespace: string, allowed?: string) => ({
  metadata: { namespace, ...(allowed === undefined ? {} : { annotations: { [USABLE_FROM_ANNOTATION]: allowed } }) },
});
const label = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);

describe("a reference that must stay in its namespace", () => {
  test.each([undefined, "", "a"])("resolves with namespace %j", (namespace) => {
    expect(resolveReference(from("a"), { namespace, name: "x" }, "spec.ref")).toEqual({ namespace: "a", name: "x" });
  });

  test("to another namespace names the field, the cause and the cure", () => {
    expect(resolveReference(from("a"), { namespace: "b", name: "x" }, "spec.ref")).toEqual({
      problem:
        'spec.ref: "x" is in namespace "b", but only objects of the same namespace can be referenced; remove the namespace from the reference, or create the object here',
    });
  });

  test("never leads out of the namespace of the object that holds it", () => {
    fc.assert(
      fc.property(label, fc.option(label, { nil: undefined }), label, (own, namespace, name) => {
        const found = resolveReference(from(own), { namespace, name }, "spec.ref");
        expect("problem" in found).toBe(namespace !== undefined && namespace !== own);
        if (!("problem" in found)) expect(found).toEqual({ namespace: own, name });
      }),
    );
  });
});

describe("a reference that may cross namespaces with a grant", () => {
  const read = (allowed: string | undefined) =>
    resolveGranted(from("a"), { namespace: "b", name: "x" }, "spec.ref", target("b", allowed));

  test.each(["a", "*", "c,a", " c , a "])("resolves when the target allows %j", (allowed) => {
    expect(read(allowed)).toEqual({ namespace: "b", name: "x" });
  });

  test.each([undefined, "", "c", "aa", "a*", "A", ", ,"])("is refused when the target allows %j", (allowed) => {
    expect(read(allowed)).toHaveProperty("problem");
  });

  test("is refused alike whether the target is missing or does not allow it", () => {
    const missing = resolveGranted(from("a"), { namespace: "b", name: "x" }, "spec.ref", undefined);
    expect(missing).toEqual(read(undefined));
    expect(missing).toEqual({
      problem: `spec.ref: "b/x" does not exist or does not allow namespace "a"; its owner allows it with the annotation ${USABLE_FROM_ANNOTATION}: a (a list separated by commas, or "*")`,
    });
  });

  test("needs no grant, and no target, in its own namespace", () => {
    expect(resolveGranted(from("a"), { name: "x" }, "spec.ref", undefined)).toEqual({ namespace: "a", name: "x" });
  });

  test("resolves to another namespace only if that namespace's object says so", () => {
    fc.assert(
      fc.property(label, label, label, fc.array(label), (own, namespace, name, allowed) => {
        const found = resolveGranted(from(own), { namespace, name }, "f", target(namespace, allowed.join(",")));
        expect("problem" in found).toBe(namespace !== own && !allowed.includes(own));
      }),
    );
  });
});

test("an object without a namespace is granted nothing", () => {
  expect(grantsNamespace(target("b", "*"), "")).toBe(false);
  expect(resolveReference({ metadata: {} }, { namespace: "b", name: "x" }, "spec.ref")).toHaveProperty("problem");
});

test("the namespace of a target defaults to that of the object that names it", () => {
  expect(namedTarget(from("a"), { name: "x" })).toEqual({ namespace: "a", name: "x" });
  expect(namedTarget(from("a"), { namespace: "b" })).toEqual({ namespace: "b", name: "" });
});
