import { test } from "vitest";

test("starts the runner of mutants", () => {});
