import { expect, test } from "vitest";
import { type UpToDateQuestion, upToDateQuestions } from "../testing/upstream-decisions.ts";
import { rolloutReasons } from "./up-to-date.ts";

function answer({ controlPlane, machine, kubeadmConfig, infraMachine, templates, now }: UpToDateQuestion): string[] {
  const refers = machine.spec.bootstrap.configRef !== undefined;
  const { name } = controlPlane.spec.machineTemplate.spec.infrastructureRef;
  const leaves =
    controlPlane.metadata.deletionTimestamp !== undefined && templates.every(({ metadata }) => metadata.name !== name);
  const built = {
    machine,
    // As the controller reads them: see builtMachine.
    config: kubeadmConfig === undefined || !refers ? undefined : (kubeadmConfig.spec ?? {}),
    infrastructure: leaves ? undefined : infraMachine,
  };
  return rolloutReasons(controlPlane, built, Date.parse(now));
}

const questions = upToDateQuestions();

test("gives the reasons that upstream gives, in its order", () => {
  const different = questions.flatMap(({ name, question, answer: expected }) => {
    // A version that cannot be parsed and a template that does not exist are reported before anything is compared.
    if (expected.error !== undefined) return [];
    const own = answer(question);
    return JSON.stringify(own) === JSON.stringify(expected.messages ?? []) ? [] : [{ name, own, expected }];
  });
  expect(
    different.map(({ name, own, expected }) => `${name}: ${own.join()} | ${String(expected.messages ?? "up to date")}`),
  ).toEqual([]);
});
