/** A block of shell commands in a page. */
export interface Block {
  page: string;
  line: number;
  text: string;
}

/** Blocks whose fence says `sh run`. */
export function runnableBlocks(page: string, text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    if (lines[at]?.trim() !== "```sh run") continue;
    const end = lines.indexOf("```", at + 1);
    blocks.push({ page, line: at + 2, text: lines.slice(at + 1, end).join("\n") });
    at = end;
  }
  return blocks;
}

/** Addresses of links to files of the repository, without what follows a `#`. Pictures are made by the browser tests and left out. */
export function fileLinks(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, address = ""]) => address.split("#")[0] ?? "")
    .filter((address) => address !== "" && !/^[a-z]+:/.test(address) && !address.endsWith(".png"));
}
