import type { ReactNode } from "react";
import { Chip } from "../ui/chip.tsx";
import { ProviderBadge } from "../ui/provider.tsx";
import { Age } from "../ui/time.tsx";
import { ownerOfMachine } from "./machine-owner.ts";
import { type ClusterTree, healthOf } from "./tree.ts";

/** Table of the cluster's Machines and their Nodes. */
export function Machines({ tree, onOpen }: { tree: ClusterTree; onOpen: (id: string) => void }): ReactNode {
  const machines = [...tree.nodes.values()].filter((node) => node.kind === "Machine");
  return (
    // A region that scrolls must be reachable without a mouse.
    <div className="table-scroller" tabIndex={0} role="region" aria-label="Machines">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Machine</th>
            <th scope="col">State</th>
            <th scope="col">Node</th>
            <th scope="col" className="from-sm">
              Provider
            </th>
            <th scope="col" className="from-md">
              Group
            </th>
            <th scope="col" className="from-md">
              Version
            </th>
            <th scope="col" className="from-md">
              Addresses
            </th>
            <th scope="col" className="from-sm">
              Age
            </th>
          </tr>
        </thead>
        <tbody>
          {machines.map((machine) => {
            const { item } = machine;
            const infra = machine.children.find((part) => part.item.provider !== undefined);
            return (
              <tr key={item.id}>
                <th scope="row">
                  <button type="button" className="link name" onClick={() => onOpen(item.id)}>
                    {item.name}
                  </button>
                </th>
                <td>
                  <Chip tone={healthOf(machine)}>
                    {machine.deleting ? "Deleting" : (item.facts.phase ?? "Pending")}
                  </Chip>
                </td>
                <td>{item.facts.node ?? <span className="dim">none yet</span>}</td>
                <td className="from-sm">
                  {infra?.item.provider !== undefined && <ProviderBadge provider={infra.item.provider} />}
                </td>
                <td className="from-md">{ownerOfMachine(tree, item)}</td>
                <td className="from-md">{item.facts.version ?? "–"}</td>
                <td className="from-md">{item.facts.addresses?.join(", ") ?? "–"}</td>
                <td className="from-sm">
                  <Age since={item.created} />
                </td>
              </tr>
            );
          })}
          {machines.length === 0 && (
            <tr>
              <td colSpan={8} className="empty">
                No machines.
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}
