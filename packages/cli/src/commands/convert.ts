import type { CommandDefinition } from "../command.ts";

/** Defines `capstan convert`, which prints manifests of other projects' providers as ours. */
export const convert: CommandDefinition = {
  name: "convert",
  summary: "Print manifests of other infrastructure providers as those of Capstan's",
  details:
    "Reads infrastructure.dippynark.co.uk/v1alpha2 and v1alpha3 (cluster-api-provider-kubernetes). Objects of other groups stay as they are, but for references to what was converted. What has no counterpart is named in a warning.",
  options: [
    {
      flags: "-f, --filename <source>",
      summary: "Manifests: a file, a URL, or - for standard input",
      default: "-",
      completes: "files",
    },
  ],
  examples: [{ command: "capstan convert -f old.yaml > new.yaml", does: "convert a file" }],
  run: async (input) => (await import("./convert.run.ts")).runConvert(input),
};
