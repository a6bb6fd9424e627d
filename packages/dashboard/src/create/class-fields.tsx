import { Button, Checkbox, Group, NativeSelect, Textarea, TextInput, Title } from "@mantine/core";
import type { ReactNode } from "react";
import {
  type ClassForm,
  type ClusterClassObject,
  type VariableDefinition,
  variablesOf,
  workerClasses,
} from "./class-form.ts";
import type { FormProblems } from "./plan-form.ts";

interface ClassFieldsProps {
  readonly chosen: ClusterClassObject;
  readonly form: ClassForm;
  readonly problems: FormProblems;
  readonly onChange: (form: ClassForm) => void;
}

/** Form fields for a ClusterClass: numbers of machines, and its variables by their schemas. */
export function ClassFields({ chosen, form, problems, onChange }: ClassFieldsProps): ReactNode {
  const classes = workerClasses(chosen);
  const variables = variablesOf(chosen);
  return (
    <>
      <TextInput
        mt="sm"
        label="Control plane replicas"
        inputMode="numeric"
        value={form.controlPlaneReplicas}
        error={problems["controlPlaneReplicas"]}
        onChange={(event) => onChange({ ...form, controlPlaneReplicas: event.currentTarget.value })}
      />
      <Title order={2} size="h4" mt="md">
        Workers
      </Title>
      {form.workers.map((group) => {
        const change = (next: Partial<typeof group>): void =>
          onChange({
            ...form,
            workers: form.workers.map((other) => (other === group ? { ...group, ...next } : other)),
          });
        return (
          <fieldset className="group" key={group.key}>
            <legend>{group.name || "Worker group"}</legend>
            <Group grow align="start">
              <TextInput
                label="Group name"
                value={group.name}
                error={problems[`workers.${group.key}.name`]}
                onChange={(event) => change({ name: event.currentTarget.value })}
              />
              <NativeSelect
                label="Class"
                value={group.class}
                onChange={(event) => change({ class: event.currentTarget.value })}
                data={classes}
              />
              <TextInput
                label="Machines"
                inputMode="numeric"
                value={group.replicas}
                error={problems[`workers.${group.key}.replicas`]}
                onChange={(event) => change({ replicas: event.currentTarget.value })}
              />
            </Group>
            <Button
              size="compact-sm"
              variant="default"
              mt="xs"
              onClick={() => onChange({ ...form, workers: form.workers.filter((other) => other !== group) })}
              aria-label={`Remove group ${group.name}`}
            >
              Remove
            </Button>
          </fieldset>
        );
      })}
      {classes[0] !== undefined && (
        <Button
          variant="default"
          mt="sm"
          onClick={() => {
            const key = Math.max(0, ...form.workers.map((group) => group.key)) + 1;
            const group = { key, class: classes[0] ?? "", name: `group-${key}`, replicas: "1" };
            onChange({ ...form, workers: [...form.workers, group] });
          }}
        >
          Add worker group
        </Button>
      )}
      {variables.length > 0 && (
        <Title order={2} size="h4" mt="md">
          Variables
        </Title>
      )}
      {variables.map((definition) => (
        <VariableField
          key={definition.name}
          definition={definition}
          value={form.variables[definition.name] ?? ""}
          problem={problems[`variables.${definition.name}`]}
          onChange={(value) => onChange({ ...form, variables: { ...form.variables, [definition.name]: value } })}
        />
      ))}
    </>
  );
}

interface VariableFieldProps {
  readonly definition: VariableDefinition;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onChange: (value: string) => void;
}

/** One variable: a choice, a yes or no, a line, or a text of YAML. */
function VariableField({ definition, value, problem, onChange }: VariableFieldProps): ReactNode {
  const { type, description, default: standard, example, enum: choices } = definition.schema.openAPIV3Schema;
  const shared = {
    mt: "xs",
    label: definition.name,
    description,
    required: definition.required === true && standard === undefined,
    error: problem,
  };
  const unset = standard === undefined ? "not set" : `default: ${textOf(standard)}`;
  if (choices !== undefined)
    return (
      <NativeSelect
        {...shared}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        data={[{ value: "", label: unset }, ...choices.map(String)]}
      />
    );
  if (type === "boolean")
    return (
      <Checkbox
        mt="sm"
        label={definition.name}
        description={description}
        error={problem}
        checked={value === "" ? standard === true : value === "true"}
        onChange={(event) => onChange(String(event.currentTarget.checked))}
      />
    );
  const placeholder = standard === undefined ? (example === undefined ? "" : `e.g. ${textOf(example)}`) : unset;
  if (type === "object" || type === "array" || type === undefined)
    return (
      <Textarea
        {...shared}
        autosize
        minRows={2}
        placeholder={placeholder}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  return (
    <TextInput
      {...shared}
      placeholder={placeholder}
      inputMode={type === "integer" || type === "number" ? "decimal" : "text"}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
