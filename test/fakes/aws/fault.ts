/** An error that the service answers with: its code as the SDK names the exception, and the HTTP status. */
export class Fault extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.name = code;
    this.code = code;
    this.status = status;
  }
}
