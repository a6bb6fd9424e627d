/** A problem that only a person can solve, found on the way. */
export class PlacementProblem extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.name = "PlacementProblem";
    this.reason = reason;
  }
}
