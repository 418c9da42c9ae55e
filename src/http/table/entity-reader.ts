// An entity as a client sends it, in JSON: a member for each property, and `Name@odata.type` beside those
// whose type the value does not tell.
//
//   without annotation   a text, true and false are what they are; a whole number is an Int32, one with a
//                        point or an exponent a Double, and so is one too large for Int32, as the service has it
//   null                 as if it had not been sent
//   Timestamp, odata.*   ignored

import { ok, type Result, refuse } from '../../base/result.js';
import type { ErrorCode } from '../../services/common/errors.js';
import {
  type EdmType,
  type EdmValue,
  parseBase64,
  parseDateTime,
  parseDouble,
  parseGuid,
  parseInt32,
  parseInt64,
} from '../../services/table/edm.js';
import type { EntityInput, EntityKey, Property } from '../../services/table/entity.js';
import { type Member, parseFlatJson, type Scalar } from './flat-json.js';

/** The body of an insert: the keys are in it. */
export function readInsert(body: Buffer): Result<EntityInput, ErrorCode> {
  const read = readMembers(body);
  if (!read.ok) return read;
  const { partitionKey, rowKey, properties } = read.value;
  if (partitionKey === undefined || rowKey === undefined) return refuse('PropertiesNeedValue');
  return ok({ partitionKey, rowKey, properties });
}

/** The body of an update, whose keys are in the URL: in the body they may be left out, or are the same. */
export function readUpdate(body: Buffer, key: EntityKey): Result<EntityInput, ErrorCode> {
  const read = readMembers(body);
  if (!read.ok) return read;
  const { partitionKey = key.partitionKey, rowKey = key.rowKey, properties } = read.value;
  if (partitionKey !== key.partitionKey || rowKey !== key.rowKey) return refuse('InvalidInput');
  return ok({ partitionKey, rowKey, properties });
}

/** The body of Create Table. */
export function readTableName(body: Buffer): Result<string, ErrorCode> {
  const members = parseFlatJson(body);
  if (!members.ok) return members;
  const names = members.value.filter(([name]) => name === 'TableName');
  if (names.length > 1) return refuse('DuplicatePropertiesSpecified');
  const name = names[0]?.[1] ?? null;
  if (name === null) return refuse('PropertiesNeedValue');
  return typeof name === 'string' ? ok(name) : refuse('InvalidInput');
}

interface EntityBody {
  readonly partitionKey: string | undefined;
  readonly rowKey: string | undefined;
  readonly properties: readonly Property[];
}

const annotation = '@odata.type';

function readMembers(body: Buffer): Result<EntityBody, ErrorCode> {
  const members = parseFlatJson(body);
  if (!members.ok) return members;
  const values = new Map<string, Scalar>();
  const types = new Map<string, Scalar>();
  for (const [name, value] of members.value) {
    if (name.startsWith('odata.')) continue;
    const at = name.indexOf('@');
    const isType = at >= 0 && name.endsWith(annotation);
    if (at >= 0 && !isType && name.includes('@odata.')) continue;
    const place = isType ? types : values;
    const key = isType ? name.slice(0, -annotation.length) : name;
    if (place.has(key)) return refuse('DuplicatePropertiesSpecified');
    place.set(key, value);
  }
  return collect(values, types);
}

function collect(
  values: ReadonlyMap<string, Scalar>,
  types: ReadonlyMap<string, Scalar>,
): Result<EntityBody, ErrorCode> {
  const keys: { PartitionKey?: string; RowKey?: string } = {};
  const properties: Property[] = [];
  for (const [name, scalar] of values) {
    if (name === 'Timestamp') continue;
    const read = readValue(scalar, types.get(name));
    if (read === undefined) return refuse('InvalidInput');
    if (read === null) continue;
    if (name !== 'PartitionKey' && name !== 'RowKey') properties.push([name, read]);
    else if (read.type === 'Edm.String') keys[name] = read.value;
    else return refuse('InvalidInput');
  }
  return ok({ partitionKey: keys.PartitionKey, rowKey: keys.RowKey, properties });
}

/** Nothing if it is no value of its type; null if it is none at all. */
function readValue(scalar: Scalar, type: Member[1] | undefined): EdmValue | null | undefined {
  if (type !== undefined && (typeof type !== 'string' || !Object.hasOwn(readers, type))) return undefined;
  if (scalar === null) return null;
  return type === undefined ? untyped(scalar) : tagged(type as EdmType, readers[type as EdmType](scalar));
}

function untyped(scalar: Exclude<Scalar, null>): EdmValue | undefined {
  if (typeof scalar === 'string') return { type: 'Edm.String', value: scalar };
  if (typeof scalar === 'boolean') return { type: 'Edm.Boolean', value: scalar };
  const int32 = parseInt32(scalar.number);
  return int32 === undefined ? tagged('Edm.Double', double(scalar)) : { type: 'Edm.Int32', value: int32 };
}

function tagged(type: EdmType, value: EdmValue['value'] | undefined): EdmValue | undefined {
  return value === undefined ? undefined : ({ type, value } as EdmValue);
}

type ScalarReader = (scalar: Exclude<Scalar, null>) => EdmValue['value'] | undefined;

/** A text, of a text alone. */
const ofText =
  (parse: (text: string) => EdmValue['value'] | undefined): ScalarReader =>
  (scalar) =>
    typeof scalar === 'string' ? parse(scalar) : undefined;

/** A number or a text: clients write either where the type is beside it. */
const ofNumber =
  (parse: (text: string) => EdmValue['value'] | undefined): ScalarReader =>
  (scalar) => {
    if (typeof scalar === 'boolean') return undefined;
    return parse(typeof scalar === 'string' ? scalar : scalar.number);
  };

/** A number of JSON that overflows is refused; the infinities are written as texts. */
const double: ScalarReader = (scalar) => {
  const value = ofNumber(parseDouble)(scalar);
  return typeof scalar === 'object' && !Number.isFinite(value) ? undefined : value;
};

const boolean: ScalarReader = (scalar) => {
  const text = typeof scalar === 'object' ? '' : String(scalar).toLowerCase();
  return text === 'true' || (text === 'false' ? false : undefined);
};

const readers = {
  'Edm.String': ofText((text) => text),
  'Edm.Boolean': boolean,
  'Edm.Int32': ofNumber(parseInt32),
  'Edm.Int64': ofNumber(parseInt64),
  'Edm.Double': double,
  'Edm.DateTime': ofText(parseDateTime),
  'Edm.Guid': ofText(parseGuid),
  'Edm.Binary': ofText(parseBase64),
} as const satisfies Record<EdmType, ScalarReader>;
