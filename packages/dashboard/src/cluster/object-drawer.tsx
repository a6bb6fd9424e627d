import { NEGATIVE_CONDITIONS } from "@capstan/capi";
import type { ObjectItem } from "@capstan/dashboard-server";
import { Button, Drawer, Group } from "@mantine/core";
import type { ReactNode } from "react";
import { BreakButton } from "../hosts/break-button.tsx";
import { Chip } from "../ui/chip.tsx";
import { Age } from "../ui/time.tsx";
import { type Tone, toneOf } from "../ui/tone.ts";

function conditionTone(type: string, status: string): Tone {
  if (!NEGATIVE_CONDITIONS.has(type)) return toneOf(status);
  return status === "True" ? "wait" : "plain";
}

interface ObjectDrawerProps {
  readonly item: ObjectItem;
  readonly onYaml: () => void;
  readonly onClose: () => void;
}

/** Shows the facts and conditions of one object, with a link to its YAML. */
export function ObjectDrawer({ item, onYaml, onClose }: ObjectDrawerProps): ReactNode {
  const { facts } = item;
  const rows: [string, string | undefined][] = [
    ["Phase", facts.phase],
    ["Version", facts.version],
    ["Node", facts.node],
    ["Provider ID", facts.providerID],
    ["Addresses", facts.addresses?.join(", ")],
    ["Failure domain", facts.failureDomain],
    ["Endpoint", facts.endpoint],
  ];
  const group = item.apiVersion.split("/")[0] ?? "";
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title={`${item.kind} ${item.name}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <dl className="facts">
        {rows.map(([label, value]) =>
          value === undefined ? null : (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
        <div>
          <dt>Age</dt>
          <dd>
            <Age since={item.created} />
          </dd>
        </div>
      </dl>
      <h3>Conditions</h3>
      {item.conditions.length === 0 && <p className="dim">It has not reported any condition yet.</p>}
      <ul className="conditions">
        {item.conditions.map((condition) => (
          <li key={condition.type}>
            <Chip tone={conditionTone(condition.type, condition.status)}>
              {condition.type}: {condition.status}
            </Chip>{" "}
            <span className="dim">
              {condition.reason}, for <Age since={condition.lastTransitionTime} />
            </span>
            {condition.message !== "" && <p className="message">{condition.message}</p>}
          </li>
        ))}
      </ul>
      <p>
        <code className="command">
          kubectl get {item.plural}.{group} {item.name} -n {item.namespace} -o yaml
        </code>
      </p>
      <Group>
        <Button variant="default" onClick={onYaml}>
          YAML
        </Button>
        {facts.simulated !== undefined && <BreakButton host={item} simulated={facts.simulated} />}
      </Group>
    </Drawer>
  );
}
