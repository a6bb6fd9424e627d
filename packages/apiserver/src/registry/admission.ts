import type { Unstructured } from "@capstan/apimachinery";
import type { AdmissionPlugin, AdmissionRequest } from "../types.ts";
import type { WriteRequest } from "./core.ts";

/** The admission steps of one request: none when no plugin handles its kind. */
export interface Admission {
  readonly plugins: readonly AdmissionPlugin[];
  readonly request: AdmissionRequest;
}

const NO_PLUGINS: readonly AdmissionPlugin[] = [];

/** Prepares admission of a write. `object` is the private draft that plugins may change. */
export function admissionFor(
  write: WriteRequest,
  operation: AdmissionRequest["operation"],
  object: Unstructured | undefined,
  oldObject: Unstructured | undefined,
  options: Record<string, unknown>,
): Admission {
  let plugins: AdmissionPlugin[] | undefined;
  for (const plugin of write.core.admission) {
    if (plugin.handles(write.type, operation, write.subresource)) (plugins ??= []).push(plugin);
  }
  const request: AdmissionRequest = {
    attributes: write.attributes,
    operation,
    type: write.type,
    object,
    oldObject,
    dryRun: write.options.dryRun,
    options,
    warn: (text) => write.warn(text),
  };
  return { plugins: plugins ?? NO_PLUGINS, request };
}

/** Runs the mutating steps in order; returns a promise only when a step does. */
export function runMutating(admission: Admission): void | Promise<void> {
  return runFrom(admission, 0, (plugin) => plugin.mutate?.(admission.request));
}

/** Runs the validating steps in order; returns a promise only when a step does. */
export function runValidating(admission: Admission): void | Promise<void> {
  return runFrom(admission, 0, (plugin) => plugin.validate?.(admission.request));
}

function runFrom(
  admission: Admission,
  start: number,
  step: (plugin: AdmissionPlugin) => void | Promise<void>,
): void | Promise<void> {
  for (let i = start; i < admission.plugins.length; i++) {
    const plugin = admission.plugins[i];
    const result = plugin === undefined ? undefined : step(plugin);
    if (result instanceof Promise) return result.then(() => runFrom(admission, i + 1, step));
  }
}
