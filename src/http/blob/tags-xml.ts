// Tags as XML.

import type { Tags } from '../../services/common/tags-filter.js';
import { element, parent } from '../xml.js';
import { onlyChildren, requireChild, requireRoot, textChild } from '../xml-fields.js';
import { parseXml } from '../xml-parser.js';

export function tagsElement(tags: Tags): string {
  const rows = tags.map(([key, value]) => parent('Tag', element('Key', key) + element('Value', value)));
  return parent('Tags', parent('TagSet', rows.join('')));
}

export function readTags(bytes: Buffer): Tags {
  const root = requireRoot(parseXml(bytes), 'Tags');
  onlyChildren(root, ['TagSet']);
  return requireChild(root, 'TagSet').children.map((node) => {
    requireRoot(node, 'Tag');
    onlyChildren(node, ['Key', 'Value']);
    return [textChild(node, 'Key'), textChild(node, 'Value')] as const;
  });
}
