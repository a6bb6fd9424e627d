import { parseCloudConfig } from "@capstan/userdata";
import type { Node } from "./node.ts";

/** Does to a node what cloud-init does with user data at first boot: writes the files, runs the commands; gives back their output. */
export async function applyUserData(node: Node, text: string): Promise<string> {
  const config = parseCloudConfig(text, { metadata: { local_hostname: node.name, hostname: node.name } });
  const write = 'mkdir -p "$(dirname "$1")" && cat > "$1" && chmod "$2" "$1"';
  for (const file of config.writeFiles)
    await node.must(["sh", "-c", write, "sh", file.path, file.permissions], { input: file.content.toString("utf8") });
  let output = "";
  for (const command of config.runCommands)
    output += await node.must(typeof command === "string" ? ["sh", "-c", command] : command, { timeout: 120_000 });
  return output;
}
