/** Thrown when a node image cannot be built; `cure` says what the user can do. */
export class NodeImageError extends Error {
  readonly cure: string;

  constructor(message: string, cure: string) {
    super(message);
    this.name = "NodeImageError";
    this.cure = cure;
  }
}
