// How the store keeps an entity: one list, the stamp and then name, type and value of each property. The
// keys are in the row's own key.

import { DamageError } from '../../base/errors.js';
import { type Codec, defaultCodec } from '../../collections/codec.js';
import type { EdmValue } from './edm.js';
import type { Entity, Property } from './entity.js';

export type EntityRecord = Pick<Entity, 'stamp' | 'properties'>;

/** On disk: a letter never changes its meaning. */
const letters = {
  'Edm.String': 's',
  'Edm.Boolean': 'b',
  'Edm.Int32': 'i',
  'Edm.Int64': 'l',
  'Edm.Double': 'd',
  'Edm.DateTime': 't',
  'Edm.Guid': 'g',
  'Edm.Binary': 'x',
} as const satisfies Record<EdmValue['type'], string>;

const types = Object.fromEntries(Object.entries(letters).map(([type, letter]) => [letter, type]));

export const entityCodec: Codec<EntityRecord> = {
  name: 'lazuli.entity',
  version: 1,
  encode({ stamp, properties }) {
    const flat: unknown[] = [stamp];
    for (const [name, { type, value }] of properties) flat.push(name, letters[type], value);
    return defaultCodec.encode(flat);
  },
  decode(bytes) {
    const flat = defaultCodec.decode(bytes) as [stamp: number, ...rest: unknown[]];
    if (!Array.isArray(flat) || typeof flat[0] !== 'number' || flat.length % 3 !== 1) throw damaged();
    const properties: Property[] = [];
    for (let i = 1; i < flat.length; i += 3) {
      const type = types[flat[i + 1] as string];
      if (type === undefined) throw damaged();
      properties.push([flat[i] as string, { type, value: flat[i + 2] } as EdmValue]);
    }
    return { stamp: flat[0], properties };
  },
};

function damaged(): DamageError {
  return new DamageError('a stored entity cannot be read: it is damaged, or another codec wrote it');
}
