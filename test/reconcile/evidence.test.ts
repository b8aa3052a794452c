import { expect, it } from 'vitest';
import { judgeEvidence } from '../../src/reconcile/evidence.ts';

const base = { listedFrom: 1_000_000, settle: 60_000, listed: new Set(['LISTED']), underWay: false };
const grown = (number: string) => ({ number, since: base.listedFrom - 2 * base.settle });
const young = (number: string) => ({ number, since: base.listedFrom - 2 * base.settle + 1 });

it('a list that holds every grown canary is good, and two such lists decide', () => {
  expect(judgeEvidence({ ...base, canaries: [grown('LISTED')] })).toEqual({ kind: 'good', needed: 2 });
});

it('a list without a grown canary is bad', () => {
  expect(judgeEvidence({ ...base, canaries: [grown('LISTED'), grown('GONE')] })).toEqual({
    kind: 'bad',
    missing: 'GONE',
  });
});

it('a canary younger than two settles says nothing: an honest list may lack it', () => {
  expect(judgeEvidence({ ...base, canaries: [grown('LISTED'), young('GONE')] })).toMatchObject({ kind: 'good' });
  expect(judgeEvidence({ ...base, canaries: [young('LISTED'), young('GONE')] })).toEqual({ kind: 'early' });
});

it('without canaries three lists decide, and none while other orders are being sent', () => {
  expect(judgeEvidence({ ...base, canaries: [] })).toEqual({ kind: 'good', needed: 3 });
  expect(judgeEvidence({ ...base, canaries: [], underWay: true })).toEqual({ kind: 'early' });
});
