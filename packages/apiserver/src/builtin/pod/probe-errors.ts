import { type FieldError, forbiddenField, invalidValue, isObject, notSupported, required } from "@capstan/apimachinery";
import { portErrors } from "../core/port-errors.ts";
import { at, num, text } from "../read.ts";

const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc"];
const NUMBERS = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];

/** What is wrong with a probe; those that end in a restart succeed at once or not at all. */
export function probeErrors(probe: unknown, path: string, once: boolean): FieldError[] {
  if (!isObject(probe)) return [];
  const errors = handlerErrors(probe, path);
  for (const field of NUMBERS) {
    const value = num(probe[field]);
    if (value < 0) errors.push(invalidValue(`${path}.${field}`, value, "must be greater than or equal to 0"));
  }
  const threshold = num(probe["successThreshold"]);
  if (once && threshold !== 1) errors.push(invalidValue(`${path}.successThreshold`, threshold, "must be 1"));
  return errors;
}

function handlerErrors(probe: object, path: string): FieldError[] {
  const [first, ...more] = HANDLERS.filter((handler) => at(probe, handler) !== undefined);
  if (first === undefined) return [required(path, "must specify a handler type")];
  const errors: FieldError[] = [];
  const here = `${path}.${first}`;
  const handler = at(probe, first);
  if (first === "exec" && !Array.isArray(at(handler, "command"))) errors.push(required(`${here}.command`));
  if (first === "httpGet") {
    if (text(at(handler, "path")) === "") errors.push(required(`${here}.path`));
    errors.push(...portOrNameErrors(at(handler, "port"), `${here}.port`));
    const scheme = text(at(handler, "scheme"));
    if (scheme !== "HTTP" && scheme !== "HTTPS") errors.push(notSupported(`${here}.scheme`, scheme, ["HTTP", "HTTPS"]));
  }
  if (first === "tcpSocket") errors.push(...portOrNameErrors(at(handler, "port"), `${here}.port`));
  if (first === "grpc") errors.push(...portErrors(at(handler, "port"), `${here}.port`));
  for (const other of more) errors.push(forbiddenField(`${path}.${other}`, "may not specify more than 1 handler type"));
  return errors;
}

function portOrNameErrors(port: unknown, field: string): FieldError[] {
  return typeof port === "string" ? [] : portErrors(port, field);
}
