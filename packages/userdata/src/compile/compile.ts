import { UserDataError } from "../errors.ts";
import { type CompileOptions, compileCloudConfig } from "./cloud-config.ts";
import { compileIgnition } from "./ignition.ts";
import { Script } from "./script.ts";

/**
 * Compiles user data to one bash script, for machines that have neither cloud-init nor Ignition. `problems` names everything in the user
 * data that a script cannot do; it never shows contents.
 */
export function compileScript(
  data: { readonly format: "cloud-config" | "ignition"; readonly content: string },
  options: CompileOptions,
): { script: string } | { problems: string[] } {
  const script = new Script();
  try {
    const problems =
      data.format === "ignition"
        ? compileIgnition(data.content, script)
        : compileCloudConfig(data.content, options, script);
    return problems.length > 0 ? { problems } : { script: script.text() };
  } catch (error) {
    if (error instanceof UserDataError) return { problems: [error.message] };
    throw error;
  }
}
