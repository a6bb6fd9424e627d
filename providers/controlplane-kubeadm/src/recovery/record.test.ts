import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { after, describePlan, planRecovery, type RecoveryEvent, type RecoveryRecord, type Survey } from "./record.ts";

const NOW = Date.parse("2026-11-19T12:00:00Z");
const lost = (machine: string) => ({ machine, answer: undefined });
const alive = (machine: string, revision: string, hasLeader = false, voters = 5) => ({
  machine,
  answer: { revision, hasLeader, voters, votes: true },
});
const backup = (name: string, timeMs: number) => ({ name, timeMs });
const survey = (members: Survey["members"], backups: Survey["backups"] = []): Survey => ({
  nowMs: NOW,
  members,
  backups,
});
const OLD = backup("20261119T100000Z", NOW - 7_200_000);
const NEW = backup("20261119T110000Z", NOW - 3_600_000);

describe("plan", () => {
  test("chooses the survivor with the highest revision", () => {
    const plan = planRecovery(
      survey([lost("a"), alive("b", "99"), alive("c", "9007199254740993"), lost("d"), lost("e")]),
      {
        backup: undefined,
      },
    );
    expect(plan).toMatchObject({ source: "Member", member: "c", revision: "9007199254740993", lost: ["a", "d", "e"] });
    expect("refused" in plan ? "" : describePlan(plan, NOW)).toBe(
      "Do not answer: a, d, e; answer: b, c. A member that does not answer the manager may still run: make sure that its Machine is powered off, because what it still accepts is lost. Restores etcd from the member on Machine c with everything up to revision 9007199254740993. All control plane Machines are deleted and replaced; workers stay.",
    );
  });

  test("falls back to the newest backup when no member answers, and says how much time is lost", () => {
    const plan = planRecovery(survey([lost("a")], [OLD, NEW]), { backup: undefined });
    expect(plan).toMatchObject({ source: "Backup", backup: NEW.name });
    expect("refused" in plan ? "" : describePlan(plan, NOW)).toContain(
      "everything written in the 60 minutes since then is lost",
    );
  });

  test("refuses while etcd has a leader, unless a backup is named", () => {
    const members = [alive("a", "5", true), alive("b", "5", true), lost("c")];
    expect(planRecovery(survey(members, [OLD]), { backup: undefined })).toMatchObject({
      refused: expect.stringContaining("has not lost its quorum"),
    });
    expect(planRecovery(survey(members, [OLD, NEW]), { backup: OLD.name })).toMatchObject({ backup: OLD.name });
  });

  test("refuses during an election: members that answer are a majority, although none leads", () => {
    const two = [alive("a", "5", false, 3), alive("b", "5", false, 3)];
    const plan = planRecovery(survey([...two, lost("c")], [OLD]), { backup: undefined });
    expect("refused" in plan ? plan.refused : "").toMatch(
      /^2 of 3 members of etcd answer \(a, b\), which is a majority/,
    );
    expect(planRecovery(survey([...two, lost("c")], [OLD]), { backup: OLD.name })).toMatchObject({ backup: OLD.name });
    // Machines do not count, members do: two of five are left, and the Machines of the others are deleted.
    expect(planRecovery(survey([alive("a", "5"), alive("b", "6")]), { backup: undefined })).toMatchObject({
      member: "b",
    });
    // A learner has no vote.
    const learner = { machine: "b", answer: { revision: "5", hasLeader: false, voters: 3, votes: false } };
    expect(planRecovery(survey([alive("a", "5", false, 3), learner]), { backup: undefined })).toMatchObject({
      source: "Member",
    });
  });

  test("restores no backup of another cluster", () => {
    const foreign = { ...NEW, foreign: "its CA is another one" };
    expect(planRecovery(survey([lost("a")], [OLD, foreign]), { backup: undefined })).toMatchObject({
      backup: OLD.name,
    });
    expect(planRecovery(survey([lost("a")], [OLD, foreign]), { backup: NEW.name })).toMatchObject({
      refused: expect.stringContaining("belongs to another cluster: its CA is another one"),
    });
  });

  test("names the choice when a backup does not exist, and the cure when there is nothing to recover from", () => {
    expect(planRecovery(survey([], [OLD]), { backup: NEW.name })).toEqual({
      refused: `spec.backup: there is no backup ${NEW.name}; there are ${OLD.name}`,
    });
    expect(planRecovery(survey([lost("a")]), { backup: undefined })).toMatchObject({
      refused: expect.stringContaining("Power on a Machine"),
    });
  });
});

describe("record", () => {
  const plan = { source: "Member" as const, member: "a" };
  const run = (events: RecoveryEvent[]): string[] => {
    const phases: string[] = [];
    let record: RecoveryRecord = { phase: "Planning" };
    for (const event of events) {
      record = after(record, event);
      phases.push(record.phase);
    }
    return phases;
  };

  test("goes from the plan of a person to the desired replicas", () => {
    expect(
      run([
        { type: "planned", plan },
        { type: "approved" },
        { type: "saved", backup: "b" },
        { type: "verified", digest: "d" },
        { type: "removed" },
        { type: "created", machine: "m" },
        { type: "started" },
        { type: "scaled" },
      ]),
    ).toEqual(["WaitingForApproval", "Saving", "Verifying", "Removing", "Starting", "Starting", "Scaling", "Done"]);
  });

  test("a backup is not saved again", () => {
    expect(run([{ type: "planned", plan: { source: "Backup", backup: "b" } }, { type: "approved" }])).toEqual([
      "WaitingForApproval",
      "Verifying",
    ]);
  });

  test("removes Machines only after an approval, and only with saved and verified data", () => {
    const event = fc.constantFrom<RecoveryEvent>(
      { type: "planned", plan },
      { type: "refused" },
      { type: "approved" },
      { type: "saved", backup: "b" },
      { type: "verified", digest: "d" },
      { type: "removed" },
      { type: "created", machine: "m" },
      { type: "started" },
      { type: "scaled" },
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        let record: RecoveryRecord = { phase: "Planning" };
        let approved = false;
        for (const each of events) {
          if (each.type === "approved" && record.phase === "WaitingForApproval") approved = true;
          const next = after(record, each);
          if (next.phase === "Removing") {
            expect(approved).toBe(true);
            expect(next).toMatchObject({ savedBackup: "b", digest: "d" });
          }
          // Once Machines may be gone, nothing leads back to another plan.
          if (record.phase === "Removing" || record.phase === "Starting")
            expect(["Removing", "Starting", "Scaling"]).toContain(next.phase);
          record = next;
        }
      }),
    );
  });
});
