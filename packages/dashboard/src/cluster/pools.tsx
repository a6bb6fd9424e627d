import type { ObjectItem, PoolMember } from "@capstan/dashboard-server";
import { Button, Title } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useProviders } from "../api/providers.ts";
import { Chip, StateChip } from "../ui/chip.tsx";
import { ProviderBadge, providerColor } from "../ui/provider.tsx";
import { type Tone } from "../ui/tone.ts";
import { Allowed } from "./allowed.tsx";
import { RetryButton } from "./retry-button.tsx";
import { ScaleDialog } from "./scale-dialog.tsx";
import { type ClusterTree, healthOf } from "./tree.ts";

/** Shows WorkerPools with their members, and the deployments that belong to no pool. */
export function Pools({ tree }: { tree: ClusterTree }): ReactNode {
  const [scaling, setScaling] = useState<ObjectItem>();
  const groups = [...tree.nodes.values()].filter(
    ({ item }) =>
      item.kind === "WorkerPool" ||
      ((item.kind === "MachineDeployment" || item.kind === "MachinePool") &&
        tree.nodes.get(item.parent ?? "")?.kind !== "WorkerPool"),
  );
  return (
    <section className="card" aria-label="Workers">
      <Title order={2} size="h4" mb="xs">
        Workers
      </Title>
      {groups.length === 0 && <p className="dim">This cluster has no workers.</p>}
      {groups.map((group) => {
        const { item } = group;
        return (
          <div key={item.id} className="pool">
            <div className="pool-head">
              <span>
                <strong>{item.name}</strong> <span className="dim">{item.kind}</span>
              </span>
              <Chip tone={healthOf(group)} title={item.state.message}>
                {item.facts.available ?? 0} of {item.facts.desired ?? 0}
              </Chip>
              {item.state.state !== "Healthy" && <StateChip state={item.state} />}
              <Allowed verb="patch" item={item}>
                {(allowed) => (
                  <Button
                    size="compact-sm"
                    variant="default"
                    disabled={!allowed}
                    title={allowed ? "" : `You may not change ${item.plural} here`}
                    onClick={() => setScaling(item)}
                    aria-label={`Scale ${item.name}`}
                  >
                    Scale
                  </Button>
                )}
              </Allowed>
              {item.facts.members?.some(({ state }) => state === "CoolingDown") === true && <RetryButton item={item} />}
            </div>
            {item.facts.members !== undefined && (
              <Spread members={item.facts.members} strategy={item.facts.strategy ?? ""} />
            )}
          </div>
        );
      })}
      {scaling !== undefined && <ScaleDialog item={scaling} onClose={() => setScaling(undefined)} />}
    </section>
  );
}

const STATES: Readonly<Record<string, Tone>> = { Active: "good", Full: "plain", Unhealthy: "bad", CoolingDown: "wait" };

function Spread({ members, strategy }: { members: readonly PoolMember[]; strategy: string }): ReactNode {
  const providers = useProviders();
  const total = Math.max(
    1,
    members.reduce((sum, member) => sum + member.desired, 0),
  );
  return (
    <>
      <div className="spread" aria-hidden="true">
        {members.map((member) => (
          <div
            key={member.name}
            className="spread-part"
            style={{ flexGrow: member.desired / total, background: providerColor(member.provider, providers) }}
          />
        ))}
      </div>
      <ul className="members">
        {members.map((member) => (
          <li key={member.name}>
            <span>
              <strong>{member.name}</strong> <ProviderBadge provider={member.provider} />
            </span>
            <span>
              {member.available}/{member.desired}
              <span className="dim">
                {" "}
                (min {member.min}
                {member.max === undefined ? "" : `, max ${member.max}`}
                {member.cost === undefined ? "" : `, cost ${member.cost}`})
              </span>
            </span>
            <Chip
              tone={STATES[member.state] ?? "plain"}
              {...(member.message === undefined ? {} : { title: member.message })}
            >
              {member.state}
            </Chip>
          </li>
        ))}
      </ul>
      <p className="dim">Strategy: {strategy}</p>
    </>
  );
}
