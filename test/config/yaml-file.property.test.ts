import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readYaml } from '../../src/config/yaml-file.ts';
import { runs } from '../support/runs.ts';

const faultsIn = (text: string) =>
  readYaml(text).faults.map(({ line, column, message }) => `${line}:${column} ${message}`);

it('gives the position of each value and key, also in lists and through anchors', () => {
  const { positionOf } = readYaml('a:\n  b: [1, {c: 2}]\nx: &x\n  y: 3\nz: *x\n7: seven\n');
  expect(positionOf(['a', 'b', 1, 'c'])).toEqual({ line: 2, column: 14 });
  expect(positionOf(['a', 'b', 1, 'c'], 'key')).toEqual({ line: 2, column: 11 });
  expect(positionOf(['a', 'b', 0])).toEqual({ line: 2, column: 7 });
  expect(positionOf(['z', 'y'])).toEqual({ line: 4, column: 6 });
  expect(positionOf(['7'])).toEqual({ line: 6, column: 4 });
});

it('gives the parent key for a missing path', () => {
  const { positionOf } = readYaml('a:\n  b: 1\nlist:\n  - c: 1\n');
  expect(positionOf(['a', 'missing'])).toEqual({ line: 1, column: 1 });
  expect(positionOf(['a', 'missing', 'deeper'])).toEqual({ line: 1, column: 1 });
  expect(positionOf(['list', 0, 'missing'])).toEqual({ line: 4, column: 5 });
  expect(positionOf(['missing'])).toEqual({ line: 1, column: 1 });
});

describe('continues after', () => {
  it.each([
    ['a: 1\nb: 2\na: 3\n', '3:1 the key a is repeated here'],
    ['a: 1\nb:\na: 3\n', '3:1 the key a is repeated here'],
    ['a: 1\nb: # none\n\n# more\na: 3\n', '5:1 the key a is repeated here'],
    ['a:\n  - b:\r\n    b: 1\n', '3:5 the key b is repeated here'],
    ['a: !env HOME\n', '1:4 YAML tags (!name) are not supported'],
    ['__proto__: { a: 1 }\n', '1:1 this name is reserved'],
    ['a: { __proto__: 1 }\n', '1:6 this name is reserved'],
    ['? [a]\n: 1\n', '1:3 a key must be a plain word'],
    ['~: 1\n', '1:1 a key must be a plain word'],
  ])('%j', (text, fault) => {
    expect(faultsIn(text)).toEqual([fault]);
    expect(readYaml(text).broken).toBe(false);
  });
});

