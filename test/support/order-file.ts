import { createOrderTable, type NewOrder, openDatabase } from '../../src/sandbox/database.ts';

/** Stores orders in the data file of a sandbox of `staging` that is not running. */
export function storeOrders(folder: string, orders: Iterable<NewOrder>): void {
  using database = openDatabase(folder, 'staging');
  const table = createOrderTable(database);
  database.exec('BEGIN');
  for (const order of orders) table.insert(order);
  database.exec('COMMIT');
}
