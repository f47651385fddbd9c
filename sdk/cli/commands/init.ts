import { resolve } from "node:path";
import type { Command } from "commander";
import { type CliContext, print, printJson } from "../context.ts";
import { verb } from "../verb.ts";

interface Options {
  dir: string;
  template?: string;
  name?: string;
  json?: boolean;
}

export function initCommand(context: CliContext): Command {
  return verb("init", "Write a project folder to begin with; overwrites nothing", [
    "spotter init my-project",
    "spotter init sums --template math",
  ])
    .argument("[folder]", "where to (default: here)")
    .option("-d, --dir <folder>", "the same, as other commands have it", ".")
    .option("-t, --template <name>", "haiku, math, tools, game, judge, sft or distill (default: haiku)")
    .option("--name <name>", "what the project is called (default: the folder's name)")
    .action(async (folderGiven: string | undefined, options: Options) => {
      const { initProject } = await import("../../config/project-folder/init-project.ts");
      const { template, name } = options;
      const dir = folderGiven ?? options.dir;
      const files = await initProject(dir, { template, name });
      const folder = resolve(dir);
      if (options.json) return printJson(context, { folder, files });
      print(context, `${files.join(", ")} are in ${folder}.`);
      print(
        context,
        `Next: ${context.command(`validate -d ${dir}`)}, then ${context.command(`run -d ${dir} --watch`)}`,
      );
    });
}
