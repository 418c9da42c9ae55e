// What clients saw: one record for each call, with the interval in which the server must have acted.
//
// Times are of the machine's monotonic clock, which all processes share. A call whose outcome is unknown (the
// connection broke, the server answered 5xx) has no end: it may have been done at any later moment, or never. A call
// that certainly never reached the server is not recorded.

export interface Recorded<Call = unknown, Result = unknown> {
  /** Process and thread: calls of one client do not overlap. */
  readonly client: string;
  /** What it was done to: `leased 0`. Each object is judged by itself. */
  readonly object: string;
  readonly call: Call;
  /** Nothing: unknown. */
  readonly result?: Result;
  readonly startMs: number;
  /** Infinity: unknown. In a file, which cannot say that, it is left out. */
  readonly endMs: number;
  /** What the wire said, for who reads a history: a status and a code, or how the connection ended. */
  readonly wire: string;
}

/**
 * On the wire of a record that is written before its call is made, by a client that may be killed. The call's own
 * record follows, unless it was never sent or the client died.
 */
export const begun = 'begun';

/** Without the records of calls that were only begun, but for those that a client died in. */
export function settledLines(records: readonly Recorded[]): Recorded[] {
  const last = new Map(records.map((record) => [record.client, record]));
  return records.filter((record) => record.wire !== begun || last.get(record.client) === record);
}

export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export function isUnknown(record: Recorded): boolean {
  return record.result === undefined;
}

export function writeLine(record: Recorded): string {
  const { endMs, ...rest } = record;
  return JSON.stringify(Number.isFinite(endMs) ? record : rest);
}

export function readLines(text: string): Recorded[] {
  return text
    .split('\n')
    .filter((line) => line.endsWith('}')) // a client that was killed may leave half a line
    .map((line) => ({ endMs: Number.POSITIVE_INFINITY, ...JSON.parse(line) }) as Recorded);
}

export function byObject(records: readonly Recorded[]): Map<string, Recorded[]> {
  const objects = new Map<string, Recorded[]>();
  for (const record of records) {
    const list = objects.get(record.object);
    if (list) list.push(record);
    else objects.set(record.object, [record]);
  }
  return objects;
}
