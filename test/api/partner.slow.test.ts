import { describe, expect, it } from 'vitest';
import { versionOf } from '../../src/core/version.ts';
import { type DeliveryRig, openDeliveryRig } from '../support/delivery-rig.ts';
import { envelope, oddAt, openOddApi } from '../support/odd-api.ts';

const REFUSED = { status: 401, body: envelope(401, 'no') };
const NOTHING = (): void => undefined;

describe('the list of the partner', () => {
  it('is read again with a fresh token that the API does not accept at once', async () => {
    await using api = await openOddApi(oddAt('list', ({ nth }) => (nth < 4 ? REFUSED : undefined)));
    await using rig: DeliveryRig = await openDeliveryRig({ partner: api });
    expect(await rig.partner.list(NOTHING)).toEqual({ kind: 'complete', orders: 0 });
    expect(api.calls.filter(({ endpoint }) => endpoint === 'token')).toHaveLength(1);
  });

  it('that answers 401 to a fresh token is read for some seconds, and says so', async () => {
    await using api = await openOddApi(oddAt('list', () => REFUSED));
    await using rig = await openDeliveryRig({ partner: api });
    expect(await rig.partner.list(NOTHING)).toMatchObject({
      kind: 'unauthorized',
      said: { message: 'the API does not accept fresh tokens yet; no' },
    });
    const calls = api.calls.map(({ endpoint }) => endpoint);
    expect(calls).toEqual(['token', ...Array.from({ length: calls.length - 1 }, () => 'list')]);
    expect(calls.length).toBeLessThan(8);
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
