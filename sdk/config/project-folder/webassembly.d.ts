/** What of WebAssembly is used here: TypeScript tells of it in the library of browsers alone. */
declare namespace WebAssembly {
  function validate(bytes: Uint8Array): boolean;

  class Module {
    constructor(bytes: Uint8Array);
    static exports(module: Module): { name: string }[];
    static imports(module: Module): { name: string }[];
  }

  class Instance {
    constructor(module: Module);
    readonly exports: unknown;
  }
}
