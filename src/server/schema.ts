// The JSON schema of lazuli.json, made from the table of options: editors know the names, and what each is for.
// `node scripts/schema.mjs` writes it; a test asks that it is current.

import { defaultSettings } from '../services/common/accounts.js';
import { type Option, options } from './options.js';
import { isSetting } from './values.js';

const numbers = ['port', 'MB', 's'];
const choices: Readonly<Record<string, readonly string[]>> = {
  oauth: ['basic'],
  copySources: ['public', 'any'],
  smbAclMode: ['superuser', 'enforce'],
};

export function configSchema(): object {
  const settings = options.filter(({ group }) => isSetting(group));
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Options of Lazuli',
    type: 'object',
    additionalProperties: false,
    properties: {
      $schema: { type: 'string' },
      ...Object.fromEntries(settings.map((option) => [option.name, schemaOf(option)])),
      accounts: accountsSchema,
      bearer: bearerSchema,
    },
  };
}

function schemaOf({ name, takes, help }: Option): object {
  const description = help;
  if (takes === undefined) return { type: 'boolean', description };
  if (choices[name] !== undefined) return { enum: choices[name], description };
  if (!numbers.includes(takes)) return { type: 'string', description };
  const range = takes === 'port' ? { minimum: 0, maximum: 65535 } : { minimum: 0 };
  return { type: 'integer', ...range, description };
}

const accountsSchema = {
  description: 'accounts that are made if they are missing',
  type: 'array',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['name', 'keys'],
    properties: {
      name: { type: 'string', pattern: '^[a-z0-9]{3,24}$' },
      keys: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2 },
      settings: {
        description: 'what Azure keeps in its management plane; lazuli account set changes it later',
        type: 'object',
        additionalProperties: false,
        properties: Object.fromEntries(
          Object.entries(defaultSettings).map(([name, value]) => [
            name,
            { type: typeof value === 'number' ? 'integer' : typeof value, default: value },
          ]),
        ),
      },
    },
  },
};

const bearerSchema = {
  description: 'whose bearer tokens are taken: docs/authentication.md',
  type: 'object',
};
