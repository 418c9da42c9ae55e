// Small files of text that are written whole: their last line tells whether they are what was written.

import { crc32 } from 'node:zlib';

/** With a last line that has its checksum. */
export function checkedText(text: string): string {
  return `${text}check ${crc32(text).toString(16).padStart(8, '0')}\n`;
}

/** What the checksum is of; nothing where it does not match. */
export function uncheckedText(content: string): string | undefined {
  const text = content.slice(0, -'check 12345678\n'.length);
  return content === checkedText(text) ? text : undefined;
}
