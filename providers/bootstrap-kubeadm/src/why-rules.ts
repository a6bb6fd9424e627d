import { type Cause, DROP_REMOVED_FLAGS_ANNOTATION, KubeadmConfig, sentence, type WhyRules } from "@capstan/capi";
import { SETTINGS_NOT_SUPPORTED } from "./settings.ts";

const matches = ({ kind, reason }: Cause): boolean => kind === KubeadmConfig.kind && reason === SETTINGS_NOT_SUPPORTED;

/** What `why` knows about bootstrap data. */
export const bootstrapWhy: WhyRules = {
  isFault: matches,
  remedies: [
    {
      matches,
      remedy: ({ cause }, { cluster, flags }) => ({
        cause: `Bootstrap data ${cause.name} is not created${sentence(cause.message, ": ")}`,
        steps: [
          "correct the KubeadmConfigTemplate or the class that it comes from",
          `or drop what the version rejects: kubectl annotate cluster ${cluster}${flags} ${DROP_REMOVED_FLAGS_ANNOTATION}=true`,
        ],
      }),
    },
  ],
};
