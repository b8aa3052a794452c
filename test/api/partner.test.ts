import { describe, expect, it } from 'vitest';
import { type DeliveryRig, openDeliveryRig } from '../support/delivery-rig.ts';
import { granted, openOddApi, refusal, success } from '../support/odd-api.ts';

const NOTHING = (): void => undefined;

describe('the list of the partner', () => {
  it('is read with a new token after a 401, which every daemon then uses', async () => {
    await using api = await openOddApi({
      list: ({ n }) => (n === 1 ? { status: 401, body: refusal(401) } : { status: 200, body: success([]) }),
    });
    await using rig: DeliveryRig = await openDeliveryRig({ partner: api });
    expect(await rig.partner.list(NOTHING)).toEqual({ kind: 'complete', orders: 0 });
    expect((await rig.partner.tokens.get()).value).toBe('token-2');
  });

  it('that always answers 401 is called twice, and no refused token remains', async () => {
    await using api = await openOddApi({ list: () => ({ status: 401, body: refusal(401) }) });
    await using rig = await openDeliveryRig({ partner: api });
    expect(await rig.partner.list(NOTHING)).toMatchObject({ kind: 'unauthorized' });
    expect(api.calls.map(({ endpoint }) => endpoint)).toEqual(['token', 'list', 'token', 'list']);
    expect((await rig.partner.tokens.get()).value).toBe('token-3');
  });

  it('fails, and throws nothing, while there is no token', async () => {
    let isAway = true;
    await using api = await openOddApi({ token: () => (isAway ? 'drop' : granted('it')) });
    await using rig = await openDeliveryRig({ partner: api });
    expect(await rig.partner.list(NOTHING)).toMatchObject({ kind: 'failed', said: { code: 'token-unavailable' } });
    isAway = false;
    await rig.partner.tokens.first();
    expect(await rig.partner.list(NOTHING)).toMatchObject({ kind: 'complete' });
  });
});
