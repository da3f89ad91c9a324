/**
 * Decides which addresses the download guard may connect to: public unicast ones, plus hosts the operator listed (SPEC M5, setting net.allowPrivateHosts).
 * Invariant: names are judged by every answer DNS gives, and the answers judged are the very ones handed on to connect to, so a name cannot change its
 * mind in between. Connecting is left to guarded-agent, addresses' other rules (scheme, redirects) to guarded-fetch.
 */
import { promises as dns } from "node:dns";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { TransferError } from "../download.ts";
import { ConfigError } from "../errors.ts";

/** One answer of a name lookup. */
export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

/** Resolves a name to all its addresses; rejects when it has none. */
export type LookupAll = (hostname: string) => Promise<readonly HostAddress[]>;

/** The rules of one guard. */
export interface HostRules {
  /** Whether the operator listed this host by name or IP. */
  isListed(hostname: string): boolean;
  /** Throws TransferError `private-address` for localhost and for an IP literal that may not be reached; other names are checked by `resolve`. */
  checkLiteral(hostname: string): void;
  /** All addresses of a name, each checked. Throws TransferError `private-address` or `unknown-host`. */
  resolve(hostname: string): Promise<readonly HostAddress[]>;
}

/** Builds the rules; a listed entry that is not a bare host or IP is a ConfigError. `lookup` defaults to the system's resolver. */
export function createHostRules(allowPrivateHosts: readonly string[], lookup: LookupAll = lookupAll): HostRules {
  const listed = new Set(allowPrivateHosts.map(toListedHost));
  const isListed = (hostname: string) => listed.has(toPlainHost(hostname));
  return {
    isListed,
    checkLiteral(hostname) {
      const host = toPlainHost(hostname);
      if (listed.has(host)) return;
      if (isIP(host) !== 0) throwIfPrivate(host, host);
      // Reserved for the machine itself, whatever a resolver makes of it.
      if (/(^|\.)localhost$/.test(host)) throw refusal(`${hostname} is this machine`);
    },
    async resolve(hostname) {
      const answers = await resolveName(hostname, lookup);
      if (!isListed(hostname)) for (const answer of answers) throwIfPrivate(answer.address, hostname);
      return answers;
    },
  };
}

/** Lower case, without brackets and the trailing dot, IPs in their shortest form: so that two spellings of a host compare equal. */
export function toPlainHost(hostname: string): string {
  const bare = hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
  return isIP(bare) === 0 ? bare : ipaddr.parse(bare).toString();
}

/** Null for a public unicast address, else what it is in words ("a loopback address"). Text that is no IP at all is refused too. */
export function describePrivateAddress(address: string): string | null {
  if (isIP(address) === 0) return "not an IP address";
  const parsed = ipaddr.parse(address);
  const range: string = parsed.range();
  if (range === "unicast") {
    // ipaddr.js calls everything unassigned unicast, ::127.0.0.1 included; only 2000::/3 is given out as public IPv6.
    return parsed.kind() === "ipv4" || parsed.match(ipaddr.parse("2000::"), 3) ? null : "not a public address";
  }
  return RANGE_WORDS.get(range) ?? `a special-purpose address (${range})`;
}

const RANGE_WORDS: ReadonlyMap<string, string> = new Map([
  ["loopback", "a loopback address"],
  ["private", "a private network address"],
  ["uniqueLocal", "a private network address"],
  ["linkLocal", "a link-local address"],
  ["carrierGradeNat", "a carrier-grade NAT address"],
  ["unspecified", "the unspecified address"],
  ["ipv4Mapped", "an IPv4 address in IPv6 clothing"],
  ["rfc6052", "an IPv4 address behind NAT64"],
  ["6to4", "an IPv4 address behind 6to4"],
  ["teredo", "an IPv4 address behind Teredo"],
  ["multicast", "a multicast address"],
]);

function throwIfPrivate(address: string, hostname: string): void {
  const kind = describePrivateAddress(address);
  if (kind === null) return;
  // The resolved address itself stays unsaid: it would tell a model how the internal network is laid out.
  const subject = address === toPlainHost(hostname) ? `${hostname} is` : `${hostname} resolves to`;
  throw refusal(`${subject} ${kind}`);
}

function refusal(finding: string): TransferError {
  return new TransferError(
    "private-address",
    `${finding}; only public hosts may be fetched. Use a public https address (an operator can list an internal host in net.allowPrivateHosts).`,
  );
}

async function resolveName(hostname: string, lookup: LookupAll): Promise<readonly HostAddress[]> {
  const answers = await lookup(hostname).catch((cause: unknown) => {
    throw new TransferError(
      "unknown-host",
      `The host ${hostname} was not found. Check the address for typing errors.`,
      { cause },
    );
  });
  if (answers.length === 0) throw new TransferError("unknown-host", `The host ${hostname} has no address.`);
  return answers;
}

function toListedHost(entry: string): string {
  const host = toPlainHost(entry.trim());
  if (isIP(host) === 0 && !/^[^\s/:@?#[\]]+$/.test(host)) {
    throw new ConfigError(
      `net.allowPrivateHosts: "${entry}" is not a host name or IP address; leave out scheme, port and path.`,
    );
  }
  return host;
}

function lookupAll(hostname: string): Promise<readonly HostAddress[]> {
  return dns.lookup(hostname, { all: true });
}
