export interface MathEqualOptions {
  /**
   * Places after the point to which a decimal number is compared: `0.333333` is a third, `0.33` is not.
   * Default 6; from 0 to 20.
   */
  decimals?: number;
  /** How far apart two numbers may be in any case, as an absolute difference. Default 0. */
  tolerance?: number;
}
