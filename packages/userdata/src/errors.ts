/** User data that cannot be read; the message says where and why, never with contents. */
export class UserDataError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UserDataError";
  }
}
