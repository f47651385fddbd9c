import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { IsolateHandle } from "../../../../functions/ports/isolates.ts";
import { echo, openLambda, type OpenLambda } from "../../aws/lambda-isolates/open-lambda.ts";

vi.setConfig({ testTimeout: 20_000 });

/** Ways out of the process, each as code; what it gives, or why it was refused, comes back as text. */
const DOORS = {
  reads: `fs.readFileSync("/etc/passwd")`,
  writes: `fs.writeFileSync("/tmp/spotter-was-here", "x")`,
  looks: `fs.existsSync("/etc/passwd")`,
  lists: `fs.promises.readdir("/")`,
  starts: `child_process.spawnSync("id").error ?? child_process.execSync("id")`,
  threads: `new worker_threads.Worker("process.exit()", { eval: true })`,
  debugs: `inspector.open(0)`,
  kills: `process.kill(process.ppid)`,
  killsUnderneath: `process._kill(process.ppid, 9)`,
  reports: `process.report.writeReport("/tmp/spotter-was-here.json")`,
  traces: `trace_events.createTracing({ categories: ["node"] }).enable()`,
  binds: `process.binding("tcp_wrap")`,
  replaces: `process.execve(process.execPath, [])`,
  compiles: `vm.runInThisContext("1")`,
  evaluates: `(0, eval)("1")`,
  flags: `v8.setFlagsFromString("--allow-natives-syntax")`,
  imports: `import("data:text/javascript,export default 1")`,
  opensDatabases: `new (process.getBuiltinModule("node:sqlite").DatabaseSync)("/tmp/spotter-was-here.db")`,
  importsDatabases: `import("node:sqlite").then(({ DatabaseSync }) => new DatabaseSync("/tmp/spotter-was-here.db"))`,
  resolves: `dns.promises.resolve("example.com")`,
  looksUp: `new Promise((done, fail) => dns.lookup("localhost", (error) => error ? fail(error) : done()))`,
  resolver: `new dns.promises.Resolver().resolve4("example.com")`,
  datagrams: `dgram.createSocket("udp4").send("x", PORT, "127.0.0.1")`,
  listens: `http.createServer().listen(0)`,
  connects: `connected(net.connect(PORT, "127.0.0.1"))`,
  connectsByOptions: `connected(new net.Socket().connect({ port: PORT, host: "127.0.0.1" }))`,
  connectsToFile: `connected(net.connect("/var/run/docker.sock"))`,
  asks: `connected(http.get("http://127.0.0.1:" + PORT))`,
  asksSafely: `connected(https.get("https://127.0.0.1:" + PORT))`,
  asksByHttp2: `new Promise((done, fail) => {
    const session = http2.connect("http://127.0.0.1:" + PORT).on("error", fail);
    session.request().on("response", () => done("reached")).on("error", fail);
  })`,
  socket: `new Promise((done, fail) => {
    const socket = new WebSocket("ws://127.0.0.1:" + PORT);
    socket.onopen = done;
    // It tells no reason; that nobody was connected is seen at the server.
    socket.onerror = () => fail(new Error("refused"));
  })`,
};

const REFUSED = /restricted|refused|disabled|disallowed|no module|ERR_ACCESS_DENIED/i;

const MODULES =
  "child_process dgram dns fs http http2 https inspector net trace_events v8 vm worker_threads".split(" ");

let opened: OpenLambda;
let port = 0;
let connections = 0;
const server = createServer((_, response) => response.end("reached"));
server.on("connection", () => (connections += 1));

beforeAll(async () => {
  opened = await openLambda();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  await opened.close();
  server.close();
});

/** Code that tries the door that a row names. */
function load(allowHosts?: string[]): Promise<IsolateHandle> {
  const bundle = echo(`tried(doors[row])`);
  const doors = Object.entries(DOORS).map(([name, code]) => `${name}: () => ${code}`);
  const code = `${MODULES.map((name) => `import * as ${name} from "node:${name}";`).join("\n")}
    const PORT = ${port};
    const connected = (socket) => new Promise((done, fail) => {
      for (const event of ["connect", "response", "secureConnect"]) socket.on(event, () => done("reached"));
      socket.on("error", fail);
    });
    const tried = async (door) => {
      try { return "gave " + (await door()); }
      catch (error) { return String(error.message ?? error); }
    };
    const doors = {
      ${doors.join(",\n")},
      byName: () => fetch("http://localhost:" + PORT).then((response) => response.text()),
      byOtherName: () => connected(net.connect(PORT, "localhost")),
    };
    ${Buffer.from(bundle.code).toString()}`;
  return opened.open().load({ ...bundle, code: Buffer.from(code), ...(allowHosts && { allowHosts }) });
}

it("refuses every door of Node, with a reason", async () => {
  const handle = await load();
  const names = Object.keys(DOORS);
  const results = await handle.call("echo", names, { timeoutMs: 10_000 });
  for (const [index, each] of results.entries()) {
    const text = "value" in each ? String(each.value) : each.error.code;
    const expected = names[index] === "looks" ? /^gave false$/ : REFUSED;
    expect(text, names[index]).toMatch(expected);
  }
  expect(readdirSync("/tmp").filter((name) => name.startsWith("spotter-was-here"))).toEqual([]);
  expect(connections).toBe(0);
});

it("lets Node's own modules reach a listed name, and no other port of it", async () => {
  const handle = await load([`localhost:${port}`]);
  const doors = ["byName", "byOtherName", "connects", "resolves", "datagrams"];
  const results = await handle.call("echo", doors, { timeoutMs: 10_000 });
  expect(results).toEqual([
    { value: "gave reached" },
    { value: "gave reached" },
    { value: `127.0.0.1:${port} is not an allowed host` },
    { value: "only requests to allowed hosts" },
    { value: "only requests to allowed hosts" },
  ]);
});
