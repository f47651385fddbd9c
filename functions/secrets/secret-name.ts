import { SpotterError } from "../../sdk/schema/errors.ts";

/** Names of variables; not "__proto__" and its like, which objects do not keep as plain names. */
const NAME = /^(?!__)[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export function isSecretName(name: string): boolean {
  return NAME.test(name);
}

/** Throws `invalid_input` for what cannot be the name of a secret. */
export function checkSecretName(name: string): void {
  if (isSecretName(name)) return;
  throw new SpotterError("invalid_input", `"${name}" cannot name a secret.`, {
    where: "name",
    hint: "Use letters, digits and _, not beginning with a digit or __, up to 128 characters, like HF_TOKEN.",
  });
}

export function missingSecret(name: string): SpotterError {
  return new SpotterError("not_found", `There is no secret "${name}".`, {
    where: name,
    hint: `Set it with \`spotter secret set ${name}\`.`,
  });
}
