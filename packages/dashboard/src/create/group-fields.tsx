import type { PoolStrategy } from "@capstan/capi";
import { Button, Group, NativeSelect, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { type Offer, offerOf } from "../api/providers.ts";
import { type FormProblems, type GroupForm, type ShareKey, usualSettings } from "./plan-form.ts";

interface GroupFieldsProps {
  readonly group: GroupForm;
  readonly offers: readonly Offer[];
  /** The pool's strategy, when the group is a member of one. */
  readonly strategy: PoolStrategy | undefined;
  readonly problems: FormProblems;
  readonly onChange: (group: GroupForm) => void;
  readonly onRemove: () => void;
}

const SHARES: readonly { key: ShareKey; label: string; hint: string; of?: PoolStrategy }[] = [
  { key: "min", label: "At least", hint: "0" },
  { key: "max", label: "At most", hint: "no limit" },
  { key: "cost", label: "Cost per machine", hint: "0.10", of: "Cheapest" },
  { key: "weight", label: "Weight", hint: "1", of: "Weighted" },
];

/** Another provider takes other settings. */
const providerOf = (provider: string, offers: readonly Offer[]): Partial<GroupForm> => {
  const offer = offers.find(({ name }) => name === provider);
  return offer === undefined ? {} : { provider, settings: usualSettings(offer) };
};

/** Formats `checksumType` as a label. */
function labelOf(key: string): string {
  const words = key.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Form fields of one worker group, which depend on its provider. */
export function GroupFields({ group, offers, strategy, problems, onChange, onRemove }: GroupFieldsProps): ReactNode {
  const problem = (field: string): string | undefined => problems[`groups.${group.key}.${field}`];
  const { settings = {}, summary = "", inMemory = false } = offerOf(group.provider, offers) ?? {};
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
          onChange={(event) => onChange({ ...group, ...providerOf(event.currentTarget.value, offers) })}
          data={offers.map(({ name, title, badge }) => ({ value: name, label: badge?.label ?? title }))}
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
      {!inMemory && (
        <TextInput
          label="Only hosts with these labels"
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
