/** Thrown by a command that has told everything already: what is left is its exit code. */
export class Told extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit ${exitCode}`);
    this.exitCode = exitCode;
  }
}
