import { LIMITS } from './limits.ts';

/** Records in pages. */
export function* paged<One>(records: Iterable<One>): Generator<One[]> {
  let page: One[] = [];
  for (const record of records) {
    page.push(record);
    if (page.length < LIMITS.page) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
