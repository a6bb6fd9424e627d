import { DROP_REMOVED_FLAGS_ANNOTATION } from "@capstan/capi";
import { dropsRemovedFlags, refusedSettings, refusedText, withoutRefusedSettings } from "@capstan/controlplane";
import type { DataInput } from "./bootstrap-data.ts";
import { Stopped } from "./progress.ts";

/** Reason of a configuration with settings that the version of its Machine removed. */
export const SETTINGS_NOT_SUPPORTED = "SettingsNotSupported";

/**
 * The input without the settings that its version rejects, if the annotation on the config or its Cluster permits that. Otherwise a
 * setting that an earlier version had stops the reconcile: the Machine would be provisioned, and its kubelet would never start. Upstream
 * passes on words that no version ever had, and so does this.
 */
export function withKnownSettings(input: DataInput): DataInput {
  const known = withoutDropped(input);
  const { config, owner } = known;
  const refused = refusedSettings(config.spec ?? {}, owner.version ?? "").filter(({ removed }) => removed);
  if (refused.length === 0) return known;
  const { namespace = "", name = "" } = config.metadata;
  const message = `${owner.kind} ${owner.name} would not start: ${refusedText(refused, "spec")}. Correct the settings of ${config.kind} ${namespace}/${name} in the template that it comes from, or drop exactly these with the annotation ${DROP_REMOVED_FLAGS_ANNOTATION}: "true" on the Cluster`;
  throw new Stopped({ step: "failed", reason: SETTINGS_NOT_SUPPORTED, message });
}

/** The input without the settings that its version rejects, if the annotation permits that. Otherwise the input itself. */
export function withoutDropped(input: DataInput): DataInput {
  const { config, owner, cluster } = input;
  if (config.spec === undefined || !dropsRemovedFlags(config, cluster)) return input;
  return { ...input, config: { ...config, spec: withoutRefusedSettings(config.spec, owner.version ?? "") } };
}
