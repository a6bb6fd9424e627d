import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CORPUS, digestOf, ourReading, yamlCorpus } from "../testing/yaml-corpus.ts";

/** Recorded by tools/record-yaml: how go-yaml reads the corpus and our output for it. */
const recorded = JSON.parse(
  readFileSync(new URL("../../testdata/yaml/corpus.json", import.meta.url), "utf8"),
) as Record<"texts" | "original" | "written", string>;

const digests = (packed: string): string[] => Buffer.from(packed, "base64").toString("hex").match(/.{12}/g) ?? [];

test("Kubernetes reads every accepted file, and our output for it, the same way", () => {
  const corpus = yamlCorpus(CORPUS.seed, CORPUS.count);
  const ours = corpus.map((file) => ourReading(file));
  const written = ours.flatMap(({ written: text }) => text ?? []);
  const texts = [...corpus.map(({ text }) => text), ...written];
  expect(createHash("sha256").update(JSON.stringify(texts)).digest("hex"), "run tools/record-yaml/record.mjs").toBe(
    recorded.texts,
  );
  const original = digests(recorded.original);
  const differs = corpus.filter((_, i) => {
    const parsed = ours[i]?.parsed;
    return parsed !== undefined && digestOf(parsed.value) !== original[i];
  });
  expect(differs.map(({ text }) => JSON.stringify(text))).toEqual([]);
  const again = digests(recorded.written);
  expect(written.filter((text, i) => digestOf(JSON.parse(text)) !== again[i])).toEqual([]);
  // The corpus contains both accepted and rejected files.
  expect(ours.filter(({ parsed }) => parsed !== undefined).length).toBeGreaterThan(4000);
  expect(written.length).toBeGreaterThan(3000);
  expect(corpus.length - written.length).toBeGreaterThan(3000);
}, 120_000);
