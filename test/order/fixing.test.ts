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

  it('of a number in another spelling say first to look at both contents where the items differ', () => {
    const stepsOf = (items: string) => {
      const message = `order 088 differs from 88, which is accepted with ${items} items, only in case`;
      const problems = [{ code: 'other-spelling', message }];
      return openSteps('088', { kind: 'invalid', problems }, { correct, isSent: false });
    };
    expect(stepsOf('the same')[0]).toMatch(/same order .*, discard it:$/);
    expect(stepsOf('other')[0]).toMatch(/enter the number of that one to see both contents/);
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

it('an order held for another spelling of its number is not said to be sent by the next file', () => {
  const held = { kind: 'invalid' as const, problems: [{ code: 'other-spelling' }] };
  const cannot =
    'cannot send it while its number is, in this or another spelling, accepted or in progress.';
  expect(discardedAgain([held])).toBe(`A file that brings a discarded order again ${cannot}`);
  expect(discardedAgain([held, { kind: 'invalid' }])).toContain(
    'Those whose number is, in this or another spelling,',
  );
});

it('a fix file of an export goes into any inbox, whose path is named', () => {
  const inbox = { type: 'inbox', path: '/in' };
  const own = { type: 'export', path: '/erp.csv' };
  expect(intoInbox({ sources: [inbox] })).toBe('into the inbox');
  expect(intoInbox({ sources: [own, inbox] })).toBe('into an inbox, such as /in');
  expect(intoInbox({ sources: [own] })).toContain('none is configured');
});
