import { expect, it } from "vitest";
import { ProtobufWriter } from "./protobuf-writer.ts";
import { encodeNamed, encodeV2Document } from "./v2-protobuf.ts";

const field = (number: number, ...inside: (string | number[])[]): number[] => {
  const bytes = inside.flatMap((part) => (typeof part === "string" ? [...Buffer.from(part)] : part));
  const tag = number * 8 + 2;
  return [...(tag < 128 ? [tag] : [(tag & 127) | 128, tag >> 7]), bytes.length, ...bytes];
};

/** By hand from OpenAPIv2.proto: Schema.type 22 {1}, properties 25 {1 {1 name, 2 value}}, items 23 {1}, vendor_extension 31 {1 name, 2 {2 yaml}}. */
it("writes a schema as gnostic's messages", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "array", items: { $ref: "#/definitions/X" }, maxItems: 300 } },
    additionalProperties: { type: "string" },
    "x-list": ["k"],
  };
  const expected = [
    ...field(1, "N"),
    ...field(
      2,
      field(22, field(1, "object")),
      field(
        25,
        field(
          1,
          field(1, "a"),
          field(2, field(22, field(1, "array")), field(23, field(1, field(1, "#/definitions/X"))), [
            14 * 8,
            0xac,
            0x02,
          ]),
        ),
      ),
      field(21, field(1, field(22, field(1, "string")))),
      field(31, field(1, "x-list"), field(2, field(2, '["k"]'))),
    ),
  ];
  expect([...encodeNamed(new ProtobufWriter(), "Schema", "N", schema)]).toEqual(expected);
});

it("writes parameters by their place and bodies and references as such", () => {
  const item = {
    post: {
      parameters: [{ name: "body", in: "body", required: true, schema: {} }, { $ref: "#/parameters/p" }],
      responses: { "200": { description: "", schema: {} } },
    },
  };
  const bytes = encodeNamed(new ProtobufWriter(), "PathItem", "/x", item);
  const expected = [
    ...field(1, "/x"),
    ...field(
      2,
      field(
        4,
        field(8, field(1, field(1, field(2, "body"), field(3, "body"), [4 * 8, 1], field(5)))),
        field(8, field(2, field(1, "#/parameters/p"))),
        field(9, field(1, field(1, "200"), field(2, field(1, field(1), field(2, field(1)))))),
      ),
    ),
  ];
  expect([...bytes]).toEqual(expected);
});

it("puts the document together and grows its buffer", () => {
  const large = encodeNamed(new ProtobufWriter(), "Schema", "L", { description: "d".repeat(200_000), minimum: -1.5 });
  const document = encodeV2Document({ swagger: "2.0", security: [{ T: [] }] }, [], [large]);
  expect(document.length).toBeGreaterThan(200_000);
  expect(document.includes(large)).toBe(true);
  expect([...document.subarray(-14)]).toEqual([...field(1, "2.0"), ...field(12, field(1, field(1, "T"), field(2)))]);
});
