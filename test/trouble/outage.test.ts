import { describe, expect, it } from 'vitest';
import { numbersOf, openDeliveryRig } from '../support/delivery-rig.ts';

describe('an API that takes no orders', () => {
  it.each([1, 3])(
    'while its list still answers costs %i orders no attempt, however long it lasts',
    async (orders) => {
      // About ten seconds.
      const faults = [{ kind: 'answer', status: 500, body: 'html', calls: '3-32' }];
      await using rig = await openDeliveryRig({ delivery: { attempts: 3 }, faults: { faults } });
      await rig.submit('b0', ['BEFORE-1', 'BEFORE-2']);
      await rig.settled();
      await rig.submit('b1', numbersOf(orders));
      await rig.settled(240_000);
      expect(await rig.batches.find('b1')).toMatchObject({
        counts: { accepted: orders, failed: 0 },
      });
      const calls = rig.events.filter(({ type }) => type === 'received').length;
      expect(calls).toBeGreaterThan(3 * orders);
      const logged = rig.lines.map(({ msg }) => String(msg));
      expect(logged.filter((msg) => msg.startsWith('delivery paused'))).toHaveLength(1);
    },
  );

  it('because of a single order fails that order only', async () => {
    const faults = [{ kind: 'answer', status: 500, body: 'html', orders: ['PO-0001'] }];
    await using rig = await openDeliveryRig({
      delivery: { attempts: 8 },
      faults: { faults },
      environment: { list: 'trust' },
    });
    await rig.submit('b1', numbersOf(20));
    await rig.settled();
    expect(await rig.batches.find('b1')).toMatchObject({ counts: { accepted: 19, failed: 1 } });
  });
});
