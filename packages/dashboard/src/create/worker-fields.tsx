import { POOL_STRATEGIES, type PoolStrategy } from "@capstan/capi";
import { Button, Group, NativeSelect, Switch, TextInput, Title } from "@mantine/core";
import type { ReactNode } from "react";
import type { Offer } from "../api/providers.ts";
import { GroupFields } from "./group-fields.tsx";
import { type FormProblems, newGroup, type PlanForm } from "./plan-form.ts";

interface WorkerFieldsProps {
  readonly form: PlanForm;
  readonly offers: readonly Offer[];
  readonly problems: FormProblems;
  readonly onChange: (next: Partial<PlanForm>) => void;
}

/** Form fields of all worker groups, each with its own replicas or all in one WorkerPool. */
export function WorkerFields({ form, offers, problems, onChange }: WorkerFieldsProps): ReactNode {
  const { pool } = form;
  return (
    <>
      <Title order={2} size="h4" mt="md" mb="xs">
        Workers
      </Title>
      <Switch
        label="One replica count for all groups (WorkerPool)"
        description="The strategy orders the groups. Machines that do not fit into one group go to the next."
        checked={form.pooled}
        onChange={(event) => onChange({ pooled: event.currentTarget.checked })}
      />
      {form.pooled && (
        <Group grow align="start" mt="sm">
          <TextInput
            label="Pool name"
            value={pool.name}
            error={problems["pool.name"]}
            onChange={(event) => onChange({ pool: { ...pool, name: event.currentTarget.value } })}
          />
          <TextInput
            label="Total machines"
            inputMode="numeric"
            value={pool.replicas}
            error={problems["pool.replicas"]}
            onChange={(event) => onChange({ pool: { ...pool, replicas: event.currentTarget.value } })}
          />
          <NativeSelect
            label="Strategy"
            value={pool.strategy}
            onChange={(event) => onChange({ pool: { ...pool, strategy: event.currentTarget.value as PoolStrategy } })}
            data={POOL_STRATEGIES.map((strategy) => ({ value: strategy, label: STRATEGY_LABELS[strategy] }))}
          />
        </Group>
      )}
      {form.groups.map((group) => (
        <GroupFields
          key={group.key}
          group={group}
          offers={offers}
          strategy={form.pooled ? pool.strategy : undefined}
          problems={problems}
          onChange={(next) => onChange({ groups: form.groups.map((other) => (other === group ? next : other)) })}
          onRemove={() => onChange({ groups: form.groups.filter((other) => other !== group) })}
        />
      ))}
      <Button
        variant="default"
        mt="sm"
        onClick={() => {
          const [first] = offers;
          if (first === undefined) return;
          const key = Math.max(0, ...form.groups.map((group) => group.key)) + 1;
          onChange({ groups: [...form.groups, newGroup(key, first)] });
        }}
      >
        Add worker group
      </Button>
    </>
  );
}

const STRATEGY_LABELS: Readonly<Record<PoolStrategy, string>> = {
  Cheapest: "cheapest first",
  Ordered: "in this order",
  Weighted: "by weight",
};
