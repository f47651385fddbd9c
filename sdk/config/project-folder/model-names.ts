import { nearestName } from "../../schema/nearest-name.ts";
import { type Catalogue, isApiModel, looksLikeId, type ModelNameKind } from "./catalogue.ts";
import type { Path, Remark } from "./finding.ts";

const HUB_NAME = /^(?:hf:)?(?<name>[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*)(?:@\S+)?$/;

/** What this home may have under such a name: a run, an endpoint, stored weights. */
export function isNameHere(value: string, kind: ModelNameKind): boolean {
  if (kind === "record") return !looksLikeId(value);
  return kind === "unknown" && !isApiModel(value) && /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/.test(value);
}

/** A name that only the launch can look up. */
export function unchecked(path: Path, value: string, catalogue: Catalogue): Remark {
  const isWord = !value.includes("/");
  const near = nearModel(value, catalogue);
  const message = isWord
    ? `"${value}" is none of the models with a /, so it is taken for a run, an endpoint or a stored model`
    : `"${value}" is not in the catalogue, so nothing is known of its limits; it is taken for a stored model`;
  const hint = [
    near === undefined ? "It is looked up at launch." : `It is looked up at launch. Did you mean ${near}?`,
    isWord
      ? `A model of a hub has two parts, as Qwen/Qwen3-8B; \`spotter model pull hf:OWNER/MODEL --name ${value}\` stores one under this name.`
      : `Weights of a hub are stored with \`spotter model pull hf:${value}\`.`,
  ];
  return { code: "model_unchecked", severity: "warning", path, message, hint: hint.join(" ") };
}

/** A name that is none of the catalogue, and cannot be one of this home either. */
export function unknownModel(path: Path, value: string, catalogue: Catalogue): Remark {
  const onHub = HUB_NAME.exec(value)?.groups?.["name"];
  if (value.startsWith("hf:") && onHub !== undefined) {
    const message = `"${value}" is where a hub has it; a project names what is stored here`;
    return { code: "model_unknown", path, message, hint: stored(path, onHub) };
  }
  const message = isApiModel(value)
    ? `"${value}" is a model behind an API: it answers, and cannot be trained`
    : value === ""
      ? "is empty"
      : `"${value}" is not a supported model`;
  const near = nearModel(value, catalogue);
  const known = near
    ? `Did you mean ${near}?`
    : "Take one of the catalogue (docs/project-folder.md), or describe yours in catalogue.json beside config.yml.";
  const hint = isNameHere(value, "unknown") ? `${known} ${stored(path, value)}` : known;
  return { code: "model_unknown", path, message, hint };
}

export function noModelIn(folder: string, path: Path): Remark {
  const what = "A model folder holds config.json, tokenizer.json and safetensors.";
  const hint = `${what} ${stored(path, "OWNER/MODEL")}`;
  return { code: "model_unknown", path, message: `there is no model in the folder ${folder}`, hint };
}

/** How weights of a hub come here, and how a project is then told of them. */
function stored([section]: Path, name: string): string {
  const option = section === "teacher" ? "--teacher" : "--model";
  return `Weights of a hub are stored with \`spotter model pull hf:${name}\` and then named with \`${option} ${name}\`.`;
}

/** The nearest name, with or without its owner; else one that begins so. */
export function nearModel(value: string, catalogue: Catalogue): string | undefined {
  const names = Object.keys(catalogue);
  if (value === "") return undefined;
  const whole = names.find((name) => name.toLowerCase() === value.toLowerCase());
  const tail = value.split("/").at(-1)?.toLowerCase() ?? "";
  const sameTail = names.find((name) => name.split("/").at(-1)?.toLowerCase() === tail);
  const begins = names.find((name) => name.split("/").at(-1)?.toLowerCase().startsWith(`${tail}-`));
  return whole ?? sameTail ?? (tail.length > 3 ? begins : undefined) ?? nearestName(value, names);
}
