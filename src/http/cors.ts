// Cross-origin requests: what a browser is told about the rules of an account.
//
// CORS is no authorization. A request whose origin no rule names is still executed; the browser alone
// keeps its answer from the page.

import type { CorsRule } from '../services/common/cors-rules.js';
import { StorageError } from '../services/common/errors.js';
import type { Answer } from './answer.js';
import type { Call } from './call.js';

/** The answer to OPTIONS. Any path will do, nothing there is looked at. */
export function preflight(rules: readonly CorsRule[], call: Pick<Call, 'headers'>): Answer {
  const origin = required(call, 'origin');
  const method = required(call, 'access-control-request-method');
  const rule = select(rules, origin, method);
  const asked = call.headers['access-control-request-headers'];
  const names = asked === undefined ? [] : asked.split(',').map((name) => name.trim().toLowerCase());
  // The first rule for origin and method decides, also when a later one would allow the headers.
  if (rule === undefined || !names.every((name) => name === '' || allows(rule.allowedHeaders, name))) {
    throw new StorageError('CorsPreflightFailure');
  }
  const any = rule.allowedOrigins.includes('*');
  const headers = ['Access-Control-Allow-Origin', any ? '*' : origin, 'Access-Control-Allow-Methods', method];
  if (asked !== undefined) headers.push('Access-Control-Allow-Headers', asked);
  headers.push('Access-Control-Max-Age', String(rule.maxAgeSeconds));
  if (!any) headers.push('Access-Control-Allow-Credentials', 'true', 'Vary', 'Origin');
  return { status: 200, headers };
}

function required(call: Pick<Call, 'headers'>, name: string): string {
  const value = call.headers[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new StorageError('InvalidHeaderValue', {
    message: 'A required CORS header is not present.',
    details: { HeaderName: name, HeaderValue: '' },
  });
}

const none: readonly string[] = [];

/** What an answer to any other request gets besides; `sent` are the headers it has already. */
export function corsHeaders(
  rules: readonly CorsRule[],
  method: string,
  origin: string | undefined,
  sent: readonly string[],
): readonly string[] {
  if (rules.length === 0) return none;
  const rule = select(rules, origin ?? '*', method);
  const any = rule?.allowedOrigins.includes('*') === true;
  const headers: string[] = [];
  if (!any && (method === 'GET' || method === 'HEAD')) headers.push('Vary', 'Origin');
  if (rule === undefined || (origin === undefined && !any)) return headers;
  headers.push('Access-Control-Allow-Origin', any ? '*' : (origin ?? '*'));
  if (!any) headers.push('Access-Control-Allow-Credentials', 'true');
  const exposed = exposedNames(rule, sent);
  if (exposed !== '') headers.push('Access-Control-Expose-Headers', exposed);
  return headers;
}

function exposedNames(rule: CorsRule, sent: readonly string[]): string {
  const names = sent.filter((_, at) => at % 2 === 0);
  return [...new Set(names)].filter((name) => allows(rule.exposedHeaders, name.toLowerCase())).join(',');
}

function select(rules: readonly CorsRule[], origin: string, method: string): CorsRule | undefined {
  return rules.find(
    (rule) =>
      rule.allowedMethods.includes(method) && rule.allowedOrigins.some((one) => isOrigin(one, origin)),
  );
}

function isOrigin(allowed: string, origin: string): boolean {
  if (allowed === '*' || allowed === origin) return true;
  const star = allowed.indexOf('//*.');
  if (star < 0) return false;
  const scheme = allowed.slice(0, star + 2);
  const domain = allowed.slice(star + 3); // with its dot: a sub-domain, not a longer name
  return (
    origin.length > scheme.length + domain.length && origin.startsWith(scheme) && origin.endsWith(domain)
  );
}

/** `name` in lower case. */
function allows(list: readonly string[], name: string): boolean {
  return list.some((one) => {
    const allowed = one.toLowerCase();
    return allowed.endsWith('*') ? name.startsWith(allowed.slice(0, -1)) : allowed === name;
  });
}
