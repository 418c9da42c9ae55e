// Names of files as clients send them: a path to components, and the patterns of directory listings.

import { Refused } from './status.js';

const longestComponent = 255;
const longestPath = 2048;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const forbidden = /["/:<>|?*\u0000-\u001f\u007f]/;
const reserved = /^(?:con|prn|aux|nul|clock\$|com[1-9]|lpt[1-9])$/i;

export interface ParsedPath {
  readonly path: readonly string[];
  /** It ended in a separator: only a directory can be meant. */
  readonly directory: boolean;
}

/** The text of a name, or a refusal if it is none. */
export function readName(bytes: Buffer): string {
  if (bytes.length % 2 !== 0) throw new Refused('INVALID_PARAMETER');
  const name = bytes.toString('utf16le');
  if (/[\p{Surrogate}\0]/u.test(name)) throw new Refused('OBJECT_NAME_INVALID');
  return name;
}

/** The components of a path from the root of the share; none is the root. */
export function parsePath(name: string): ParsedPath {
  if (name === '') return { path: [], directory: true };
  const directory = name.endsWith('\\');
  const trimmed = directory ? name.slice(0, -1) : name;
  if (trimmed.length > longestPath) throw new Refused('OBJECT_NAME_INVALID');
  const path: string[] = [];
  for (const component of trimmed.split('\\')) {
    if (component !== '..') {
      checkComponent(component);
      path.push(component);
    } else if (path.pop() === undefined) {
      throw new Refused('OBJECT_PATH_SYNTAX_BAD'); // Above the root there is nothing.
    }
  }
  return { path, directory: directory || path.length === 0 };
}

function checkComponent(component: string): void {
  if (
    component === '' ||
    component === '.' ||
    component.length > longestComponent ||
    forbidden.test(component)
  ) {
    throw new Refused('OBJECT_NAME_INVALID');
  }
}

/** Names that mean devices elsewhere: nothing may be created under one. */
export function isReservedName(name: string): boolean {
  return reserved.test(name);
}

const wildcards = /[*?<>"]/;

export function hasWildcards(pattern: string): boolean {
  return wildcards.test(pattern);
}

/**
 * Whether a name matches a pattern, regardless of case. The forms of DOS: `<` any run up to the last dot,
 * `>` one character or none before a dot or the end, `"` a dot or the end.
 */
export function matchesPattern(name: string, pattern: string): boolean {
  if (pattern === '*' || pattern === '*.*') return true;
  const text = name.toUpperCase();
  const wanted = pattern.toUpperCase();
  const lastDot = text.lastIndexOf('.');
  // Positions in the name that the pattern so far can have reached: one pass over each, no backtracking.
  let reached = new Set([0]);
  for (const sign of wanted) {
    reached = advance(text, lastDot, sign, reached);
    if (reached.size === 0) return false;
  }
  return reached.has(text.length);
}

function advance(text: string, lastDot: number, sign: string, reached: ReadonlySet<number>): Set<number> {
  const next = new Set<number>();
  for (const at of reached) {
    if (sign === '*') {
      for (let to = at; to <= text.length; to++) next.add(to);
    } else if (sign === '<') {
      next.add(at);
      for (let to = at; to < text.length && (to <= lastDot || lastDot < at); to++) next.add(to + 1);
    } else if (sign === '>') {
      const ends = at === text.length || text[at] === '.';
      next.add(ends ? at : at + 1);
    } else if (sign === '"') {
      if (at === text.length) next.add(at);
      else if (text[at] === '.') next.add(at + 1);
    } else if (at < text.length && (sign === '?' || text[at] === sign)) {
      next.add(at + 1);
    }
  }
  return next;
}
