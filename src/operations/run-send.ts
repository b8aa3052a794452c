import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { count, counted } from '../core/format.ts';
import { sourceNamed } from '../operate/named-source.ts';
import {
  type Previewed,
  previewUpload,
  type UploadPreview,
} from '../operate/uploads/preview-upload.ts';
import { cleanName, openPrivateFile } from '../operate/uploads/private-file.ts';
import { previewOutdated, sendPreviewed } from '../operate/uploads/send-previewed.ts';
import { fileWaitText } from '../wording/file-wait.ts';
import type { Act, Plan } from './operation.ts';
import { needIntake } from './run-correct.ts';

type SendInput = {
  file: string;
  source?: string | undefined;
  plan?: string | undefined;
  dryRun: boolean;
};
export type SendPlan = Plan & { path: string; source: string; previewed: Previewed };

/** Sends a file after a preview. PoSyncError `source-unknown`, `preview-outdated`, and those of a file that cannot be read. */
export const send: Act<SendInput, SendPlan> = {
  async plan({ file, source: named, plan, dryRun }, context) {
    const { config, stopping: signal, readList } = context;
    const source = sourceNamed(named, config, file).name;
    const previewed = await previewUpload({ path: file, source }, context, { readList, signal });
    const id = previewed.digest;
    if (plan !== undefined && plan !== id) throw previewOutdated();
    const { preview } = previewed;
    const name = cleanName(path.basename(file));
    const { conflict, invalid, waiting } = preview;
    return {
      on: name,
      question: `Send ${counted(preview.new + preview.unknown, 'order')} of ${name}?`,
      ...(dryRun && { id }),
      json: { dryRun, id, file: name, source, ...previewJson(preview) },
      isEmpty: preview.records === 0,
      needsPerson: conflict + invalid + waiting > 0 || preview.waits !== undefined,
      path: file,
      source,
      previewed,
    };
  },
  async run({ on: name, path: from, source, previewed, needsPerson = false }, context) {
    const take = needIntake(context.take);
    // Its bytes stay the same from here.
    await using file = await openPrivateFile(name, context.config);
    await copyFile(from, file.path);
    const { who } = context.operator;
    const end = await sendPreviewed({ file, source, previewed, who }, context, take);
    if ('now' in end) throw previewOutdated();
    const { new: sent, unknown } = previewed.preview;
    const text = `${name} is submitted as batch ${end.batch}: ${count(sent + unknown)} to send.`;
    const json = { batch: end.batch, file: name, new: sent, unknown };
    return { text, json, needsPerson };
  },
};

/** The counts, the first problems and the first orders that would be sent. */
function previewJson({ waits, problems, ...preview }: UploadPreview) {
  const {
    orders,
    records,
    unknown,
    duplicate,
    conflict,
    waiting,
    invalid,
    list,
    warnings,
    toSend,
  } = preview;
  const counts = { orders, new: preview.new, unknown, duplicate, conflict, waiting, invalid };
  const wait = waits && { waits: { ...waits, message: fileWaitText(waits) } };
  return { records, ...counts, ...wait, list, warnings, problems, toSend };
}
