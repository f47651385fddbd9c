/**
 * Makes what the language itself shares between rows unchangeable: `Object.prototype.x = 1` or `Math.random = f`
 * in one row is an error of that row instead of a fault of all later ones. Runs in the isolate after the user's
 * module has loaded, so that polyfills still work. globalThis and the module's own variables stay as they are,
 * and so does RegExp.prototype: V8 runs every regular expression several times slower once it is frozen.
 *
 * Its text is put into the isolate's main module: it may use nothing from outside of itself.
 */
export function lockIntrinsics(): void {
  // On a frozen prototype the assignment `error.name = "Mine"` would fail for every object that inherits from
  // it. What users are known to override keeps working through accessors; the rest stays plain and fast.
  const inherited = [Object.prototype, Function.prototype, Error.prototype];
  const namespaces = [Math, JSON, Reflect, Atomics, Intl];
  const iterators: unknown[] = [
    [].values(),
    new Map().keys(),
    new Set().keys(),
    "".matchAll(/x/g),
    ""[Symbol.iterator](),
  ];
  const hidden: unknown[] = [
    ...iterators.flatMap((each) => chain(each)),
    ...chain(function* () {}.prototype),
    ...chain(async function* () {}.prototype),
    ...[async () => {}, function* () {}, async function* () {}].map((each): unknown =>
      Object.getPrototypeOf(each),
    ),
    Object.getPrototypeOf(Uint8Array),
  ];
  const constructors = Object.getOwnPropertyNames(globalThis)
    .filter((name) => /^[A-Z]/.test(name))
    .map((name): unknown => Object.getOwnPropertyDescriptor(globalThis, name)?.value)
    .filter((value) => typeof value === "function");
  const overridden = ["toString", "toLocaleString", "toJSON", "valueOf", "name", "message"];
  for (const prototype of inherited) keepAssignable(prototype, Reflect.ownKeys(prototype));
  for (const each of [...namespaces, ...hidden, ...constructors]) {
    lock(each);
    if (typeof each !== "function" || each === RegExp) continue;
    const { prototype } = each as { prototype?: unknown };
    if (typeof prototype === "object" && prototype !== null) keepAssignable(prototype, overridden);
    lock(prototype);
  }

  function chain(value: unknown): unknown[] {
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === null || prototype === Object.prototype ? [] : [prototype, ...chain(prototype)];
  }

  function lock(value: unknown): void {
    if ((typeof value === "object" && value !== null) || typeof value === "function") Object.freeze(value);
  }

  function keepAssignable(prototype: object, keys: readonly PropertyKey[]): void {
    for (const key of keys) {
      const descriptor = Object.getOwnPropertyDescriptor(prototype, key);
      if (!descriptor?.configurable || !("value" in descriptor)) continue;
      const value: unknown = descriptor.value;
      Object.defineProperty(prototype, key, {
        get: () => value,
        set(this: unknown, next: unknown) {
          if (this === prototype)
            throw new TypeError(`Cannot assign to ${String(key)}: it is shared by all rows`);
          Object.defineProperty(this, key, {
            value: next,
            writable: true,
            enumerable: true,
            configurable: true,
          });
        },
        enumerable: descriptor.enumerable === true,
        configurable: false,
      });
    }
  }
}
