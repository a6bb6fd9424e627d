import { explain } from "@capstan/capi";
import { Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Chip, toneOf } from "../ui/chip.tsx";
import { CopyText } from "../ui/copy.tsx";
import { Age } from "../ui/time.tsx";
import { healthOf, type TreeNode } from "./tree.ts";

interface WhyPanelProps {
  readonly root: TreeNode;
  readonly onOpen: (id: string) => void;
}

/** What `capstan why` prints: the cause in plain words, what to do, and the chain from the cluster down to it. */
export function WhyPanel({ root, onOpen }: WhyPanelProps): ReactNode {
  const { namespace } = root.item;
  const found = explain(root, namespace);
  if (found === undefined) return null;
  return (
    <section className="card why" aria-label="Why">
      <Title order={2} size="h4">
        {headingOf(root)}
      </Title>
      <p className="why-cause">{found.cause}</p>
      <div className="grid-2">
        <div>
          <h3>What to do</h3>
          <ol className="steps">
            {found.steps.map((step) => (
              <li key={step}>
                <Step text={step} />
              </li>
            ))}
          </ol>
        </div>
        <div>
          <h3>How it comes about</h3>
          <ol className="chain">
            {found.chain.map((cause) => (
              <li key={`${cause.kind}/${cause.name}/${cause.condition}`}>
                <button type="button" className="link" onClick={() => onOpen(`${cause.kind}/${cause.name}`)}>
                  {cause.kind}/{cause.name}
                </button>
                <div className="chips wrap">
                  <Chip
                    tone={
                      cause.condition === "Paused" || cause.condition === "Deleting" ? "wait" : toneOf(cause.status)
                    }
                  >
                    {cause.condition}: {cause.status}
                  </Chip>
                  <span className="dim">
                    {cause.reason}, for <Age since={cause.since} />
                  </span>
                </div>
                {cause.message !== "" && <p className="message dim">{plainMessage(cause.message)}</p>}
              </li>
            ))}
          </ol>
        </div>
      </div>
      <p className="dim">
        The same in a terminal:{" "}
        <CopyText text={`capstan why ${root.name}${namespace === "default" ? "" : ` -n ${namespace}`}`} />
      </p>
    </section>
  );
}

function headingOf(root: TreeNode): string {
  if (root.deleting) return "It is being deleted";
  return healthOf(root) === "good" ? "Available, with trouble inside" : "Why it is not available";
}

/** Conditions list what they sum up with stars; alone on its line a star says nothing. */
function plainMessage(message: string): string {
  return message.replace(/^\* (?!.*\n\* )/s, "");
}

/** A step may end in a command, which one wants to copy. */
function Step({ text }: { text: string }): ReactNode {
  const match = /^(.*): ((?:capstan|kubectl) .*)$/.exec(text);
  const [, words = text, command] = match ?? [];
  return (
    <>
      {words.charAt(0).toUpperCase()}
      {words.slice(1)}
      {command !== undefined && (
        <div>
          <CopyText text={command} />
        </div>
      )}
    </>
  );
}
