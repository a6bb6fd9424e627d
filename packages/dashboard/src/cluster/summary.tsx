import { Title } from "@mantine/core";
import type { ReactNode } from "react";
import { CopyText } from "../ui/copy.tsx";
import { ProviderBadge } from "../ui/provider.tsx";
import { type ClusterTree, healthOf, type TreeNode } from "./tree.ts";

/** Shows the key facts of a cluster in a few lines. */
export function Summary({ root, tree }: { root: TreeNode; tree: ClusterTree }): ReactNode {
  const nodes = [...tree.nodes.values()];
  const plane = root.children.find((child) => child.kind.endsWith("ControlPlane"));
  const machines = nodes.filter((node) => node.kind === "Machine");
  const ready = machines.filter((node) => healthOf(node) === "good").length;
  const providers = [
    ...new Set(machines.flatMap((machine) => machine.children.flatMap((part) => part.item.provider ?? []))),
  ].sort();
  const { namespace, name, facts } = root.item;
  return (
    <section className="card" aria-label="Summary">
      <Title order={2} size="h4" mb="xs">
        {root.item.state.state === "Healthy" ? "The cluster is healthy" : "The cluster"}
      </Title>
      <dl className="facts">
        <Fact label="Control plane">
          {plane === undefined
            ? "none yet"
            : `${plane.kind}, ${plane.item.facts.ready ?? 0} of ${plane.item.facts.desired ?? 1}`}
        </Fact>
        <Fact label="Version">{plane?.item.facts.version ?? "–"}</Fact>
        <Fact label="Machines">{`${ready} of ${machines.length} ready`}</Fact>
        {providers.length > 0 && (
          <Fact label="Providers">
            <span className="chips wrap">
              {providers.map((provider) => (
                <ProviderBadge key={provider} provider={provider} />
              ))}
            </span>
          </Fact>
        )}
        {facts.endpoint !== undefined && <Fact label="Endpoint">{facts.endpoint}</Fact>}
        <Fact label="Command line">
          <CopyText text={`capstan describe cluster ${name}${namespace === "default" ? "" : ` -n ${namespace}`}`} />
        </Fact>
      </dl>
    </section>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
