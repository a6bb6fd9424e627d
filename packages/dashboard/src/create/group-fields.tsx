import { type PoolStrategy, type ProviderName, WORKER_PROVIDERS } from "@capstan/capi";
import { Button, Group, NativeSelect, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { type FormProblems, type GroupForm, type ShareKey, usualSettings } from "./plan-form.ts";

interface GroupFieldsProps {
  readonly group: GroupForm;
  readonly providers: readonly ProviderName[];
  /** The pool's strategy, when the group is a member of one. */
  readonly strategy: PoolStrategy | undefined;
  readonly problems: FormProblems;
  readonly onChange: (group: GroupForm) => void;
  readonly onRemove: () => void;
}

const LABELS: Readonly<Record<ProviderName, string>> = { memory: "Memory", byoh: "Own hosts", metal3: "Bare metal" };

const SHARES: readonly { key: ShareKey; label: string; hint: string; of?: PoolStrategy }[] = [
  { key: "min", label: "At least", hint: "0" },
  { key: "max", label: "At most", hint: "no limit" },
  { key: "cost", label: "Cost of one", hint: "0.10", of: "Cheapest" },
  { key: "weight", label: "Weight", hint: "1", of: "Weighted" },
];

/** Another provider takes other settings. */
const providerOf = (provider: ProviderName): Pick<GroupForm, "provider" | "settings"> => ({
  provider,
  settings: usualSettings(provider),
});

/** `checksumType` as people write it. */
function labelOf(key: string): string {
  const words = key.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Form fields of one worker group, which depend on its provider. */
export function GroupFields({ group, providers, strategy, problems, onChange, onRemove }: GroupFieldsProps): ReactNode {
  const problem = (field: string): string | undefined => problems[`groups.${group.key}.${field}`];
  const { settings, summary } = WORKER_PROVIDERS[group.provider];
  return (
    <fieldset className="group">
      <legend>{group.name || "Worker group"}</legend>
      <Group grow align="start">
        <TextInput
          label="Group name"
          value={group.name}
          error={problem("name")}
          onChange={(event) => onChange({ ...group, name: event.currentTarget.value })}
        />
        <NativeSelect
          label="Provider"
          value={group.provider}
          onChange={(event) => onChange({ ...group, ...providerOf(event.currentTarget.value as ProviderName) })}
          data={providers.map((provider) => ({ value: provider, label: LABELS[provider] }))}
        />
        {strategy === undefined && (
          <TextInput
            label="Machines"
            inputMode="numeric"
            value={group.replicas}
            error={problem("replicas")}
            onChange={(event) => onChange({ ...group, replicas: event.currentTarget.value })}
          />
        )}
      </Group>
      {strategy !== undefined && (
        <Group grow align="start" mt="xs">
          {SHARES.filter(({ of }) => of === undefined || of === strategy).map(({ key, label, hint }) => (
            <TextInput
              key={key}
              label={label}
              placeholder={hint}
              inputMode="decimal"
              value={group.share[key]}
              error={problem(key)}
              onChange={(event) => onChange({ ...group, share: { ...group.share, [key]: event.currentTarget.value } })}
            />
          ))}
        </Group>
      )}
      <p className="dim small">{summary}</p>
      {group.provider !== "memory" && (
        <TextInput
          label="Only hosts with labels"
          placeholder="rack=1, disk=ssd"
          value={group.select}
          error={problem("select")}
          onChange={(event) => onChange({ ...group, select: event.currentTarget.value })}
        />
      )}
      {Object.entries(settings).map(([key, setting]) => (
        <TextInput
          key={key}
          mt="xs"
          label={labelOf(key)}
          description={setting.summary}
          required={setting.required === true}
          value={group.settings[key] ?? ""}
          error={problem(key)}
          onChange={(event) =>
            onChange({ ...group, settings: { ...group.settings, [key]: event.currentTarget.value } })
          }
        />
      ))}
      <Button size="compact-sm" variant="default" mt="xs" onClick={onRemove} aria-label={`Remove group ${group.name}`}>
        Remove
      </Button>
    </fieldset>
  );
}
