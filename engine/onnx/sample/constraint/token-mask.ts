/** Says which tokens may come next. */
export interface TokenMask {
  /**
   * A row of probabilities with 0 for what may not come, and a sum of 1. The row given stays as it is.
   *
   * @throws SpotterError `engine_failed` when nothing may come, `grammar_too_complex` when it takes too
   * long to say what may.
   */
  apply(row: Float32Array): Float32Array;
  /** Goes on after a token. Throws `grammar_too_complex` as {@link apply}. */
  take(id: number): void;
  /** Nothing more may come: the answer ends here. */
  readonly complete: boolean;
}
