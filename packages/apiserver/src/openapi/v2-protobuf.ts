import { isObject } from "@capstan/apimachinery";
import { ProtobufWriter } from "./protobuf-writer.ts";

/**
 * The messages of gnostic's OpenAPIv2.proto, as far as the document uses them: `name number type`. `[]` repeated, `{}` a message
 * that holds named values, `@` the place of vendor extensions.
 */
const MESSAGES: Readonly<Record<string, string>> = {
  Document:
    "swagger 1 text,info 2 Info,paths 8 Paths,definitions 9 Schema{},parameters 10 Parameter{},security 12 SecurityRequirement[],securityDefinitions 13 SecurityDefinition{}",
  Info: "title 1 text,version 2 text,description 3 text,@ 7 any",
  ApiKey: "type 1 text,name 2 text,in 3 text,description 4 text,@ 5 any",
  PathItem:
    "$ref 1 text,get 2 Operation,put 3 Operation,post 4 Operation,delete 5 Operation,options 6 Operation,head 7 Operation,patch 8 Operation,parameters 9 ParametersItem[],@ 10 any",
  Operation:
    "tags 1 text[],summary 2 text,description 3 text,operationId 5 text,produces 6 text[],consumes 7 text[],parameters 8 ParametersItem[],responses 9 ResponseValue{},schemes 10 text[],deprecated 11 bool,@ 13 any",
  JsonReference: "$ref 1 text,description 2 text",
  BodyParameter: "description 1 text,name 2 text,in 3 text,required 4 bool,schema 5 Schema,@ 6 any",
  QueryParameter:
    "required 1 bool,in 2 text,description 3 text,name 4 text,type 6 text,format 7 text,uniqueItems 20 bool,@ 23 any",
  PathParameter:
    "required 1 bool,in 2 text,description 3 text,name 4 text,type 5 text,format 6 text,uniqueItems 19 bool,@ 22 any",
  Response: "description 1 text,schema 2 SchemaItem,@ 5 any",
  Schema:
    "$ref 1 text,format 2 text,title 3 text,description 4 text,default 5 any,multipleOf 6 double,maximum 7 double,exclusiveMaximum 8 bool,minimum 9 double,exclusiveMinimum 10 bool,maxLength 11 int,minLength 12 int,pattern 13 text,maxItems 14 int,minItems 15 int,uniqueItems 16 bool,maxProperties 17 int,minProperties 18 int,required 19 text[],enum 20 any[],additionalProperties 21 AdditionalProperties,type 22 TypeItem,items 23 ItemsItem,allOf 24 Schema[],properties 25 Schema{},example 30 any,@ 31 any",
};

interface Field {
  readonly number: number;
  readonly type: string;
  readonly shape: "single" | "repeated" | "named";
}

const tables = new Map<string, ReadonlyMap<string, Field>>();

function tableOf(message: string): ReadonlyMap<string, Field> {
  let table = tables.get(message);
  if (table === undefined) {
    const fields = new Map<string, Field>();
    for (const text of (MESSAGES[message] ?? "").split(",")) {
      const [name = "", number = "", type = ""] = text.split(" ");
      const shape = type.endsWith("[]") ? "repeated" : type.endsWith("{}") ? "named" : "single";
      fields.set(name, { number: Number(number), type: shape === "single" ? type : type.slice(0, -2), shape });
    }
    table = fields;
    tables.set(message, table);
  }
  return table;
}

/** What is inside a message `NamedX {name, value}` of the document: an entry of `paths` or of `definitions`. */
export function encodeNamed(
  writer: ProtobufWriter,
  message: "PathItem" | "Schema",
  name: string,
  value: unknown,
): Buffer {
  writer.message(2, () => writeMessage(writer, message, value));
  writer.text(1, name);
  return writer.finish();
}

