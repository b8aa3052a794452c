import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { loadFaults } from '../../../src/sandbox/start-files.ts';

describe('a fault file', () => {
  test('is read with its units', () => {
    const file = loadFaults(
      `
seed: 42
listShape: array
faults:
  - { kind: delay, by: 50ms..2s, share: 30% }
  - { kind: drop, when: after, how: reset, share: 0.05, from: 1m, until: 1h, calls: '1,4-6,10-', attempts: 1 }
  - { kind: answer, on: any, status: 503, retryAfter: 2s, orders: [PO-1, 'X*'] }
  - { kind: late, by: 250 }
  - { kind: outage, from: 1s, until: 2.5s }
`,
      'test.yaml',
    );
    expect(file).toMatchObject({ seed: 42, listShape: 'array' });
    expect(file.faults).toEqual([
      {
        kind: 'delay',
        on: 'create',
        when: 'before',
        by: { least: 50, most: 2000 },
        share: 0.3,
        from: 0,
      },
      expect.objectContaining({
        how: 'reset',
        share: 0.05,
        from: 60_000,
        until: 3_600_000,
        calls: [
          { least: 1, most: 1 },
          { least: 4, most: 6 },
          { least: 10, most: Number.POSITIVE_INFINITY },
        ],
        attempts: [{ least: 1, most: 1 }],
      }),
      expect.objectContaining({ on: 'any', status: 503, retryAfter: 2000, orders: ['PO-1', 'X*'] }),
      expect.objectContaining({ by: { least: 250, most: 250 }, how: 'close' }),
      { kind: 'outage', address: 'all', from: 1000, until: 2500 },
    ]);
  });

  test('can have numbers as header values', () => {
    const file = loadFaults(
      'faults: [{ kind: answer, status: 429, headers: { X-Limit: 10 } }]',
      'test.yaml',
    );
    expect(file.faults).toMatchObject([{ headers: { 'X-Limit': '10' } }]);
  });

  test('can demand more than the specification', () => {
    const text = 'demand: { headers: { X-Company: 42 }, idempotencyKey: { valid: 24h } }';
    expect(loadFaults(text, 'test.yaml').demand).toEqual({
      headers: { 'X-Company': '42' },
      idempotencyKey: { header: 'Idempotency-Key', valid: 86_400_000 },
    });
  });

  test('that is empty has no effect', () => {
    expect(loadFaults('', 'empty.yaml')).toEqual({ seed: 1, faults: [] });
  });

  test.each([
    ['faults:\n  - kind: dely', /line 2: faults\.0\.kind: .*'delay' \| 'answer' \| 'drop'/],
    [
      'faults:\n  - kind: delay\n    by: soon',
      /line 3: faults\.0\.by: must be a duration, or a range like 50ms\.\.2s/,
    ],
    ['faults:\n  - { kind: delay, by: 2s..1s }', /line 2: faults\.0\.by/],
    [
      'faults:\n  - { kind: drop, share: 120% }',
      /line 2: faults\.0\.share: must be a share like 0\.3 or 30%/,
    ],
    ['faults:\n  - { kind: drop, share: -0.1 }', /faults\.0\.share/],
    ['faults:\n  - { kind: drop, calls: 0 }', /faults\.0\.calls: must be ordinals from 1/],
    ['faults:\n  - { kind: drop, calls: 5-2 }', /faults\.0\.calls/],
    ['faults:\n  - { kind: drop, from: tomorrow }', /faults\.0\.from: must be a duration/],
    ['faults:\n  - { kind: drop, wehn: after }', /line 2: faults\.0: Unrecognized key: "wehn"/],
    ['faults:\n  - { kind: answer, status: 99 }', /faults\.0\.status: .*>=200/],
    ['faults:\n  - { kind: answer, status: 2e3 }', /faults\.0\.status: .*<=999/],
    ['faults:\n  - { kind: answer, status: 9.5 }', /faults\.0\.status: .*int/],
    ['faults:\n  - { kind: drop, when: aftr }', /faults\.0\.when: .*"before"\|"after"/],
    ['faults:\n  - { kind: drop, orders: [] }', /faults\.0\.orders: /],
    ['faults:\n  - { kind: drop, sticky: 5 }', /faults\.0\.sticky: .*boolean/],
    [
      'faults:\n  - { kind: outage, from: 2s, until: 1s }',
      /line 2: faults\.0\.until: must be later than from/,
    ],
    ['seed: 1\nfault: []', /line 1: Unrecognized key: "fault"/],
    ['demand: { clientAuth: jwt }', /demand\.clientAuth: .*"form"\|"basic"/],
    ['demand: { header: x }', /demand: Unrecognized key: "header"/],
    ['seed: [1', /line 1: /],
    ['faults: &a\n  - *a', /./],
    ['faults: *nowhere', /[Uu]nresolved alias/],
    ['- drop', /line 1: .*object/],
    ['faults: null', /line 1: faults: .*array/],
    ['faults:\n  - { kind: delay }', /line 2: faults\.0\.by: must be a duration/],
    ['faults:\n  - { kind: drop, share: .nan }', /faults\.0\.share: must be a share/],
    [
      'faults:\n  - { kind: answer, status: 429, retryAfter: 120 }',
      /faults\.0\.retryAfter: must be .* unit, such as 120s/,
    ],
    ['faults:\n  - { kind: delay, by: 501h }', /faults\.0\.by: .* at most 500h/],
    [
      'faults:\n  - { kind: drop, from: 2s, until: 1s }',
      /line 2: faults\.0\.until: must be later than from/,
    ],
    [
      'faults:\n  - { kind: drop, on: list, attempts: 1 }',
      /faults\.0\.attempts: only `create` calls have/,
    ],
    [
      'faults:\n  - { kind: drop, on: token, articles: [A] }',
      /faults\.0\.articles: only `create` calls have/,
    ],
    [
      'faults:\n  - { kind: list, show: all, orders: [A] }',
      /faults\.0\.orders: only `create` calls have/,
    ],
    [
      'faults:\n  - { kind: list, show: newest }',
      /faults\.0\.show: must be all, newest:N, oldest:N, paged:N, /,
    ],
  ])('that is invalid is reported with the line: %j', (text, told) => {
    expect(() => loadFaults(text, 'test.yaml')).toThrow(
      expect.objectContaining({ code: 'faults-unreadable', message: expect.stringMatching(told) }),
    );
  });

  test('reports all problems at once', () => {
    const text = 'seed: x\nfaults:\n  - { kind: drop, share: 2 }\n  - { kind: list }';
    expect(() => loadFaults(text, 'test.yaml')).toThrow(
      /line 1: seed[\s\S]*line 3: faults\.0\.share[\s\S]*line 4: faults\.1\.show/,
    );
  });
});

test('every example in config/rehearsals/ is valid', async () => {
  const folder = 'config/rehearsals';
  const names = await readdir(folder);
  expect(names.length).toBeGreaterThan(5);
  const kinds = new Set<string>();
  for (const name of names) {
    const file = loadFaults(await readFile(`${folder}/${name}`, 'utf8'), name);
    for (const { kind } of file.faults) kinds.add(kind);
  }
  expect([...kinds].toSorted()).toEqual([
    'answer',
    'crash',
    'cut',
    'delay',
    'drop',
    'late',
    'list',
    'outage',
    'revoke',
  ]);
});
