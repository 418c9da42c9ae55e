// The addresses a SAS may be used from (`sip`): one address, or two with a hyphen between, both included.
// IPv4 and IPv6; an IPv4 address is the same as its `::ffff:` form, which is how a socket that listens on
// both gives it.

import { isIPv4, isIPv6 } from 'node:net';

/** Both ends as 32 hexadecimal digits, which compare as the addresses do. */
export type IpRange = Readonly<{ from: string; to: string }>;

/** Nothing if the text is no range. */
export function parseIpRange(text: string): IpRange | undefined {
  const [first = '', second = first, ...more] = text.split('-');
  const [from, to] = [digits(first), digits(second)];
  if (from === undefined || to === undefined || more.length > 0 || from > to) return undefined;
  return { from, to };
}

/** Whether a socket's peer lies in the range. */
export function inRange(range: IpRange, address: string): boolean {
  const at = digits(address);
  return at !== undefined && range.from <= at && at <= range.to;
}

function digits(address: string): string | undefined {
  if (isIPv4(address)) return `${'0'.repeat(20)}ffff${ofIPv4(address)}`;
  const plain = address.split('%', 1)[0] ?? ''; // a zone, as in fe80::1%eth0, belongs to the machine
  if (!isIPv6(plain)) return undefined;
  const lastColon = plain.lastIndexOf(':') + 1;
  const tail = plain.slice(lastColon);
  const [head = '', rest] = (
    tail.includes('.') ? plain.slice(0, lastColon) + groupsOfIPv4(tail) : plain
  ).split('::');
  const [left, right] = [groups(head), groups(rest ?? '')];
  if (rest === undefined) return left.join('');
  return [...left, ...new Array(8 - left.length - right.length).fill('0000'), ...right].join('');
}

function groups(text: string): string[] {
  return text === '' ? [] : text.split(':').map((group) => group.toLowerCase().padStart(4, '0'));
}

function ofIPv4(address: string): string {
  return address
    .split('.')
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('');
}

function groupsOfIPv4(address: string): string {
  const hex = ofIPv4(address);
  return `${hex.slice(0, 4)}:${hex.slice(4)}`;
}
