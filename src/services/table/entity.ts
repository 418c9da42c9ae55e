// An entity: two keys, a stamp that Timestamp and ETag are made from, and properties in the order they came.
// The rules it must keep, and what an update makes of it.

import { ok, type Result, refuse } from '../../base/result.js';
import type { Stamp } from '../../base/stamps.js';
import type { ErrorCode } from '../common/errors.js';
import { type EdmValue, earliestDateTime, formatDateTime, stampDateTime } from './edm.js';

export type Property = readonly [name: string, value: EdmValue];

export interface EntityKey {
  readonly partitionKey: string;
  readonly rowKey: string;
}

export interface Entity extends EntityKey {
  readonly stamp: Stamp;
  readonly properties: readonly Property[];
}

/** Of a client: not stored yet, so it has no stamp. */
export type EntityInput = Omit<Entity, 'stamp'>;

export const systemProperties: readonly string[] = ['PartitionKey', 'RowKey', 'Timestamp'];

export const limits = {
  keyLength: 1024,
  nameLength: 255,
  /** Beside the three of the system. */
  properties: 252,
  /** 32 K characters of UTF-16. */
  stringLength: 32 * 1024,
  binaryBytes: 64 * 1024,
  entityBytes: 1024 * 1024,
} as const;

/** `/ \ # ?` and the control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
const forbiddenInKeys = /[/\\#?\u0000-\u001f\u007f-\u009f]/;

export function checkKey(key: EntityKey): Result<EntityKey, ErrorCode> {
  for (const text of [key.partitionKey, key.rowKey]) {
    if (text.length > limits.keyLength) return refuse('KeyValueTooLarge');
    if (forbiddenInKeys.test(text)) return refuse('OutOfRangeInput');
  }
  return ok(key);
}

/** An identifier of C#. */
const propertyName = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Pc}\p{Mn}\p{Mc}\p{Cf}]*$/u;

/** All that holds for one entity by itself, as it is to be stored. */
export function checkEntity<E extends EntityInput>(entity: E): Result<E, ErrorCode> {
  const key = checkKey(entity);
  if (!key.ok) return key;
  if (entity.properties.length > limits.properties) return refuse('TooManyProperties');
  for (const [name, value] of entity.properties) {
    const refusal = checkName(name) ?? checkValue(value);
    if (refusal !== undefined) return refuse(refusal);
  }
  return entityBytes(entity) > limits.entityBytes ? refuse('EntityTooLarge') : ok(entity);
}

export function checkName(name: string): ErrorCode | undefined {
  if (name.length > limits.nameLength) return 'PropertyNameTooLong';
  return propertyName.test(name) ? undefined : 'PropertyNameInvalid';
}

function checkValue(value: EdmValue): ErrorCode | undefined {
  switch (value.type) {
    case 'Edm.String':
      return value.value.length > limits.stringLength ? 'PropertyValueTooLarge' : undefined;
    case 'Edm.Binary':
      return value.value.length > limits.binaryBytes ? 'PropertyValueTooLarge' : undefined;
    case 'Edm.DateTime':
      return value.value < earliestDateTime ? 'OutOfRangeInput' : undefined;
    default:
      return undefined;
  }
}

/** As Azure counts what an entity takes. */
export function entityBytes({ partitionKey, rowKey, properties }: EntityInput): number {
  let bytes = 4 + 2 * (partitionKey.length + rowKey.length);
  for (const [name, value] of properties) bytes += 8 + 2 * name.length + valueBytes(value);
  return bytes;
}

function valueBytes(value: EdmValue): number {
  switch (value.type) {
    case 'Edm.String':
      return 4 + 2 * value.value.length;
    case 'Edm.Binary':
      return 4 + value.value.length;
    case 'Edm.Boolean':
      return 1;
    case 'Edm.Int32':
      return 4;
    case 'Edm.Guid':
      return 16;
    default:
      return 8;
  }
}

/**
 * The stored properties with those that were sent put in their places, new ones at the end. A property
 * sent as null is not among them: a merge removes nothing.
 */
export function mergeProperties(stored: readonly Property[], sent: readonly Property[]): readonly Property[] {
  const rest = new Map(sent);
  const merged: Property[] = stored.map(([name, value]) => {
    const other = rest.get(name);
    rest.delete(name);
    return [name, other ?? value];
  });
  return [...merged, ...rest];
}

/** A property by name, those of the system included; nothing if the entity has none of that name. */
export function propertyOf(entity: Entity, name: string): EdmValue | undefined {
  switch (name) {
    case 'PartitionKey':
      return { type: 'Edm.String', value: entity.partitionKey };
    case 'RowKey':
      return { type: 'Edm.String', value: entity.rowKey };
    case 'Timestamp':
      return { type: 'Edm.DateTime', value: stampDateTime(entity.stamp) };
    default:
      return entity.properties.find(([own]) => own === name)?.[1];
  }
}

/** As it is told: `2017-11-10T02:43:36.275498Z`. */
export function timestampOf(stamp: Stamp): string {
  if (stamp !== lastStamp) {
    lastTimestamp = formatDateTime(stampDateTime(stamp));
    lastStamp = stamp;
  }
  return lastTimestamp;
}

/** Asked for twice in a row: for Timestamp and for the ETag. */
let lastStamp: Stamp = Number.NaN;
let lastTimestamp = '';

/** `W/"datetime'2017-11-10T02%3A43%3A36.275498Z'"`. */
export function entityEtag(stamp: Stamp): string {
  return `W/"datetime'${timestampOf(stamp).replaceAll(':', '%3A')}'"`;
}

/** What `If-Match` asks of the entity that is there: any, or one with this ETag. */
export type Match = '*' | Readonly<{ etag: string }>;

/** One ETag in the weak form, or a star. */
export function parseMatch(text: string): Result<Match, ErrorCode> {
  const trimmed = text.trim();
  if (trimmed === '*') return ok('*');
  return /^W\/"[^"]*"$/.test(trimmed) ? ok({ etag: trimmed }) : refuse('InvalidInput');
}

export function matchesStamp(match: Match, stamp: Stamp): boolean {
  if (match === '*') return true;
  return match.etag.replaceAll(/:|%3a/g, '%3A') === entityEtag(stamp);
}
