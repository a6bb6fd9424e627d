import { type FieldError, invalidValue, tooLong, type Unstructured } from "@capstan/apimachinery";
import { AGE, column, NAME } from "../columns.ts";
import { defineBuiltin } from "../define.ts";
import { obj, text } from "../read.ts";
import { configKeyErrors, decodedLength, MAX_DATA_BYTES } from "./config-keys.ts";
import { immutableDataErrors } from "./secret.ts";

/** core/v1 ConfigMap. */
export const configMap = defineBuiltin({
  group: "",
  kind: "ConfigMap",
  shortNames: ["cm"],
  namespaced: true,
  columns: [NAME, column("Data", (o) => Object.keys(obj(o.data)).length + Object.keys(obj(o.binaryData)).length), AGE],
  strategy: {
    noGeneration: true,
    validate,
    validateUpdate: (object, old) => [...immutableDataErrors(object, old, ["data", "binaryData"]), ...validate(object)],
  },
});

function validate(object: Unstructured): FieldError[] {
  const data = obj(object.data);
  const binary = obj(object.binaryData);
  const errors = configKeyErrors("data", data);
  for (const key of Object.keys(data))
    if (Object.hasOwn(binary, key))
      errors.push(invalidValue(`data[${key}]`, key, "duplicate of key present in binaryData"));
  for (const error of configKeyErrors("binaryData", binary)) errors.push(error);
  let size = 0;
  for (const value of Object.values(data)) size += Buffer.byteLength(text(value));
  for (const value of Object.values(binary)) size += decodedLength(text(value));
  // The real server leaves the field's name empty here, which prints as [].
  if (size > MAX_DATA_BYTES) errors.push(tooLong("[]", MAX_DATA_BYTES));
  return errors;
}
