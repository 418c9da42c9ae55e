// The CORS rules of a service, and what a client may store as such.
//
//   at most 5 rules, 2 KiB of text; in each 64 origins, 64 headers and 2 prefixes in either list;
//   an origin or header of 256 characters

import { invalidXml, invalidXmlValue } from './errors.js';

export type CorsRule = Readonly<{
  /** `*`, an origin, or one with a star for the sub-domain: `http://*.contoso.com`. */
  allowedOrigins: readonly string[];
  allowedMethods: readonly string[];
  /** Literal, or a prefix that ends in `*`. */
  allowedHeaders: readonly string[];
  exposedHeaders: readonly string[];
  maxAgeSeconds: number;
}>;

const mostRules = 5;
const mostOrigins = 64;
const mostLiteralHeaders = 64;
const mostPrefixedHeaders = 2;
const longestText = 256;
const mostCorsBytes = 2048;
const corsMethods = ['DELETE', 'GET', 'HEAD', 'MERGE', 'PATCH', 'POST', 'OPTIONS', 'PUT'];

/** Throws if a client may not store these. */
export function checkCors(rules: readonly CorsRule[]): void {
  if (rules.length > mostRules) throw invalidXml(`At most ${mostRules} CORS rules are allowed.`);
  rules.forEach(checkCorsRule);
  const texts = rules.flatMap((rule) => [
    ...rule.allowedOrigins,
    ...rule.allowedMethods,
    ...rule.allowedHeaders,
    ...rule.exposedHeaders,
    String(rule.maxAgeSeconds),
  ]);
  if (texts.reduce((size, text) => size + text.length, 0) > mostCorsBytes) {
    throw invalidXml('The CORS rules are larger than 2 KiB.');
  }
}

function checkCorsRule(rule: CorsRule): void {
  const { allowedOrigins, allowedMethods, maxAgeSeconds } = rule;
  if (allowedOrigins.length === 0) throw invalidXml('AllowedOrigins must not be empty.');
  if (allowedOrigins.length > mostOrigins) throw invalidXml(`At most ${mostOrigins} origins are allowed.`);
  if (allowedMethods.length === 0) throw invalidXml('AllowedMethods must not be empty.');
  const method = allowedMethods.find((one) => !corsMethods.includes(one));
  if (method !== undefined) throw invalidXmlValue('AllowedMethods', method);
  if (!Number.isInteger(maxAgeSeconds) || maxAgeSeconds < 0 || maxAgeSeconds > 2 ** 31 - 1) {
    throw invalidXmlValue('MaxAgeInSeconds', String(maxAgeSeconds));
  }
  for (const headers of [rule.allowedHeaders, rule.exposedHeaders]) {
    const prefixed = headers.filter((header) => header.endsWith('*')).length;
    if (prefixed > mostPrefixedHeaders || headers.length - prefixed > mostLiteralHeaders) {
      throw invalidXml(
        `At most ${mostLiteralHeaders} headers and ${mostPrefixedHeaders} prefixes are allowed.`,
      );
    }
  }
  const texts = [...allowedOrigins, ...rule.allowedHeaders, ...rule.exposedHeaders];
  if (texts.some((text) => text === '' || text.length > longestText)) {
    throw invalidXml(`An origin or header has 1 to ${longestText} characters.`);
  }
}
