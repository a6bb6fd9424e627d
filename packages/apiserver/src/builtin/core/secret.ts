import {
  deepEqual,
  type FieldError,
  forbiddenField,
  invalidValue,
  isObject,
  required,
  tooLong,
  type Unstructured,
} from "@capstan/apimachinery";
import { AGE, column, NAME } from "../columns.ts";
import { defineBuiltin } from "../define.ts";
import { at, child, obj, text } from "../read.ts";
import { configKeyErrors, decodedLength, MAX_DATA_BYTES } from "./config-keys.ts";

/** core/v1 Secret. */
export const secret = defineBuiltin({
  group: "",
  kind: "Secret",
  namespaced: true,
  columns: [NAME, column("Type", (o) => text(o.type)), column("Data", (o) => Object.keys(obj(o.data)).length), AGE],
  fieldSelectors: { type: (o) => text(o.type) },
  strategy: { noGeneration: true, applyDefaults, validate, validateUpdate },
});

/** Type Opaque, and stringData folded into data: it is write-only. */
function applyDefaults(object: Unstructured): void {
  if (text(object.type) === "") object.type = "Opaque";
  const plain = obj(object.stringData);
  if (Object.keys(plain).length > 0) {
    const data = child(object, "data");
    for (const [key, value] of Object.entries(plain)) data[key] = Buffer.from(text(value)).toString("base64");
  }
  delete object.stringData;
}

function validate(object: Unstructured): FieldError[] {
  const data = obj(object.data);
  const errors = configKeyErrors("data", data);
  const size = Object.values(data).reduce<number>((sum, v) => sum + decodedLength(text(v)), 0);
  if (size > MAX_DATA_BYTES) errors.push(tooLong("data", MAX_DATA_BYTES));
  return [...errors, ...typeErrors(object, data)];
}

function typeErrors(object: Unstructured, data: Readonly<Record<string, unknown>>): FieldError[] {
  const missing = (...keys: string[]): FieldError[] =>
    keys.filter((key) => !Object.hasOwn(data, key)).map((key) => required(`data[${key}]`));
  switch (object.type) {
    case "kubernetes.io/service-account-token": {
      const name = "kubernetes.io/service-account.name";
      return text(at(object.metadata, "annotations", name)) === "" ? [required(`metadata.annotations[${name}]`)] : [];
    }
    case "kubernetes.io/dockercfg":
      return dockerErrors(data, ".dockercfg");
    case "kubernetes.io/dockerconfigjson":
      return dockerErrors(data, ".dockerconfigjson");
    case "kubernetes.io/basic-auth": {
      const errors = missing("username", "password");
      return errors.length === 2 ? errors : [];
    }
    case "kubernetes.io/ssh-auth":
      return text(data["ssh-privatekey"]) === "" ? [required("data[ssh-privatekey]")] : [];
    case "kubernetes.io/tls":
      return missing("tls.crt", "tls.key");
    default:
      return [];
  }
}

function dockerErrors(data: Readonly<Record<string, unknown>>, key: string): FieldError[] {
  if (!Object.hasOwn(data, key)) return [required(`data[${key}]`)];
  const problem = jsonProblem(Buffer.from(text(data[key]), "base64").toString());
  return problem === undefined ? [] : [invalidValue(`data[${key}]`, "<secret contents redacted>", problem)];
}

/** Why a text is no JSON object, without repeating more of it than its first character. */
function jsonProblem(content: string): string | undefined {
  try {
    return isObject(JSON.parse(content)) ? undefined : "must be a JSON object";
  } catch {
    const first = content.trimStart()[0];
    if (first === undefined) return "unexpected end of JSON input";
    return /[[{"\d\-tfn]/.test(first)
      ? "must be well-formed JSON"
      : `invalid character '${first}' looking for beginning of value`;
  }
}

function validateUpdate(object: Unstructured, old: Unstructured): FieldError[] {
  const errors: FieldError[] = [];
  if (object.type !== old.type) errors.push(invalidValue("type", object.type, "field is immutable"));
  return [...errors, ...immutableDataErrors(object, old, ["data"]), ...validate(object)];
}

/** What a Secret or ConfigMap with `immutable: true` refuses. */
export function immutableDataErrors(object: Unstructured, old: Unstructured, fields: readonly string[]): FieldError[] {
  if (old.immutable !== true) return [];
  const detail = "field is immutable when `immutable` is set";
  const errors: FieldError[] = [];
  if (object.immutable !== true) errors.push(forbiddenField("immutable", detail));
  for (const field of fields)
    if (!deepEqual(obj(object[field]), obj(old[field]))) errors.push(forbiddenField(field, detail));
  return errors;
}
