import type { Unstructured } from "@capstan/apimachinery";
import { column, formatLabels, NAME } from "../columns.ts";
import { defineBuiltin } from "../define.ts";
import { at, list, text } from "../read.ts";
import { NOTHING_RUNS } from "./pod.ts";
import { applyTemplateDefaults } from "./pod-defaults.ts";
import { podTemplateErrors } from "./pod-errors.ts";

const ofContainers = (field: string) => (o: Unstructured) =>
  list(at(o, "template", "spec", "containers"))
    .map((container) => text(at(container, field)))
    .join(",");

/** core/v1 PodTemplate: stored for controllers that create pods from it. */
export const podTemplate = defineBuiltin({
  group: "",
  kind: "PodTemplate",
  namespaced: true,
  createWarning: NOTHING_RUNS,
  columns: [
    NAME,
    column("Containers", ofContainers("name")),
    column("Images", ofContainers("image")),
    column("Pod Labels", (o) => formatLabels(at(o, "template", "metadata", "labels"))),
  ],
  strategy: {
    applyDefaults: (object) => applyTemplateDefaults(object),
    validate: (object) => podTemplateErrors(object["template"], "template"),
  },
});
