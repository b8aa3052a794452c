import { expect, it } from 'vitest';
import { intoInbox, openSteps } from '../../src/order/fixing.ts';

it('the steps of an open dead letter quote a number that a shell would read otherwise', () => {
  const steps = openSteps('A $(id)', ['Correct the fix file.'], true);
  expect(steps).toContainEqual({ command: "po-sync dead-letters discard --order 'A $(id)'" });
});

it('a fix file of an export goes into any inbox, whose path is named', () => {
  const inbox = { type: 'inbox', path: '/in' };
  const own = { type: 'export', path: '/erp.csv' };
  expect(intoInbox({ sources: [inbox] })).toBe('into the inbox');
  expect(intoInbox({ sources: [own, inbox] })).toBe('into an inbox, such as /in');
  expect(intoInbox({ sources: [own] })).toContain('none is configured');
});
