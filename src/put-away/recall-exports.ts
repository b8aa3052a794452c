import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Config, environmentOf } from '../config/config.ts';
import { isPattern } from '../config/source-schema.ts';
import {
  type Claim,
  claimAt,
  fieldsOf,
  mappingDigest,
  NS_IN_MS,
  newestField,
  newestOnly,
  rankOf,
} from '../intake/export-versions.ts';
import type { Batch } from '../ledger/batches/batches.ts';
import { canBeOfSource, claimTimeOf } from '../order/batch.ts';
import type { Store } from '../redis/store.ts';
import { type ReadVersion, type Report, readReport, reportNames } from '../report/report.ts';
import type { SettlementContext } from './put-batch-away.ts';

/**
 * Builds the step that enters which version of each export was read last, as the reports say, into a ledger that lost it. The
 * unchanged export is not read again then: what a person cancelled or discarded in it would be sent. Before any is looked at.
 * Only what was read for this address of the API: another one may not have its orders.
 */
export function createExportRecall({ config, store }: Pick<SettlementContext, 'config' | 'store'>) {
  const { path: reports } = config.reports;

  return async (): Promise<void> => {
    const isHere = ({ readFor }: Report) => readFor === addressOf(config);
    const names = (await reportNames(reports)).reverse();
    for (const { name: source, path, type } of config.sources)
      if (type === 'export') await recallOf({ source, isOneFile: !isPattern(path), isHere }, names);
  };

  async function recallOf({ source, isOneFile, isHere }: Of, names: readonly string[]) {
    const last = new Map<string, Report>();
    for (const name of names) {
      if (!canBeOfSource(name, source)) continue;
      const [known] = last.values();
      // The name says only in which second.
      if (isOneFile && known && claimTimeOf(known.batch) !== claimTimeOf(name)) break;
      const report = await readReport(join(reports, name)).catch(() => undefined);
      const isOwn =
        report?.batch === name &&
        report.environment === config.environment &&
        report.source === source;
      if (!isOwn || !report.isExport || !isHere(report) || !SHA256.test(report.sha256)) continue;
      const file = report.origin ?? report.file;
      // Somebody edited it: no path of a file has `//`.
      if (typeof file !== 'string' || file.includes('//')) continue;
      const isLater = (last.get(file)?.startedAt ?? '') < report.startedAt;
      if (isLater) last.set(file, report);
    }
    for (const report of last.values()) await enter(report);
  }

  /** Where Redis has an older version or none. */
  async function enter({
    batch,
    source,
    file: name,
    origin,
    sha256,
    finishedAt,
    ...report
  }: Report): Promise<void> {
    const { redis, keys } = store;
    const { readWith = mappingDigest(source, config) } = report;
    const { read, mapping, claim } = fieldsOf({ source, name, ...(origin && { origin }) });
    const at = claimTimeOf(batch) ?? 0;
    const last = await claimAt(claim, store);
    if (last && (last.batch === batch || (claimTimeOf(last.batch) ?? 0) > at)) return;
    // The clock of the host may have been wrong.
    const now = store.time.now();
    const changedAt = Date.parse(String(report.changedAt));
    const changed = Number.isNaN(changedAt) ? {} : { changedAt };
    const claimed: Claim = {
      version: `${sha256} ${readWith}`,
      batch,
      at: Math.min(at, now),
      ...changed,
    };
    // The copy of one in progress is read to its end.
    const known = finishedAt === null ? {} : { [read]: sha256, [mapping]: readWith };
    await redis.hset(keys.exports, { ...known, [claim]: JSON.stringify(claimed) });
    if (claimed.changedAt === undefined) return;
    const copy = { name, ...(origin && { origin }), mtimeNs: BigInt(claimed.changedAt) * NS_IN_MS };
    const newest = await redis.hget(keys.exports, newestField(source));
    const [field, , value] = rankOf(copy, newest, {
      source: newestOnly(source, config),
      now,
    }).become;
    if (field !== undefined && value !== undefined) await redis.hset(keys.exports, field, value);
  }
}

type Of = { source: string; isOneFile: boolean; isHere: (report: Report) => boolean };

/**
 * What the report of a batch says of the version of an export that it reads, as far as it is known: its file, where that is not its
 * name, a digest of the mapping, one of the API's address, and with `newestOnly` when the file changed last.
 */
export async function versionReadBy(
  { batch, source, name }: Pick<Batch, 'batch' | 'source' | 'name'>,
  { store, config }: { store: Pick<Store, 'redis' | 'keys'>; config: Config },
): Promise<ReadVersion> {
  const origin = (await store.redis.hget(store.keys.batch(batch), 'origin')) ?? name;
  const last = await claimAt(fieldsOf({ source, name, origin }).claim, store);
  const { version = '', changedAt } = last?.batch === batch ? last : {};
  const [, readWith] = version.split(' ');
  const changed = changedAt === undefined ? {} : { changedAt: new Date(changedAt).toISOString() };
  return {
    ...(origin !== name && { origin }),
    ...(readWith && { readWith }),
    readFor: addressOf(config),
    ...changed,
  };
}

function addressOf(config: Config): string {
  return createHash('sha256').update(environmentOf(config).baseUrl).digest('hex').slice(0, 8);
}

const SHA256 = /^[0-9a-f]{64}$/;
