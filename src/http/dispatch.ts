// From a call to the row of its operation.
//
// The table is taken apart once, at start: path, method, then `restype` and `comp`. What is left is a
// short list of rows that differ by a header or another query parameter; the first that fits is taken. A
// row that is younger than the request's version is not there.

import { assert } from '../base/assert.js';
import { invalidParameter, StorageError } from '../services/common/errors.js';
import type { Call } from './call.js';
import type { AccountLetters, Letters, Method, Operation, ResourceType, Row } from './operation.js';

export class Dispatcher<Service> {
  readonly operations: readonly Operation<Service>[];
  readonly #index = new Map<string, Map<string, Map<string, Operation<Service>[]>>>();

  constructor(rows: readonly Row<Service>[]) {
    this.operations = rows.map(takeApart);
    for (const operation of this.operations) this.#add(operation);
  }

  #add(operation: Operation<Service>): void {
    const { restype, comp } = selectors(new Map(operation.query.map(([name, value]) => [name, value ?? ''])));
    const byMethod = entry(
      this.#index,
      operation.resource,
      () => new Map<string, Map<string, Operation<Service>[]>>(),
    );
    for (const method of operation.methods) {
      const bySelector = entry(byMethod, method, () => new Map<string, Operation<Service>[]>());
      const list = entry(bySelector, selectorKey(restype, comp), (): Operation<Service>[] => []);
      const hidden = list.find(
        (row) => row.since === '' && row.telling.length === 0 && row.extra.length === 0,
      );
      assert(
        hidden === undefined,
        `'${operation.name}' is never reached: '${hidden?.name}' stands before it`,
      );
      list.push(operation);
    }
  }

  /** 405 `UnsupportedHttpVerb`, of a table `MethodNotAllowed`, or 400 `InvalidQueryParameterValue` if no row fits. */
  find(call: Call): Operation<Service> {
    const { restype, comp } = selectors(call.query);
    const key = selectorKey(restype, comp);
    const byMethod = this.#index.get(call.resource);
    const rows = byMethod?.get(call.method)?.get(key);
    if (rows !== undefined) {
      for (const row of rows) if (fits(row, call)) return row;
    }
    throw this.#refusal(call, restype, comp);
  }

  #refusal(call: Call, restype: string, comp: string): StorageError {
    const byMethod = this.#index.get(call.resource);
    const key = selectorKey(restype, comp);
    const otherMethod = [...(byMethod ?? [])].some(
      ([method, selected]) =>
        method !== call.method && selected.get(key)?.some((row) => row.since <= call.version),
    );
    if (otherMethod || byMethod?.get(call.method) === undefined)
      return new StorageError(call.service === 'table' ? 'MethodNotAllowed' : 'UnsupportedHttpVerb');
    // The one that is wrong: `comp` where some operation here has this `restype`, else `restype`.
    const knowsType = this.operations.some(
      (row) =>
        row.resource === call.resource &&
        (row.query.find(([name]) => name === 'restype')?.[1] ?? '') === restype,
    );
    const wrong = knowsType ? 'comp' : 'restype';
    return invalidParameter(wrong, call.query.get(wrong) ?? '');
  }
}

function selectors(query: ReadonlyMap<string, string>): { restype: string; comp: string } {
  return { restype: query.get('restype')?.toLowerCase() ?? '', comp: query.get('comp')?.toLowerCase() ?? '' };
}

function selectorKey(restype: string, comp: string): string {
  return restype === '' ? comp : `${restype}&${comp}`;
}

function fits(row: Operation<never>, call: Call): boolean {
  if (row.since > call.version) return false;
  for (const [name, value] of row.extra) {
    const sent = call.query.get(name);
    if (sent === undefined || (value !== undefined && sent.toLowerCase() !== value)) return false;
  }
  for (const [name, value] of row.telling) {
    const sent = call.header(name);
    if (sent === undefined || (value !== undefined && sent.toLowerCase() !== value)) return false;
  }
  return true;
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

/** A row of a table, checked and taken apart. */
export function takeApart<Service>(row: Row<Service>): Operation<Service> {
  const [name, request, telling, since, access, guards, on, handler] = row;
  const [verbs = '', target = ''] = request.split(' ');
  const [resource = '', rawQuery = ''] = target.split('?');
  const query = pairs(rawQuery, '&', '=');
  const [account, service, role, anonymous] = access;
  const [conditions, lease] = guards;
  assert(/^[MNIUT]*$/.test(conditions), `'${name}' takes conditions '${conditions}'`);
  assert(since === '' || /^\d{4}-\d\d-\d\d$/.test(since), `'${name}' is since '${since}'`);
  return {
    name,
    request,
    methods: verbs.split('|') as Method[],
    resource,
    query,
    extra: query.filter(([key]) => key !== 'restype' && key !== 'comp'),
    telling: pairs(telling, '&', ':'),
    since,
    accountSas: accountLetters(name, account),
    serviceSas: letters(name, service),
    roles: role === 'never' ? [] : role.split('|'),
    anonymous,
    conditions,
    lease,
    on,
    handler,
  };
}

/** Names and values in lower case; a bare name has no value. */
function pairs(text: string, between: string, inside: string): (readonly [string, string | undefined])[] {
  if (text.trim() === '') return [];
  return text.split(between).map((part) => {
    const [name = '', value] = part.split(inside).map((side) => side.trim().toLowerCase());
    return [name, value] as const;
  });
}

function accountLetters(name: string, text: string): AccountLetters | undefined {
  if (text === 'never') return undefined;
  if (text === 'any') return { types: undefined, need: 'none', letters: '' };
  const [, types, rest = ''] = /^([sco]+):(.*)$/.exec(text) ?? [];
  assert(types !== undefined, `'${name}' has account SAS '${text}'`);
  const right = letters(name, rest);
  return right && { types: [...types] as ResourceType[], ...right };
}

function letters(name: string, text: string): Letters | undefined {
  if (text === 'never') return undefined;
  if (text === 'any') return { need: 'none', letters: '' };
  assert(/^[a-z](\+?[a-z])*$/.test(text), `'${name}' has SAS letters '${text}'`);
  return { need: text.includes('+') ? 'all' : 'one', letters: text.replaceAll('+', '') };
}
