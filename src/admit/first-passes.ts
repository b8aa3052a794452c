import { type Config, mappingsFor, type NamedMapping } from '../config/config.ts';
import { toError } from '../core/errors.ts';
import { hashFile, isRenamed, openRegularFile, stampOf } from '../core/regular-file.ts';
import { type Inspection, inspectOptionsFor, inspectOrders } from '../correct/inspection.ts';
import type { Sentence } from '../order/sentence.ts';
import { lackOf } from '../wording/lack.ts';

/** Results that are kept until their files are claimed. */
const KEPT = 16;

type Options = NonNullable<Parameters<typeof inspectOrders>[2]>;

/** First passes over files that are not claimed yet; a claimed file is not read once more for what its pass found. */
export function createFirstPasses(
  config: Pick<Config, 'sources' | 'mappings' | 'environments' | 'environment'>,
  stopping: AbortSignal,
) {
  let kept: (Inspection & Pick<Options, 'maxOrders'>)[] = [];

  return {
    /** What a file of a source lacks to be complete; undefined for nothing. */
    async lacks(path: string, source: string): Promise<Sentence | undefined> {
      const options = { signal: stopping, ...inspectOptionsFor(config, source) };
      try {
        const found = await inspectOrders(path, mappingsFor(config, source), options);
        kept = [{ ...found, maxOrders: options.maxOrders }, ...kept].slice(0, KEPT);
        return lackOf(found.read);
      } catch (error) {
        return lackOf(toError(error));
      }
    },
    /** As `inspectOrders`, for a file that may have been renamed or copied since its pass. */
    async inspect(
      path: string,
      mappings: readonly NamedMapping[],
      options: Options = {},
    ): Promise<Inspection> {
      await using handle = await openRegularFile(path);
      const stamp = await stampOf(handle);
      const alike = kept.filter(
        (one) =>
          one.bytes === Number(stamp.size) &&
          one.maxOrders === options.maxOrders &&
          one.mappings.length === mappings.length &&
          one.mappings.every(({ mapping }, index) => mapping === mappings[index]?.mapping),
      );
      let known = alike.find((one) => isRenamed(one.stamp, stamp));
      if (known === undefined && alike.length > 0) {
        const { sha256 } = await hashFile(path, options);
        known = alike.find((one) => one.sha256 === sha256);
      }
      if (known === undefined) return await inspectOrders(path, mappings, options);
      kept = kept.filter((one) => one !== known);
      return { ...known, stamp, read: { ...known.read, stamp } };
    },
  };
}
