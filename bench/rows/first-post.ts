import { makePlace, startDaemon } from '../contenders/daemon.ts';
import { dropInto } from '../contenders/drop-into.ts';
import { median } from '../median.ts';
import type { Row } from './row.ts';

/** The default of `stable`. */
const STABLE = 2_000;

/** The time from a stable file to its first order on the wire. */
export const firstPost: Row = {
  name: 'first-post',
  title: 'Waiting',
  measure: async (stage) => {
    const place = await makePlace(await stage.makeFolder(), stage.api.origin, '2s');
    await using _ = await startDaemon(place);
    const waits: number[] = [];
    for (let round = 0; round < (stage.quick ? 2 : 7); round += 1) {
      const file = await stage.writeFile(10);
      await stage.api.begin(0, file.orders);
      const dropped = await dropInto(place, file);
      await stage.api.reached();
      const { firstAt } = await stage.api.seen();
      waits.push(firstAt - dropped - STABLE);
      stage.say(`  ${firstAt - dropped} ms from the drop to the first post`);
    }
    return [
      {
        what: 'drop to first post, beyond the 2 s of `stable`',
        unit: 'ms',
        samples: { 'po-sync': waits },
        targets: [{ text: 'ms', value: median(waits), limit: 100, sense: 'at most' }],
      },
    ];
  },
};