describe('refuses', () => {
  const bomb = [
    'a: &a [x, x, x, x, x, x, x, x, x]',
    ...'bcdefghi'.split('').map((name, i) => {
      const last = 'abcdefgh'[i];
      return `${name}: &${name} [${Array(9).fill(`*${last}`).join(', ')}]`;
    }),
  ].join('\n');

  it.each([
    [
      'a missing comma',
      'a:\n  - { b: c d: 5 e: f, g: h }\n',
      '2:10 a comma is missing within this value',
    ],
    [
      'a missing comma between two keys',
      'a: { b: 1 c: 2 }\n',
      '1:9 a comma is missing within this value',
    ],
    [
      'a dash in braces',
      'a: { b: - c }\n',
      '1:9 a "- " cannot begin an entry between braces or brackets',
    ],
    [
      'a line of a list that is not indented',
      "a: [1, 'x] # y', # ]\n2]\n",
      '2:1 this line is within the [ of a line above, and is not indented',
    ],
    [
      'a line of keys that is not indented',
      'x: 1\na: { b: [1]\nc: 2 }\nd: 3\n',
      '3:1 this line is within the { of a line above, and is not indented',
    ],
    ['an open quote above a complete list', 'a: "b\nc: [1]\n', '1:4 this " is never closed'],
    ['a text behind a value', 'a: "b" c\n', '1:8 a text follows the end of the value'],
    ['an open list above a complete one', 'a: [1\nb: [2]\n', '1:4 this [ is never closed'],
    ['an open list', 'a: [1\n', '1:4 this [ is never closed'],
    ['an open quote', 'a: 1\nb: { x: y, z: "../inbox }\nc: 2\n', '2:15 this " is never closed'],
    [
      'a # in a text without quotes',
      'a: { b: Order #, c: d }\ne: 1\n',
      '1:4 this { is never closed',
    ],
    [
      'a Windows path between double quotes',
      'a: "C:\\Users"\n',
      '1:7 a backslash has a special meaning',
    ],
    ['a colon without a blank', 'a:staging\nb:\n  c: 1\n', '1:1 a line without a key and a value'],
    ['a delimiter without quotes', 'a:\n  b: ,\n', '2:6 a text cannot begin with this character'],
    ['a value with a colon', 'a: x: y\n', '1:4 a second key within a value'],
    ['a tab', 'a:\n\tb: 1\n', '2:1 a tab cannot indent YAML'],
    ['two documents', 'a: 1\n---\nb: 2\n', '2:1 a second document begins here'],
    ['an alias without anchor', 'a: 1\nb: *nobody\n', '2:4 there is no anchor &nobody before this'],
    ['a bomb of anchors', bomb, '1:1 uses anchors more than 100 times'],
    ['deep nesting', '['.repeat(100_000), 'is nested too deeply'],
    ['a huge file', '# '.repeat(600_000), '1:1 is larger than 1 MB'],
  ])('%s', (_, text, fault) => {
    const { broken, value } = readYaml(text);
    expect({ broken, value }).toEqual({ broken: true, value: undefined });
    expect(faultsIn(text).join('\n')).toContain(fault);
  });
});

it('says only that an anchor is missing where an alias has none', () => {
  expect(faultsIn('reports: { path: *q }\n')).toEqual(['1:18 there is no anchor &q before this']);
});

it('reports a wrong indentation once, with what to do', () => {
  const hint = expect.stringContaining('indent the keys of one level equally');
  const further = 'the key authUrl is indented further than the line above';
  for (const end of ['\n', '\r\n'])
    expect(
      readYaml(['x:', '  y: 1', '  baseUrl: http://a', '   authUrl: http://b', ''].join(end))
        .faults,
    ).toEqual([{ line: 4, column: 4, message: further, hint }]);
  expect(readYaml('x:\n  baseUrl: "http://a"\n   authUrl: http://b\n').faults).toEqual([
    expect.objectContaining({ line: 3, hint }),
  ]);
  const message = 'this is not indented like the rest of its level';
  expect(readYaml('a:\n    b: 1\n   c: 2\n').faults).toEqual([
    expect.objectContaining({ line: 3, message, hint }),
  ]);
  const list = 'sources:\n  - name: a\n   type: inbox\n';
  expect(readYaml(list).faults).toEqual([expect.objectContaining({ line: 3, message, hint })]);
});

it('reports a tab as the only fault, because what follows it is misread', () => {
  expect(faultsIn('a:\n  b: 1\n\tc: 2\n  d: { e: 1 }\n')).toEqual([
    expect.stringContaining('3:1 a tab cannot indent YAML'),
  ]);
});

it('reports an anchor that contains itself', () => {
  expect(faultsIn('a: &a [*a]\n')).toContain('1:8 &a contains itself');
});

it('converts every text into a value or faults', () => {
  const yamlish = fc.string({
    unit: fc.constantFrom(
      'a',
      ':',
      ' ',
      '\n',
      '-',
      '[',
      ']',
      '{',
      '}',
      '&',
      '*',
      '!',
      '"',
      "'",
      '|',
      '#',
      '\t',
      '?',
      '%',
      '@',
      '0',
      ',',
      '~',
      '<',
    ),
  });
  fc.assert(
    fc.property(fc.oneof(yamlish, fc.string()), (text) => {
      const read = readYaml(text);
      return read.broken ? read.faults.length > 0 : read.positionOf(['a', 0, 'b']).line >= 1;
    }),
    { numRuns: runs(2_000) },
  );
});
