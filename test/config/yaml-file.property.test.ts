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
    ['a: 1\nb: 2\na: 3\n', '3:1 is not valid YAML: Map keys must be unique'],
    ['a: !env HOME\n', '1:4 is not valid YAML: Unresolved tag: !env'],
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
    ['a missing comma', 'a: { b: 1 c: 2 }\n', '1:9 is not valid YAML'],
    ['an open quote above a complete list', 'a: "b\nc: [1]\n', '1:4 is not valid YAML'],
    ['a text behind a value', 'a: "b" c\n', '1:8 is not valid YAML'],
    ['an open list', 'a: [1\nb: [2]\n', '2:1 is not valid YAML'],
    ['an open quote', 'a: 1\nb: { x: y, z: "../inbox }\nc: 2\n', '2:15 is not valid YAML'],
    ['a Windows path between double quotes', 'a: "C:\\Users"\n', '1:7 is not valid YAML'],
    ['a colon without a blank', 'a:staging\nb:\n  c: 1\n', '1:1 is not valid YAML'],
    ['a value with a colon', 'a: x: y\n', '1:4 is not valid YAML'],
    ['a key that is not indented equally', 'a:\n    b: 1\n   c: 2\n', '3:1 is not valid YAML'],
    ['a tab', 'a:\n  b: 1\n\tc: 2\n  d: { e: 1 }\n', '3:1 is not valid YAML: Tabs'],
    ['two documents', 'a: 1\n---\nb: 2\n', '2:1 is not valid YAML'],
    ['an alias without anchor', 'a: 1\nb: *nobody\n', '2:4 there is no anchor &nobody before this'],
    ['a bomb of anchors', bomb, '1:1 uses anchors more than 100 times'],
    ['deep nesting', '['.repeat(100_000), 'is not valid YAML'],
    ['a huge file', '# '.repeat(600_000), '1:1 is larger than 1 MB'],
  ])('%s', (_, text, fault) => {
    const { broken, value } = readYaml(text);
    expect({ broken, value }).toEqual({ broken: true, value: undefined });
    expect(faultsIn(text)).toEqual([expect.stringContaining(fault)]);
  });
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
