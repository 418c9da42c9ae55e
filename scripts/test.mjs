// Runs the compiled tests: `npm test` all but the clients, `npm run test:clients` those that drive real
// clients. Words after `--` choose the files whose path contains one of them. At the end it names what
// was skipped, and why.
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

const root = join(import.meta.dirname, '..');
const clients = process.argv.includes('--clients');
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
if (clients) process.env.LAZULI_CLIENTS = '1';

const files = ['dist', 'build']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(root, folder, name)),
  )
  .filter((file) => file.endsWith('.test.js'))
  .filter((file) => clients === file.includes(join('test', 'clients')))
  .filter((file) => words.length === 0 || words.some((word) => relative(root, file).includes(word)))
  .sort();

if (files.length === 0) {
  console.error(`no test file matches ${words.join(', ')}`);
  process.exit(1);
}

const skipped = [];
const stream = run({ files, concurrency: 2 });
stream.on('test:fail', (event) => {
  if (event.todo === undefined || event.todo === false) process.exitCode = 1;
});
stream.on('test:pass', (event) => {
  if (event.skip !== undefined && event.skip !== false) skipped.push(`${event.name}: ${event.skip}`);
});
stream.compose(spec).pipe(process.stdout);
stream.on('end', () => {
  if (skipped.length > 0)
    console.log(`\nSkipped:\n${[...new Set(skipped)].map((line) => `  ${line}`).join('\n')}`);
});
