/** Thrown when user data is invalid; the message says where and why, and never contains the data itself. */
export class UserDataError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UserDataError";
  }
}
