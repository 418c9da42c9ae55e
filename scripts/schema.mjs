// Writes lazuli.schema.json from the table of options.
import { writeFileSync } from 'node:fs';
import { configSchema } from '../dist/server/schema.js';

const path = new URL('../lazuli.schema.json', import.meta.url);
writeFileSync(path, `${JSON.stringify(configSchema(), null, 2)}\n`);
