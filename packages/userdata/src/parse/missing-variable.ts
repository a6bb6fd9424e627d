import type { CloudConfig } from "./cloud-config.ts";

/** Returns an undefined variable of a template: cloud-init renders text for it, which would become part of a node's name. */
export function missingVariable(config: CloudConfig): string | undefined {
  const texts = [
    ...config.writeFiles.map(({ content }) => content.toString("latin1")),
    ...[...config.bootCommands, ...config.runCommands].flat(),
  ];
  return texts.map((text) => /CI_MISSING_JINJA_VAR\/([\w.]+)/.exec(text)?.[1]).find((name) => name !== undefined);
}
