import type { Inspection } from '../../correct/inspection.ts';
import { type FileOf, inspectAs, type ReadAs, type ReadAsDeps } from '../../correct/read-as.ts';
import { readOrderPages } from '../../correct/read-orders.ts';
import type { Column } from '../../mapping/plan.ts';
import type { CheckedOrder } from '../../order/order.ts';

/** What a check meets. */
export type CheckEvents = {
  inspected?(found: ReadAs): void;
  order(order: CheckedOrder): Promise<void> | void;
};

/**
 * Reads, maps and checks a file as a daemon does, and reports each order. Sends nothing. Throws like `inspectFile`, or
 * the reason why a file must not be read.
 */
export async function checkFile(
  file: FileOf,
  { signal, ...deps }: ReadAsDeps & { signal: AbortSignal },
  on: CheckEvents,
): Promise<Inspection> {
  const found = await inspectAs(file, deps, signal);
  const { inspection } = found;
  on.inspected?.(found);
  for await (const page of readOrderPages(file.path, inspection, { signal }))
    for (const order of page) {
      const reported = on.order(order);
      if (reported !== undefined) await reported;
    }
  return inspection;
}

/** What happens to a column of a file: what it is, `ignored`, or `undeclared`. */
export type ColumnUse = { column: string; use: string };

/** Each declared column that the file has and what it is, and those that nobody declared. */
export function columnUses({ read: { reading, state } }: Inspection): ColumnUse[] {
  if (reading === undefined) return [];
  const { plan, survey } = reading;
  const declared = plan.columns.flatMap((column, index) =>
    (survey.layout.at[index] ?? -1) < 0
      ? []
      : [{ column: survey.layout.names[index] ?? column.name, use: useOf(column) }],
  );
  const undeclared =
    state !== 'ready' && state.waits.code === 'layout'
      ? state.waits.facts.undeclared
      : survey.undeclared;
  return [...declared, ...undeclared.map(({ name }) => ({ column: name, use: 'undeclared' }))];
}

function useOf({ role, field, send, skip }: Column): string {
  if (role !== undefined) return role;
  if (field !== undefined) return `field ${field.name}`;
  return send === undefined && skip === undefined ? 'ignored' : 'condition';
}
