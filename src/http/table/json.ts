// Entities and tables as the service tells them, in JSON of OData 3. What belongs to which level:
//
//                           none   minimal   full
//   odata.metadata           -       yes      yes     once, at the beginning
//   odata.type, id, editLink -        -       yes
//   odata.etag               -       yes      yes
//   Name@odata.type          -       yes      yes     before its property, where the value does not tell
//   Timestamp@odata.type     -        -       yes
//
// Texts are put together by hand: it is the inner loop of every query.

import { buffer } from '../../base/bytes.js';
import { type EdmValue, formatDateTime } from '../../services/table/edm.js';
import {
  type Entity,
  entityEtag,
  propertyOf,
  systemProperties,
  timestampOf,
} from '../../services/table/entity.js';
import type { MetadataLevel } from '../odata.js';
import { entityPath } from './keys.js';

/** Where links begin, and how much a client wants to see of them. */
export interface JsonContext {
  /** `http://host/account`, no slash at the end. */
  readonly endpoint: string;
  readonly account: string;
  readonly level: MetadataLevel;
  /** `$select` as it was sent; nothing: everything, and nothing is said of it. */
  readonly select?: string | undefined;
}

/** One entity by itself. */
export function entityJson(entity: Entity, table: string, context: JsonContext): string {
  const names = selected(context.select);
  const metadata = metadataMember(`${table}/@Element`, context);
  return `{${metadata}${entityMembers(entity, table, names, context)}}`;
}

export function entitiesJson(entities: readonly Entity[], table: string, context: JsonContext): string {
  const names = selected(context.select);
  const objects = entities.map((entity) => `{${entityMembers(entity, table, names, context)}}`);
  return `{${metadataMember(table, context)}"value":[${objects.join(',')}]}`;
}

export function tableJson(name: string, context: JsonContext): string {
  return `{${metadataMember('Tables/@Element', context)}${tableMembers(name, context)}}`;
}

export function tablesJson(names: readonly string[], context: JsonContext): string {
  const objects = names.map((name) => `{${tableMembers(name, context)}}`);
  return `{${metadataMember('Tables', context)}"value":[${objects.join(',')}]}`;
}

/** The names of `$select`; nothing: all. */
function selected(select: string | undefined): readonly string[] | undefined {
  const names = (select ?? '').split(',').map((name) => name.trim());
  const given = names.filter((name) => name !== '');
  return given.length === 0 || given.includes('*') ? undefined : [...new Set(given)];
}

function metadataMember(path: string, { level, endpoint, select }: JsonContext): string {
  if (level === 'nometadata') return '';
  const of = select === undefined ? '' : `&$select=${select}`;
  return `"odata.metadata":${JSON.stringify(`${endpoint}/$metadata#${path}${of}`)},`;
}

function linkMembers(type: string, path: string, etag: string | undefined, context: JsonContext): string {
  const { level, endpoint, account } = context;
  if (level === 'nometadata') return '';
  const etagMember = etag === undefined ? '' : `"odata.etag":${JSON.stringify(etag)},`;
  if (level === 'minimalmetadata') return etagMember;
  return (
    `"odata.type":${JSON.stringify(`${account}.${type}`)},` +
    `"odata.id":${JSON.stringify(`${endpoint}/${path}`)},` +
    `${etagMember}"odata.editLink":${JSON.stringify(path)},`
  );
}

function tableMembers(name: string, context: JsonContext): string {
  return `${linkMembers('Tables', `Tables('${name}')`, undefined, context)}"TableName":${JSON.stringify(name)}`;
}

function entityMembers(
  entity: Entity,
  table: string,
  names: readonly string[] | undefined,
  context: JsonContext,
): string {
  const full = context.level === 'fullmetadata';
  const path = full ? entityPath(table, entity) : '';
  const links =
    context.level === 'nometadata' ? '' : linkMembers(table, path, entityEtag(entity.stamp), context);
  const members =
    names === undefined ? allMembers(entity, context.level) : chosenMembers(entity, names, context.level);
  return links + members;
}

function allMembers(entity: Entity, level: MetadataLevel): string {
  const { partitionKey, rowKey, stamp, properties } = entity;
  let text = `"PartitionKey":${JSON.stringify(partitionKey)},"RowKey":${JSON.stringify(rowKey)},`;
  text += `${timestampType(level)}"Timestamp":"${timestampOf(stamp)}"`;
  for (const [name, value] of properties) text += `,${member(name, value, level)}`;
  return text;
}

/** Those of the system first; a property the entity lacks is null. */
function chosenMembers(entity: Entity, names: readonly string[], level: MetadataLevel): string {
  const system = systemProperties.filter((name) => names.includes(name));
  const ordered = [...system, ...names.filter((name) => !system.includes(name))];
  return ordered.map((name) => chosenMember(entity, name, level)).join(',');
}

function chosenMember(entity: Entity, name: string, level: MetadataLevel): string {
  if (name === 'Timestamp') return `${timestampType(level)}"Timestamp":"${timestampOf(entity.stamp)}"`;
  const value = propertyOf(entity, name);
  return value === undefined ? `${JSON.stringify(name)}:null` : member(name, value, level);
}

function timestampType(level: MetadataLevel): string {
  return level === 'fullmetadata' ? '"Timestamp@odata.type":"Edm.DateTime",' : '';
}

/** The name of a stored property is an identifier: nothing in it is to be escaped. */
function member(name: string, value: EdmValue, level: MetadataLevel): string {
  const text = `"${name}":${valueText(value)}`;
  if (level === 'nometadata' || tells(value)) return text;
  return `"${name}@odata.type":"${value.type}",${text}`;
}

/** Whether the value by itself tells its type. */
function tells(value: EdmValue): boolean {
  switch (value.type) {
    case 'Edm.String':
    case 'Edm.Boolean':
    case 'Edm.Int32':
      return true;
    case 'Edm.Double':
      return Number.isFinite(value.value);
    default:
      return false;
  }
}

function valueText(value: EdmValue): string {
  switch (value.type) {
    case 'Edm.Boolean':
    case 'Edm.Int32':
      return String(value.value);
    case 'Edm.Double':
      return doubleText(value.value);
    case 'Edm.Int64':
      return `"${value.value}"`;
    case 'Edm.DateTime':
      return `"${formatDateTime(value.value)}"`;
    case 'Edm.Binary':
      return `"${buffer(value.value).toString('base64')}"`;
    case 'Edm.Guid':
      return `"${value.value}"`;
    case 'Edm.String':
      return JSON.stringify(value.value);
  }
}

/** With its point, else it would come back as an Int32. */
function doubleText(value: number): string {
  if (!Number.isFinite(value)) return `"${value}"`;
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}
