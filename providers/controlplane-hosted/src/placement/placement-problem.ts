/** Thrown for a problem that a user has to solve. */
export class PlacementProblem extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.name = "PlacementProblem";
    this.reason = reason;
  }
}
