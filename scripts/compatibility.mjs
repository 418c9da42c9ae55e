// Writes docs/compatibility.md from the operation tables: what is served, since which version, to whom, and what
// is not there. A test compares the two, so the page cannot fall behind.
import { writeFileSync } from 'node:fs';
import { compatibility } from '../dist/http/compatibility.js';

writeFileSync(new URL('../docs/compatibility.md', import.meta.url), compatibility());