/** The whole document from its head and the encoded entries of its two large parts. */
export function encodeV2Document(head: object, paths: readonly Buffer[], definitions: readonly Buffer[]): Buffer {
  const writer = new ProtobufWriter();
  const entries = (number: number, list: readonly Buffer[]) => () => {
    for (const entry of list.toReversed()) writer.bytes(number, entry);
  };
  writeMessage(writer, "Document", head);
  writer.message(9, entries(1, definitions));
  writer.message(8, entries(2, paths));
  return writer.finish();
}

/** Fields go out last first; their order on the wire means nothing, that of repeated values does. */
function writeMessage(writer: ProtobufWriter, message: string, value: unknown): void {
  if (!isObject(value)) return;
  const table = tableOf(message);
  const extensions = table.get("@");
  for (const key of Object.keys(value).toReversed()) {
    const field = table.get(key);
    if (field !== undefined) writeField(writer, field, value[key]);
    else if (extensions !== undefined && key.startsWith("x-")) writeNamed(writer, extensions, key, value[key]);
  }
}

function writeField(writer: ProtobufWriter, field: Field, value: unknown): void {
  if (field.shape === "repeated") {
    const list: readonly unknown[] = Array.isArray(value) ? value : [];
    for (const item of list.toReversed()) writeValue(writer, field.number, field.type, item);
  } else if (field.shape === "named") {
    if (!isObject(value)) return;
    writer.message(field.number, () => {
      for (const name of Object.keys(value).toReversed())
        writeNamed(writer, { ...field, number: 1 }, name, value[name]);
    });
  } else writeValue(writer, field.number, field.type, value);
}

function writeNamed(writer: ProtobufWriter, field: Field, name: string, value: unknown): void {
  writer.message(field.number, () => {
    writeValue(writer, 2, field.type, value);
    writer.text(1, name);
  });
}

function writeValue(writer: ProtobufWriter, number: number, type: string, value: unknown): void {
  const inside = (inner: number, innerType: string) => () => writeValue(writer, inner, innerType, value);
  switch (type) {
    case "text":
      if (typeof value === "string") writer.text(number, value);
      return;
    case "bool":
      if (value === true) writer.varint(number, 1);
      return;
    case "int":
      if (typeof value === "number") writer.varint(number, value);
      return;
    case "double":
      if (typeof value === "number") writer.double(number, value);
      return;
    case "any":
      // gnostic keeps free values as YAML, of which JSON is a part.
      writer.message(number, () => writer.text(2, JSON.stringify(value)));
      return;
    case "TypeItem":
      writer.message(number, inside(1, "text"));
      return;
    case "ItemsItem":
    case "SchemaItem":
      writer.message(number, inside(1, "Schema"));
      return;
    case "AdditionalProperties":
      writer.message(number, typeof value === "boolean" ? inside(2, "bool") : inside(1, "Schema"));
      return;
    case "ParametersItem":
      writer.message(number, isReference(value) ? inside(2, "JsonReference") : inside(1, "Parameter"));
      return;
    case "ResponseValue":
      writer.message(number, isReference(value) ? inside(2, "JsonReference") : inside(1, "Response"));
      return;
    case "Parameter":
      writer.message(
        number,
        isObject(value) && value["in"] === "body" ? inside(1, "BodyParameter") : inside(2, "NonBody"),
      );
      return;
    case "NonBody":
      writer.message(
        number,
        isObject(value) && value["in"] === "path" ? inside(4, "PathParameter") : inside(3, "QueryParameter"),
      );
      return;
    case "SecurityDefinition":
      writer.message(number, inside(2, "ApiKey"));
      return;
    case "SecurityRequirement":
      writer.message(number, () => {
        for (const name of Object.keys(isObject(value) ? value : {}))
          writer.message(1, () => {
            writer.message(2, () => undefined);
            writer.text(1, name);
          });
      });
      return;
    default:
      writer.message(number, () => writeMessage(writer, type, value));
  }
}

function isReference(value: unknown): boolean {
  return isObject(value) && typeof value["$ref"] === "string";
}
