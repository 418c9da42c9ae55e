import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageError } from '../services/common/errors.js';
import { child, parseXml } from './xml-parser.js';

const parse = (text: string) => parseXml(Buffer.from(text));

const taken: [xml: string, text: string][] = [
  ['<a>x</a>', 'x'],
  ['<a/>', ''],
  ['<a />', ''],
  ['<a ></a >', ''],
  ['\ufeff<?xml version="1.0" encoding="utf-8"?>\n<!-- c --><?pi?>\n<a>x</a>\n<!-- d -->', 'x'],
  ['<a> x\n</a>', ' x\n'],
  ['<a>x\r\ny\rz</a>', 'x\ny\nz'],
  ['<a>&lt;&gt;&amp;&quot;&apos;</a>', '<>&"\''],
  ['<a>&amp;lt;</a>', '&lt;'],
  ['<a>&#65;&#x42;&#x1F600;&#xD;</a>', 'AB😀\r'],
  ['<a>x<!-- c -->y<?pi?>z</a>', 'xyz'],
  ['<a><![CDATA[<b>&amp;]]>]]&gt;</a>', '<b>&amp;]]>'],
  ['<a b="1" c=\'2\' xmlns:x="u">x</a>', 'x'],
  ['<x:a.b-c_1>x</x:a.b-c_1>', 'x'],
  ['<a>x<b/>y</a>', 'xy'],
  ['<__proto__>x</__proto__>', 'x'],
  ['<é>x</é>', 'x'],
];

for (const [xml, text] of taken) {
  test(`takes ${JSON.stringify(xml)}`, () => assert.equal(parse(xml).text, text));
}

const refused: [xml: string, line: number, position: number][] = [
  ['', 1, 1],
  ['text', 1, 1],
  ['<a>', 1, 4],
  ['<a>x', 1, 5],
  ['<a></b>', 1, 4],
  ['<a><b></a></b>', 1, 7],
  ['</a>', 1, 1],
  ['<a/>x', 1, 5],
  ['<a/><b/>', 1, 5],
  ['<a\n>\n  x & y</a>', 3, 5],
  ['<a>&foo;</a>', 1, 4],
  ['<a>&#0;</a>', 1, 4],
  ['<a>&#xD800;</a>', 1, 4],
  ['<a>&#x110000;</a>', 1, 4],
  ['<a>x&#1;</a>', 1, 5],
  ['<a>x\u0001y</a>', 1, 5],
  ['<a>x\uffff</a>', 1, 5],
  ['<a>x]]>y</a>', 1, 4],
  ['<a>x < y</a>', 1, 7],
  ['<1a/>', 1, 2],
  ['<a b=c/>', 1, 4],
  ['<a b="<"/>', 1, 4],
  ['<a b="1" b="2"/>', 1, 9],
  ['<a b="&foo;"/>', 1, 7],
  ['<a b="1"c="2"/>', 1, 9],
  ['<a><!-- x -- y --></a>', 1, 4],
  ['<a><![CDATA[x</a>', 1, 4],
  ['<a><?pi</a>', 1, 4],
  [' <?xml version="1.0"?><a/>', 1, 2],
  ['<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', 1, 1],
  ['<a><!ENTITY x "y"></a>', 1, 4],
  ['< a/>', 1, 2],
  ['<a></ a>', 1, 4],
];

for (const [xml, line, position] of refused) {
  test(`refuses ${JSON.stringify(xml)} at ${line}:${position}`, () => {
    assert.throws(
      () => parse(xml),
      (error: unknown) => {
        assert.ok(error instanceof StorageError);
        assert.equal(error.code, 'InvalidXmlDocument');
        assert.equal(error.details.LineNumber, String(line));
        assert.equal(error.details.LinePosition, String(position));
        assert.ok(error.details.Reason);
        return true;
      },
    );
  });
}

test('bytes that are no UTF-8 are refused', () => {
  assert.throws(() => parseXml(Buffer.from([0x3c, 0x61, 0xff, 0x3e])), { code: 'InvalidXmlDocument' });
});

test('children keep their order, whatever they are called', () => {
  const list = parse('<BlockList>\n<Latest>a</Latest><Committed>b</Committed><Latest>c</Latest></BlockList>');
  assert.deepEqual(
    list.children.map(({ name, text }) => [name, text]),
    [
      ['Latest', 'a'],
      ['Committed', 'b'],
      ['Latest', 'c'],
    ],
  );
  assert.equal(child(list, 'Latest')?.text, 'a');
  assert.equal(child(list, 'None'), undefined);
});

test('32 levels are read, 33 are not, and a hundred thousand cost nothing', () => {
  const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth);
  parse(nested(32));
  for (const depth of [33, 100_000])
    assert.throws(() => parse(nested(depth)), { code: 'InvalidXmlDocument' });
});

test('a list of 50,000 blocks is read whole', () => {
  const list = parse(`<BlockList>${'<Latest>QUFBQUFBQUFBQUFBQUFBQQ==</Latest>'.repeat(50_000)}</BlockList>`);
  assert.equal(list.children.length, 50_000);
});
