import { noOutcomes } from '../../src/order/outcome.ts';
import { type ReportedOrder, writeReport } from '../../src/report/write-report.ts';
import { inputOf, problem, reportOf, rows, wrong } from './reported.ts';

// A process for tests: `write-many-dead.ts FOLDER COUNT` reports so many invalid orders, made one by one.
const [folder = '', count = '0'] = process.argv.slice(2);
const orders = Number(count);

async function* invalid(): AsyncGenerator<ReportedOrder> {
  for (let index = 0; index < orders; index += 1) {
    const line = index * 2 + 2;
    const cells = [`PO-${index}`, `ARTICLE-${index}`, `${index},5`];
    yield wrong(
      rows(line, cells, cells),
      problem(line),
      problem(line + 1, { value: `${index},5` }),
    );
  }
}

const report = reportOf([], {
  counts: { records: orders * 2, orders, skipped: 0, ...noOutcomes(), invalid: orders },
});
await writeReport(inputOf(folder, [], { report, orders: invalid() }));
