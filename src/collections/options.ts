// How a state manager can be set up. What the original has settings for and has no meaning here, its log and
// its checkpoints, is told in docs/collections.md.

import { maxChangeBytes, maxValueBytes } from '../engine/engine.js';
import { ArgumentError, ArgumentOutOfRangeError } from './errors.js';

export interface Settings {
  /** How long a call waits for its locks unless it says otherwise; 4 s unless given, Infinity: for ever. */
  readonly timeoutMs: number;
  /** A transaction older than this is ended by the system; none unless given. */
  readonly maxTransactionAgeMs: number;
  /** One value, or item of a queue, as bytes; 16 MiB unless given, which is also the most there can be. */
  readonly maxValueBytes: number;
  /** All that one transaction writes; 64 MiB unless given, which is also the most there can be. */
  readonly maxTransactionBytes: number;
  /** A listener that takes longer than this is reported: others wait for it. 1 s unless given. */
  readonly slowListenerMs: number;
  /** Whether values handed out are frozen, so that changing one by mistake throws; unless NODE_ENV is production. */
  readonly freeze: boolean;
  /** Whether transactions that wait for each other in a circle are found at once; otherwise a time-out ends it. */
  readonly detectDeadlocks: boolean;
}

/** What stands before the codec's bytes in a row, at most. */
const rowHeadBytes = 16;

const defaults: Settings = {
  timeoutMs: 4_000,
  maxTransactionAgeMs: Number.POSITIVE_INFINITY,
  maxValueBytes: maxValueBytes - rowHeadBytes,
  maxTransactionBytes: maxChangeBytes,
  slowListenerMs: 1_000,
  freeze: process.env['NODE_ENV'] !== 'production',
  detectDeadlocks: true,
};

/** The least and the most of each number. */
const limits = {
  timeoutMs: [0, Number.POSITIVE_INFINITY],
  maxTransactionAgeMs: [1, Number.POSITIVE_INFINITY],
  maxValueBytes: [1, defaults.maxValueBytes],
  maxTransactionBytes: [1, defaults.maxTransactionBytes],
  slowListenerMs: [0, Number.POSITIVE_INFINITY],
} as const;

/** With what was not given; anything out of its limits is refused. */
export function settingsOf(given: Partial<Settings>): Settings {
  const settings: { -readonly [Name in keyof Settings]: Settings[Name] } = { ...defaults };
  for (const name of Object.keys(limits) as (keyof typeof limits)[]) {
    const value = given[name];
    if (value === undefined) continue;
    const [least, most] = limits[name];
    checkNumber(name, value, least, most);
    settings[name] = value;
  }
  for (const name of ['freeze', 'detectDeadlocks'] as const) {
    const value = given[name];
    if (value === undefined) continue;
    if (typeof value !== 'boolean') throw new ArgumentError(`${name} is true or false, not ${String(value)}`);
    settings[name] = value;
  }
  return settings;
}

export function checkFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw new ArgumentError(`${name} is a function, not ${String(value)}`);
}

export function checkNumber(name: string, value: unknown, least: number, most: number): void {
  if (typeof value !== 'number' || Number.isNaN(value)) {
    throw new ArgumentError(`${name} is a number, not ${String(value)}`);
  }
  if (value < least || value > most) {
    throw new ArgumentOutOfRangeError(`${name} is from ${least} to ${most}, but is ${value}`);
  }
}
