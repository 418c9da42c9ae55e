// The table of options in docs/configuration.md, made from the one in options.ts: `node scripts/options-table.mjs`. A
// test asks that it is current.

import { flagText, groupTitles } from './help.js';
import { options, variableOf } from './options.js';
import { isSetting } from './values.js';

const begin = '<!-- options: made by scripts/options-table.mjs -->';
const end = '<!-- end of options -->';

/** The document with the table as it should be. */
export function withOptionsTable(document: string): string {
  const [before, rest = ''] = document.split(begin);
  const [, after] = rest.split(end);
  return `${before}${begin}\n${tables()}\n${end}${after}`;
}

function tables(): string {
  return Object.entries(groupTitles)
    .map(([group, title]) => {
      const rows = options.filter((option) => option.group === group);
      const lines = rows.map((option) => {
        const { name, help, azurite } = option;
        const flag = `\`${flagText(option)}\``;
        const variables = [variableOf(name), ...(azurite === undefined ? [] : [azurite])];
        const shown = isSetting(group) ? variables.map((variable) => `\`${variable}\``).join(', ') : '';
        return `| ${flag} | ${shown} | ${help} |`;
      });
      return [`\n### ${title}\n`, '| option | variable | |', '|---|---|---|', ...lines].join('\n');
    })
    .join('\n');
}
