// What an admin call was sent: JSON from outside, looked at member by member.

import { UsageError } from '../command-line.js';

export type Body = Readonly<Record<string, unknown>>;

/** A text that must be there. */
export function text(body: Body, name: string): string {
  const value = body[name];
  if (typeof value !== 'string' || value === '') throw new UsageError(`${name} is missing`);
  return value;
}
