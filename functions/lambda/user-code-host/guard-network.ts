import dgram from "node:dgram";
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import net, { isIPv6 } from "node:net";
import { allowedHosts, type AllowedHosts } from "./allowed-hosts.ts";
import { guardedFetch } from "./guarded-fetch.ts";

/**
 * Lets user code reach listed hosts only. Unlike workerd's, this is a guard within the same process: it holds
 * against all of Node's own modules, not against code that reaches into Node's internals. Where that matters the
 * functions run in subnets that lead nowhere.
 */
export function guardNetwork(allowHosts: readonly string[]): void {
  const hosts = allowedHosts(allowHosts);
  const reason = allowHosts.length === 0 ? "network access is disabled" : "only requests to allowed hosts";
  const { lookup } = dns;
  guardSockets(hosts, lookup);
  globalThis.fetch = guardedFetch(hosts, globalThis.fetch);
  const closed = function refused(): never {
    throw refusal(reason);
  };
  const rejected = () => Promise.reject(refusal(reason));
  close(net.Server.prototype, ["listen"], closed);
  close(dgram.Socket.prototype, ["bind", "connect", "send", "addMembership"], closed);
  close(dns, functionsOf(dns, /^(lookup|resolve|reverse)/), closed);
  close(dns.Resolver.prototype, functionsOf(dns.Resolver.prototype, /^(resolve|reverse)/), closed);
  close(dns.promises, functionsOf(dns.promises, /^(lookup|resolve|reverse)/), rejected);
  const promised = dns.promises.Resolver.prototype;
  close(promised, functionsOf(promised, /^(resolve|reverse)/), rejected);
  syncBuiltinESMExports();
}

interface ConnectOptions {
  host?: string;
  port?: number | string;
  path?: string;
  lookup?: typeof dns.lookup;
}

/** Every TCP connection of Node goes through this one method: http, https, http2, tls, fetch and WebSocket. */
function guardSockets(hosts: AllowedHosts, lookup: typeof dns.lookup): void {
  const prototype = net.Socket.prototype as { connect: (...values: unknown[]) => net.Socket };
  const { connect } = prototype;
  prototype.connect = function guarded(this: net.Socket, ...values: unknown[]) {
    const options = optionsOf(values);
    const why = options.path === undefined ? refusalOf(hosts, options) : "network access is disabled";
    if (why !== undefined) {
      process.nextTick(() => this.destroy(refusal(why)));
      return this;
    }
    options.lookup = guardedLookup(hosts, lookup);
    const rest =
      Array.isArray(values[0]) || typeof values[0] === "object" ? values : [options, values.at(-1)];
    return connect.apply(this, rest);
  };
}

/** (port, host), (path), (options), or [options, listener] as Node itself passes them. */
function optionsOf([first, second]: unknown[]): ConnectOptions {
  if (Array.isArray(first)) return first[0] as ConnectOptions;
  if (typeof first === "object" && first !== null) return first;
  if (typeof first === "string" && Number.isNaN(Number(first))) return { path: first };
  return { port: Number(first), host: typeof second === "string" ? second : "localhost" };
}

function refusalOf(hosts: AllowedHosts, { host = "localhost", port }: ConnectOptions): string | undefined {
  const name = isIPv6(host) ? `[${host}]` : host;
  return hosts.refusal(`${name}:${port}`, name);
}

function guardedLookup(hosts: AllowedHosts, lookup: typeof dns.lookup): typeof dns.lookup {
  const guarded = (
    hostname: string,
    options: dns.LookupOptions,
    callback: (error: Error | null, address?: unknown, family?: number) => void,
  ) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error);
      const usable = addresses.filter(({ address }) => hosts.mayUse(hostname, address));
      const [first] = usable;
      if (!first) return callback(refusal(`${hostname} leads to a private address`));
      if (options.all === true) return callback(null, usable);
      callback(null, first.address, first.family);
    });
  };
  return guarded as typeof dns.lookup;
}

function close(target: object, names: readonly string[], replacement: unknown): void {
  for (const name of names) (target as Record<string, unknown>)[name] = replacement;
}

function functionsOf(target: object, pattern: RegExp): string[] {
  return Object.getOwnPropertyNames(target).filter((name) => pattern.test(name));
}

function refusal(message: string): Error {
  return Object.assign(new Error(message), { code: "ERR_ACCESS_DENIED" });
}
