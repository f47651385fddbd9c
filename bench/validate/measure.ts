/** Validates the folder of the first argument in this process, and prints how long it took and what it took. */
import { readProject } from "../../sdk/config/project-folder/project.ts";
import { hasErrors } from "../../sdk/config/project-folder/finding.ts";

const startedAt = performance.now();
const before = process.cpuUsage();
const project = await readProject(process.argv[2] ?? ".");
const ms = performance.now() - startedAt;
const { user, system } = process.cpuUsage(before);
const rows = "rows" in project ? project.rows.rows : 0;
const rssMiB = process.resourceUsage().maxRSS / 1024;
console.log(
  JSON.stringify({ ok: !hasErrors(project.findings), rows, ms, cpuMs: (user + system) / 1000, rssMiB }),
);
