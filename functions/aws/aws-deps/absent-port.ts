import { SpotterError } from "../../../sdk/schema/errors.ts";

/** A port that a function was built without. Only what `answers` names works; the rest says what is missing. */
export function absentPort<T extends object>(name: string, answers: Partial<T> = {}): T {
  const refuse = () =>
    Promise.reject(
      new SpotterError("internal", `This function was built without ${name}.`, {
        where: name,
        hint: "Name the adapter in the function's entry.",
      }),
    );
  return new Proxy(answers, {
    get(target, member) {
      if (member in target) return Reflect.get(target, member) as unknown;
      // A promise that resolves to a port must not take it for another promise.
      return member === "then" || typeof member === "symbol" ? undefined : refuse;
    },
  }) as T;
}
