// The elements of a document that was parsed, taken one by one and checked: each way in which one can be
// wrong has its own code.

import { invalidXml, invalidXmlValue, StorageError } from '../services/common/errors.js';
import { child, type XmlNode } from './xml-parser.js';

/** 400 `MissingRequiredXmlNode` if it is not there. */
export function requireChild(node: XmlNode, name: string): XmlNode {
  const found = child(node, name);
  if (found === undefined) {
    throw new StorageError('MissingRequiredXmlNode', { details: { XmlNodeName: name } });
  }
  return found;
}

/** The root; 400 `InvalidXmlDocument` if it is another. */
export function requireRoot(node: XmlNode, name: string): XmlNode {
  if (node.name !== name) throw invalidXml(`The root element must be '${name}'.`);
  return node;
}

/** 400 `UnsupportedXmlNode` for a child that is none of these, `InvalidXmlDocument` for one that is there twice. */
export function onlyChildren(node: XmlNode, names: readonly string[]): void {
  const seen = new Set<string>();
  for (const { name } of node.children) {
    if (!names.includes(name)) {
      throw new StorageError('UnsupportedXmlNode', { details: { XmlNodeName: name } });
    }
    if (seen.has(name)) throw invalidXml(`The element '${name}' is there twice.`);
    seen.add(name);
  }
}

/** The text of an element that has no elements in it. */
export function textOf(node: XmlNode): string {
  if (node.children.length > 0) throw invalidXml(`'${node.name}' has no elements in it.`);
  return node.text;
}

export function textChild(node: XmlNode, name: string): string {
  return textOf(requireChild(node, name));
}

/** Nothing if it is not there or empty. */
export function optionalText(node: XmlNode, name: string): string | undefined {
  const found = child(node, name);
  return found === undefined ? undefined : textOf(found).trim() || undefined;
}

export function flagChild(node: XmlNode, name: string): boolean {
  return flag(requireChild(node, name));
}

export function optionalFlag(node: XmlNode, name: string): boolean | undefined {
  const found = child(node, name);
  return found === undefined ? undefined : flag(found);
}

function flag(node: XmlNode): boolean {
  const text = textOf(node).trim().toLowerCase();
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw invalidXmlValue(node.name, text);
}

export function integerOf(node: XmlNode): number {
  const text = textOf(node).trim();
  if (!/^-?\d{1,10}$/.test(text)) throw invalidXmlValue(node.name, text);
  return Number(text);
}
