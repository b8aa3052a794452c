import { describe, expect, it } from 'vitest';
import { discardedAgain, intoInbox, openSteps } from '../../src/order/fixing.ts';

describe('the steps of an open dead letter', () => {
  const correct = ['Correct the fix file.'];

  it('do not begin with a correction where the number is sent: they begin with the message', () => {
    const conflict = openSteps('1', { kind: 'conflict' }, { correct, isSent: true });
    expect(conflict.join('\n')).toMatch(
      /^Other content .* Agree on the change with the supplier, then discard .*\n.*discard --order 1\nOnly if it really is another order/,
    );
    const known = { kind: 'invalid', problems: [{ code: 'number-known' }] } as const;
    expect(openSteps('1', known, { correct, isSent: true }).join('\n')).toMatch(
      /Do what its message says, then discard/,
    );
  });

  it('quote a number that a shell would read otherwise', () => {
    const steps = openSteps('A $(id)', { kind: 'conflict' }, { correct, isSent: true });
    expect(steps).toContain("  po-sync dead-letters discard --order 'A $(id)'");
  });
});

it('a row without an order number is not said to be sent again when it was discarded', () => {
  const rows = [{ kind: 'invalid' as const }, { kind: 'invalid' as const }];
  expect(discardedAgain(rows, 2)).toBe('The next file with such a row needs a person again.');
  expect(discardedAgain(rows, 1)).toMatch(
    /can send it: .* The next file with a row without an order number needs/,
  );
  expect(discardedAgain(rows)).not.toContain('row');
});

it('a fix file of an export goes into any inbox, whose path is named', () => {
  const inbox = { type: 'inbox', path: '/in' };
  const own = { type: 'export', path: '/erp.csv' };
  expect(intoInbox({ sources: [inbox] })).toBe('into the inbox');
  expect(intoInbox({ sources: [own, inbox] })).toBe('into an inbox, such as /in');
  expect(intoInbox({ sources: [own] })).toContain('none is configured');
});
