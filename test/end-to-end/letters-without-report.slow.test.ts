import { rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openOperator } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';

it('an order that needs a person is named by its file where the report is gone', async () => {
  await using place = await openWorkplace();
  const person = await openOperator(place, place.start(['start']));
  await place.drop(
    'wrong.csv',
    'purchaseOrderNumber,orderState,articleCode,quantity\nPO-1,NEW,A,1\nPO-2,NEW,,1\n',
  );
  const { batch } = await until('the report', async () =>
    (await place.reportsNow()).find((one) => one.state === 'finished'),
  );
  // Its report is written before its file is put away.
  await until('the batch is done', async () => {
    const { body } = await person.call('GET', `/batches/show?batch=${batch}`);
    return body['state'] === 'finished' && body['settledPath'];
  });
  const report = path.join(place.reports, batch);
  const list = async (...filter: string[]) => {
    const { code, out } = await place.run(['--json', 'dead-letters', 'list', ...filter]);
    return { code, ...JSON.parse(out) };
  };
  expect((await list()).withoutReport).toBeUndefined();
  await rm(report, { recursive: true });

  const withoutReport = [{ batch, file: 'wrong.csv', orders: 1, report }];
  for (const filter of [[], ['--batch', batch.slice(-8)], ['--order', 'PO-2']])
    expect(await list(...filter)).toMatchObject({ code: 0, deadLetters: [], withoutReport });
  expect((await list('--order', 'PO-1')).withoutReport).toBeUndefined();
  expect((await list('--kind', 'invalid')).withoutReport).toBeUndefined();
  const text = `1 order of wrong.csv (batch ${batch}) needs a person, but its report in ${report} is gone: restore the report from a backup, or drop the file again. Orders that the API has are not sent again.`;
  expect(await place.run(['dead-letters', 'list'])).toMatchObject({ code: 0, out: `${text}\n` });
  const page = await until('the page', async () => {
    const { status, text: shown } = await person.page('/dead-letters');
    return status === 200 && shown.includes('is gone') && shown;
  });
  expect(page).toContain(text);
  expect(page).not.toContain('No order needs a person');
});
