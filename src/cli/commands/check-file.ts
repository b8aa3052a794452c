import type { Mapping } from '../../config/config.ts';
import type { Order } from '../../order/order.ts';
import type { FileFormat, Problem } from '../../order/record.ts';
import { inspectFile } from '../../parse/inspect.ts';
import { readOrders } from '../../validate/read-orders.ts';

/** Told of a file while it is checked: first its format, then each problem where it stands. */
export type CheckTeller = {
  onFormat(format: FileFormat, records: number, warnings: readonly string[]): void;
  /** `order` is the order's number, "" when it has none. */
  onProblem(problem: Problem, order: string): void;
};

/** What a readable file holds. `first` is its first valid order, exactly as it would be sent. */
export type CheckedFile = { orders: number; invalid: number; first?: Order };

/** Reads, maps and checks one file as the daemon would. PoSyncError as `proveFile`. */
export async function checkFile(
  file: string,
  mapping: Mapping | undefined,
  teller: CheckTeller,
  signal: AbortSignal,
): Promise<CheckedFile> {
  const inspection = await inspectFile(file, mapping, { signal });
  teller.onFormat(inspection.shape.format, inspection.records, inspection.warnings);
  const checked: CheckedFile = { orders: 0, invalid: 0 };
  for await (const order of readOrders(file, inspection, mapping, { signal })) {
    checked.orders += 1;
    if (order.valid) {
      checked.first ??= order.order;
      continue;
    }
    checked.invalid += 1;
    for (const problem of order.problems) teller.onProblem(problem, order.number);
  }
  return checked;
}
