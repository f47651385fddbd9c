/** Files that other programs read while they grow. Only where the home has folders of its own. */
export interface EventFiles {
  /** Whether a path leads into the home's own folder, where nobody else's files belong. */
  isOwn(path: string): Promise<boolean>;
  /**
   * Puts bytes at an offset; what was behind it is gone. Makes the file, and its folder, where the offset is 0.
   * Resolves to false, having done nothing, where the file does not reach the offset.
   */
  write(path: string, offset: number, bytes: Uint8Array): Promise<boolean>;
}
