import fc from "fast-check";
import { expect, test } from "vitest";
import { wholeCommands } from "./shell-lines.ts";

test("no line is lost or moved, whatever they are", () => {
  const word = fc.constantFrom(
    ..."if fi then else case esac in for do done { } ( ) ; ;; & && || | ' \" ` \\ $( ${ $(( << <<- EOF # a b=c ! \n".split(
      " ",
    ),
    " ",
    "\t",
  );
  const line = fc.array(word, { maxLength: 8 }).map((words) => words.join(" "));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
      expect(wholeCommands(lines).flat()).toEqual(lines);
      expect(wholeCommands(lines).every((group) => group.length > 0)).toBe(true);
    }),
  );
});

test.each([
  ["lines that are whole", ["echo a", "echo b;", "", "# if", "echo if", "a=$((1 << 2))"], [1, 1, 1, 1, 1, 1]],
  ["an if", ["if a", "then", "b", "else", "if c; then d; fi", "fi", "e"], [6, 1]],
  [
    "a case with patterns in and without brackets",
    ["case a in", "(a) b;;", "*) if c; then d; fi;;", "esac", "e"],
    [4, 1],
  ],
  ["a document in a loop", ['for i in 1; do cat <<-"E F"', "done", "\tE F", "done", "e"], [4, 1]],
  ["two documents", ["cat <<A <<B", "x", "A", "y", "B", "e"], [5, 1]],
  ["quotes", ["echo 'a", "b' \"c", 'd"', 'echo "$(echo "', '")"', "e"], [3, 2, 1]],
  ["what joins the next line", ["a &&", "b |", "c \\", "d", "e"], [4, 1]],
  ["what never ends", ["a", "if b", "c", "d"], [1, 1, 1, 1]],
])("joins %s", (_, lines, sizes) => {
  expect(wholeCommands(lines).map(({ length }) => length)).toEqual(sizes);
});

test("takes time in proportion to the lines", () => {
  const lines = Array.from({ length: 200_000 }, (_, n) => (n % 2 === 0 ? "if '" : "<<A $("));
  expect(wholeCommands(lines).flat()).toHaveLength(lines.length);
});
