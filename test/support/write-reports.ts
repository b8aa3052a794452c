import { codeOf, PoSyncError } from '../../src/core/errors.ts';
import { type ReportedOrder, writeReport } from '../../src/report/write-report.ts';
import { dead, done, inputOf, rows } from './reported.ts';

// A process for tests: `write-reports.ts FOLDER=ORDERS…` writes one report after the other, half of each order dead,
// and prints `written` or the refusal's code, reason and path for each.
for (const argument of process.argv.slice(2)) {
  const [folder = '', orders = '1'] = argument.split('=');
  process.stdout.write(`${await attempt(folder, Number(orders))}\n`);
}

async function attempt(folder: string, orders: number): Promise<string> {
  try {
    await writeReport(inputOf(folder, samples(orders)));
    return 'written';
  } catch (thrown) {
    if (thrown instanceof PoSyncError)
      return `${thrown.code} ${thrown.facts['reason']} ${thrown.facts['path']}`;
    return `unexpected ${codeOf(thrown)} ${String(thrown)}`;
  }
}

function samples(orders: number): ReportedOrder[] {
  return Array.from({ length: orders }, (_, index) => {
    const records = rows(index + 2, [`PO-${index}`, 'A', '1']);
    return index % 2 === 0
      ? done(records)
      : dead(records, 'refused', '400', 'Parameters are invalid');
  });
}
