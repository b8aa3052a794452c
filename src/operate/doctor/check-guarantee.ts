import type { Config } from '../../config/config.ts';
import {
  guaranteeRemedy,
  guaranteeText,
  needsAttention,
  readGuarantee,
} from '../../reconcile/guarantee.ts';
import type { Store } from '../../redis/store.ts';
import type { Finding } from './finding.ts';

/** What the daemons measured of the guarantee until `now`, and the `settle` that it asks for. */
export async function checkGuarantee(
  place: Pick<Store, 'redis' | 'keys'>,
  { delivery: { settle } }: Pick<Config, 'delivery'>,
  now: number,
): Promise<Finding[]> {
  const all = await readGuarantee(place, { settle, now });
  return all
    .filter(({ measured }) => measured !== null)
    .map((one) => {
      const remedy = guaranteeRemedy(one);
      return {
        check: `guarantee ${one.assumption}`,
        state: needsAttention(one) ? 'warn' : 'ok',
        message: guaranteeText(one),
        ...(remedy && { remedy }),
      };
    });
}
