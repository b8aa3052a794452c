import { shorten } from './text.ts';

/** A batch, with the name of its file, which is forgotten with the batch. */
export type NamedBatch = { batch: string; file?: string | undefined };

/** A batch for people, `"orders.csv" (batch …)`. */
export function batchTitle({ batch, file }: NamedBatch): string {
  return file === undefined ? `batch ${batch}` : `"${file}" (batch ${batch})`;
}

/** The file of a batch where nobody needs the batch; as `batchTitle`. */
export function fileTitle({ batch, file }: NamedBatch): string {
  return file === undefined ? `batch ${batch}` : JSON.stringify(shorten(file, 80));
}
