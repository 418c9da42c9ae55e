// Writes the table of options into docs/configuration.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { withOptionsTable } from '../dist/server/options-table.js';

const path = new URL('../docs/configuration.md', import.meta.url);
writeFileSync(path, withOptionsTable(readFileSync(path, 'utf8')));
