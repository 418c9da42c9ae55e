import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { element, escapeAttribute, headerElement, nameElement, optional, parent, xmlAnswer } from './xml.js';
import { parseXml } from './xml-parser.js';

const written: [name: string, text: string, xml: string][] = [
  ['Name', 'plain', '<Name>plain</Name>'],
  ['Name', '', '<Name />'],
  ['Name', 'a<b>&"c\'', '<Name>a&lt;b&gt;&amp;"c\'</Name>'],
  ['Name', '\r\n\t', '<Name>&#xD;\n\t</Name>'],
  ['Name', '😀', '<Name>😀</Name>'],
  ['Name', 'a\u0001b', '<Name>a\ufffdb</Name>'],
  ['Name', '\ud83d', '<Name>\ufffd</Name>'],
];

for (const [name, text, xml] of written) {
  test(`element ${JSON.stringify(text)}`, () => assert.equal(element(name, text), xml));
}

test('a name that XML cannot carry is percent-encoded and says so', () => {
  assert.equal(nameElement('Name', 'a/b c'), '<Name>a/b c</Name>');
  assert.equal(nameElement('Name', 'a/\u0001 b'), '<Name Encoded="true">a/%01%20b</Name>');
  assert.equal(nameElement('Name', 'file\ufffe'), '<Name Encoded="true">file%EF%BF%BE</Name>');
  assert.equal(nameElement('Name', '\u0085'), '<Name>\u0085</Name>');
});

test('parents, what is optional, attributes', () => {
  assert.equal(parent('Blobs', ''), '<Blobs />');
  assert.equal(parent('Blobs', '<Blob />'), '<Blobs><Blob /></Blobs>');
  assert.equal(optional('A', undefined), '');
  assert.equal(optional('A', ''), '<A />');
  assert.equal(escapeAttribute('"<\n\t>'), '&quot;&lt;&#xA;&#x9;&gt;');
});

test('an XML answer has a byte order mark, a declaration and its type', () => {
  const answer = xmlAnswer(200, '<A />', ['ETag', 'x']);
  assert.equal(answer.body, '\ufeff<?xml version="1.0" encoding="utf-8"?><A />');
  assert.deepEqual(answer.headers, ['Content-Type', 'application/xml', 'ETag', 'x']);
});

test('what is written is read again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const xml = Buffer.from(xmlAnswer(200, nameElement('Name', text)).body as string);
      const node = parseXml(xml);
      assert.equal(xml.includes('Encoded="true"') ? decodeURIComponent(node.text) : node.text, text);
    }),
    { seed: 12, numRuns: 1000 },
  );
});

const headers: [bytes: string, text: string][] = [
  ['plain', 'plain'],
  ['\xc3\xa4\xe6\x9d\xb1', 'ä東'],
  ['\xe4', 'ä'],
  ['\xc3\xa4 \xe4', 'Ã¤ ä'],
  ['a\tb', 'a\tb'],
];

for (const [bytes, text] of headers) {
  test(`the header ${JSON.stringify(bytes)} is the text ${text}`, () => {
    assert.equal(headerElement('A', bytes), `<A>${text}</A>`);
  });
}
