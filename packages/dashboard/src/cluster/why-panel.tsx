import { why } from "@capstan/capi";
import { Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Chip, toneOf } from "../ui/chip.tsx";
import { Age } from "../ui/time.tsx";
import { healthOf, type TreeNode } from "./tree.ts";

/** The same chain of causes that `capstan why` prints, from the cluster down to the root. */
export function WhyPanel({ root, onOpen }: { root: TreeNode; onOpen: (id: string) => void }): ReactNode {
  const chain = why(root);
  if (chain.length === 0)
    return (
      <div className="card why">
        <Title order={2} size="h4">
          {healthOf(root) === "good" ? "All is well" : "Nothing to explain yet"}
        </Title>
        <p className="dim">
          {healthOf(root) === "good"
            ? "Every part of the cluster says that it is available."
            : "No part of the cluster has said anything yet."}
        </p>
      </div>
    );
  return (
    <section className="card why" aria-label="Why">
      <Title order={2} size="h4">
        Why it is not available
      </Title>
      <ol>
        {chain.map((cause, index) => (
          <li
            key={`${cause.kind}/${cause.name}/${cause.condition}`}
            className={index === chain.length - 1 ? "cause" : ""}
          >
            <div className="chips wrap">
              <button type="button" className="link" onClick={() => onOpen(`${cause.kind}/${cause.name}`)}>
                {cause.kind}/{cause.name}
              </button>
              <Chip
                tone={cause.condition === "Paused" || cause.condition === "Deleting" ? "wait" : toneOf(cause.status)}
              >
                {cause.condition}: {cause.status}
              </Chip>
              <span className="dim">
                {cause.reason}, for <Age since={cause.since} />
              </span>
            </div>
            {cause.message !== "" && <p className="message">{cause.message}</p>}
          </li>
        ))}
      </ol>
      <p className="dim">
        <code>
          capstan why {root.name}
          {root.item.namespace === "default" ? "" : ` -n ${root.item.namespace}`}
        </code>
      </p>
    </section>
  );
}
