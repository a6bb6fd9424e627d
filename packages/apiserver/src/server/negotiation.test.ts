import { describe, expect, it } from "vitest";
import { negotiate } from "./negotiation.ts";

describe("negotiate", () => {
  const cases: [string | undefined, string, string][] = [
    [undefined, "object", "json"],
    ["*/*", "object", "json"],
    ["application/vnd.kubernetes.protobuf,application/json", "object", "json"],
    ["application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "table", "json"],
    ["application/json;as=Table;v=v9;g=meta.k8s.io,application/json", "object", "json"],
    ["application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "partialList", "json"],
    ["application/yaml", "object", "yaml"],
    ["application/json;q=0.1,application/yaml;q=0.9", "object", "yaml"],
    ["application/yaml;q=0,application/json", "object", "json"],
  ];
  it.each(cases)("%s", (accept, as, format) => {
    expect(negotiate(accept)).toMatchObject({ as, format });
  });

  it("refuses what it cannot make", () => {
    expect(() => negotiate("text/html")).toThrow("only the following media types are accepted");
  });
});

it("leaves the kind out of metadata-only items for clients that prefer protobuf, where items have none", () => {
  const list = (type: string): string => `${type};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`;
  const protobufFirst = `${list("application/vnd.kubernetes.protobuf")},${list("application/json")},application/json`;
  expect(negotiate(protobufFirst)).toMatchObject({ as: "partialList", untypedItems: true });
  expect(negotiate(list("application/json"))).toMatchObject({ as: "partialList", untypedItems: false });
});
