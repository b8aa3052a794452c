import { describe, expect, it } from 'vitest';
import { versionOf } from '../../src/core/version.ts';
import { type DeliveryRig, openDeliveryRig } from '../support/delivery-rig.ts';
import { envelope, oddAt, openOddApi } from '../support/odd-api.ts';

const REFUSED = { status: 401, body: envelope(401, 'no') };
const NOTHING = (): void => undefined;

describe('the list of the partner', () => {
  it('is read with a new token after a 401, which every daemon then uses', async () => {
    await using api = await openOddApi(
      oddAt('list', ({ nth }) => (nth === 1 ? REFUSED : undefined)),
    );
    await using rig: DeliveryRig = await openDeliveryRig({ partner: api });
    expect(await rig.partner.list(NOTHING)).toEqual({ kind: 'complete', orders: 0 });
    expect((await rig.partner.tokens.get()).value).toBe('token-2');
  });

  it('that always answers 401 is called twice, and no refused token remains', async () => {
    await using api = await openOddApi(oddAt('list', () => REFUSED));
    await using rig = await openDeliveryRig({ partner: api });
    expect(await rig.partner.list(NOTHING)).toMatchObject({ kind: 'unauthorized' });
    expect(api.calls.map(({ endpoint }) => endpoint)).toEqual(['token', 'list', 'token', 'list']);
    expect((await rig.partner.tokens.get()).value).toBe('token-3');
  });

  it('fails, and throws nothing, while there is no token', async () => {
    let isAway = true;
    await using api = await openOddApi(oddAt('token', () => (isAway ? { drop: true } : undefined)));
    await using rig = await openDeliveryRig({ partner: api });
    expect(await rig.partner.list(NOTHING)).toMatchObject({
      kind: 'failed',
      said: { code: 'token-unavailable' },
    });
    isAway = false;
    await rig.partner.tokens.first();
    expect(await rig.partner.list(NOTHING)).toMatchObject({ kind: 'complete' });
  });
});

it('token, list and orders carry User-Agent: po-sync/<version>', async () => {
  await using api = await openOddApi();
  await using rig = await openDeliveryRig({ partner: api });
  await rig.partner.list(NOTHING);
  const order = {
    purchaseOrderNumber: '1',
    orderState: 'NEW',
    items: [{ articleCode: 'A', quantity: 1 }],
  } as const;
  await rig.partner.create(
    await rig.partner.tokens.get(),
    { ...order, items: [...order.items] },
    async () => true,
  );
  const agents = new Set(api.calls.map(({ endpoint, agent }) => `${endpoint} ${agent}`));
  const agent = `po-sync/${versionOf()}`;
  expect(agents).toEqual(new Set([`token ${agent}`, `list ${agent}`, `create ${agent}`]));
});
