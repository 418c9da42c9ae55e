// Text without what would let its reader in. Everything that is logged of a request passes here: its
// address, its headers, and the string to sign that a 403 tells, in which all of them come again.

const hidden = 'REDACTED';

// biome-ignore format: a table
const secrets: readonly (readonly [RegExp, string])[] = [
  // `sig` in a query, however its letters are written; inside another parameter; as a line of a string to sign
  [/(^|\W|%3F|%26)((?:s|%[57]3)(?:i|%[46]9)(?:g|%[46]7)(?:=|%3D|:))[^&\s"'<>;,]+/gi, `$1$2${hidden}`],
  [/\b(Bearer) +[\w.~+/=-]+/gi,                                `$1 ${hidden}`],
  [/\b(SharedKey(?:Lite)? [^:\s]+):\S+/g,                      `$1:${hidden}`],
  [/(MAC signature found in the HTTP request ')[^']*'/g,       `$1${hidden}'`],
  [/\b(AccountKey|SharedAccessSignature)=[^;\s]+/gi,           `$1=${hidden}`],
  [/\b(x-ms-encryption-key|x-ms-source-encryption-key): *\S+/gi, `$1:${hidden}`],
];

export function redact(text: string): string {
  return secrets.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text);
}
