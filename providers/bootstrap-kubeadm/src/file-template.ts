import { fail } from "./progress.ts";

const MAX_OUTPUT = 1024 * 1024;

/** Renders a file with `contentFormat: Template`; the only supported value is `.controlPlane.version`. */
export function fillTemplate(text: string, controlPlaneVersion: string | undefined, field: string): string {
  const filled = text.replace(
    /(\s*)\{\{(-?)\s*([\s\S]*?)\s*(-?)\}\}(\s*)/g,
    (whole, before, left, action, right, after) => {
      const value = valueOf(String(action), controlPlaneVersion, field);
      if (value === undefined) return whole;
      return `${left === "-" ? "" : before}${value}${right === "-" ? "" : after}`;
    },
  );
  if (filled.length > MAX_OUTPUT) return fail(`${field}: the filled template is larger than 1 MiB`);
  return filled;
}

function valueOf(action: string, version: string | undefined, field: string): string | undefined {
  if (/^\/\*[\s\S]*\*\/$/.test(action)) return "";
  if (action !== ".controlPlane.version")
    return fail(`${field}: {{ ${action} }} is not known: a file template can use {{ .controlPlane.version }} only`);
  return version ?? fail(`${field}: the version of the control plane is not known`);
}
