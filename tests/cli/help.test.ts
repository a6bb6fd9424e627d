import { COMMANDS, runProgram } from "capstan";
import { describe, expect, test } from "vitest";

/** Every help text as it is printed: `npx vitest run tests/cli -u` writes them again. */
async function help(args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const code = await runProgram(args, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    env: {},
    interactive: false,
  });
  return { code, out, err };
}

const names = COMMANDS.filter(({ hidden }) => hidden !== true).map(({ name }) => name);
const groups = [...new Set(names.filter((name) => name.includes(" ")).map((name) => name.split(" ")[0] ?? ""))];

describe("help", () => {
  test.each(["", ...groups, ...names])("capstan %s --help", async (name) => {
    const { code, out, err } = await help([...name.split(" ").filter((word) => word !== ""), "--help"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    await expect(out).toMatchFileSnapshot(`golden/help/${name === "" ? "capstan" : name.replaceAll(" ", "-")}.txt`);
  });

  test.each([
    [["gett"], "Did you mean get?", "capstan --help"],
    [["describe", "clsuter", "x"], "Did you mean cluster?", "capstan describe cluster"],
    [["get", "clusters", "--slector", "a=b"], "Did you mean --selector?", "capstan get --help"],
    [["why"], "missing required argument 'name'", "capstan why --help"],
    [["host", "add"], "missing required argument 'name'", "capstan host add --help"],
    [["completion", "tcsh"], "Allowed choices are bash, zsh, fish.", "capstan completion --help"],
    [["up", "--listen", "nonsense"], "is not an address like", "capstan up --help"],
    [["create", "cluster", "Bad_Name"], "cannot be a cluster's name", "for example bad-name"],
    [["create", "cluster", "x", "--kubernetes-version", "v1.99.0"], "is not supported", "capstan kubernetes list"],
  ])("rejects %j with a suggestion", async (args, text, next) => {
    const { code, out, err } = await help(args);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(text);
    expect(err.trimEnd().split("\n").at(-1)).toMatch(new RegExp(`^next: .*${next}$`));
  });

  test("every command of a group has a heading", () => {
    // `capstan backup DIR` copies the management plane, `capstan backup create` backs up one cluster.
    for (const group of groups.filter((word) => word !== "backup"))
      expect(COMMANDS.find(({ name }) => name === group)).toBeUndefined();
  });
});
