import type { Alias, putAlias as putAliasSchema } from "../../sdk/schema/alias.ts";
import type * as z from "zod/mini";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import { resolveModel } from "../gateway/resolve.ts";
import { update } from "../records/update.ts";
import { aliasKey, type AliasDocument } from "./alias-table.ts";

/** Makes an alias, or lets it lead elsewhere: from the next request on. */
export async function putAlias(
  control: Control,
  name: string,
  { targets }: z.infer<typeof putAliasSchema>,
): Promise<Alias> {
  await checkTargets(control, name, targets);
  const nowMs = control.clock.now();
  return changeAlias(control, name, (current) => ({
    v: 1,
    alias: {
      v: 1,
      name,
      targets,
      createdAtMs: current === undefined || current.removed ? nowMs : current.alias.createdAtMs,
      changedAtMs: nowMs,
    },
  }));
}

/** Removing what is not there changes nothing. */
export async function removeAlias(control: Control, name: string): Promise<void> {
  await control.aliases.load();
  if (control.aliases.find(name) === undefined) return;
  await changeAlias(control, name, (current) => current && { ...current, removed: true });
}

export async function getAlias(control: Control, name: string): Promise<Alias> {
  await control.aliases.load();
  const found = control.aliases.find(name);
  if (found !== undefined) return found;
  throw new SpotterError("not_found", `There is no alias "${name}".`, {
    where: name,
    hint: "`spotter endpoint alias` shows the aliases.",
  });
}

async function changeAlias(
  control: Control,
  name: string,
  change: (current: AliasDocument | undefined) => AliasDocument | undefined,
): Promise<Alias> {
  const document = await update<AliasDocument>(control.store, aliasKey(name), (current) => {
    const next = change(current?.value);
    return next && { value: next };
  });
  if (document === undefined) throw new SpotterError("not_found", `There is no alias "${name}".`);
  control.aliases.set(document.value, document.version);
  return document.value.alias;
}

async function checkTargets(
  control: Control,
  name: string,
  targets: z.infer<typeof putAliasSchema>["targets"],
): Promise<void> {
  await control.routes.load();
  await control.aliases.load();
  if (control.routes.find(name) !== undefined) {
    throw new SpotterError("conflict", `"${name}" is the name of an endpoint.`, {
      where: "name",
      hint: "Choose a name that no endpoint has; endpoints answer to their own.",
    });
  }
  if (targets.every(({ weight }) => weight === 0)) {
    throw new SpotterError("invalid_input", `All targets of "${name}" have weight 0.`, {
      where: "targets",
      hint: "Give at least one of them a weight, or remove the alias.",
    });
  }
  const models = new Set<string>();
  for (const [index, { model }] of targets.entries()) {
    const where = `targets[${index}].model`;
    if (models.has(model))
      throw new SpotterError("invalid_input", `"${model}" is a target twice.`, { where });
    models.add(model);
    if (control.aliases.find(model) !== undefined) {
      throw new SpotterError("invalid_input", `"${model}" is an alias itself.`, {
        where,
        hint: "Name what it leads to.",
      });
    }
    await resolveModel(control, model, { where });
  }
}
