import { createHash, randomUUID } from 'node:crypto';
import { startLoop } from '../../core/backoff/loop.ts';
import { codeOf, PoSyncError } from '../../core/errors.ts';
import { hasInbox } from '../../order/fixing.ts';
import { sourceNamed } from '../named-source.ts';
import type { OperatorContext } from '../operator-context.ts';
import type { Previewed, UploadPreview } from './preview-upload.ts';
import { cleanName, openPrivateFile, type PrivateFile, removeLeftUploads } from './private-file.ts';

/** An uploaded file. It is private to this daemon until it is sent, cancelled, or forgotten after an hour. */
export type Upload = {
  id: string;
  name: string;
  source: string;
  who: string;
  /** Redis time in milliseconds; it is removed at `until`. */
  at: number;
  until: number;
  bytes: number;
  sha256: string;
  /** `failed`: it cannot be read as orders, see `trouble`. */
  state: 'checking' | 'ready' | 'failed' | 'sending';
  preview?: UploadPreview;
  /** The digest of the preview. */
  plan?: string;
  trouble?: { code: string; message: string; remedy?: string };
  /** Of a file that its source does not read: a mapping for it as YAML, with questions. */
  proposal?: string;
  /** The ledger changed since the preview before: this is a new one. */
  changed?: true;
};

/** Files that are kept, and milliseconds that a file is kept. */

const MOST_UPLOADS = 20;
const KEPT = 3_600_000;
const LOOK = 60_000;

export type Received = { source: string; name: string; content: Uint8Array };
export type Kept = { upload: Upload; file: PrivateFile; previewed?: Previewed };

type Shelf = Pick<OperatorContext, 'config' | 'store' | 'clock'>;

/** The uploaded files of this daemon. */
export function createShelf(context: Shelf) {
  const { config, store, clock } = context;
  const places = createPlaces(context);
  const { find, drop, all } = places;

  async function put(received: Received, who: string): Promise<Kept> {
    sourceNamed(received.source, config);
    return places.add(received, who);
  }

  async function expire(): Promise<void> {
    const old = all().filter(
      ({ upload }) => upload.until <= store.time.now() && upload.state !== 'sending',
    );
    for (const { upload } of old) await drop(upload.id);
    await removeLeftUploads(config, 2 * KEPT);
  }

  const loop = startLoop(expire, { pause: LOOK, clock, onTrouble: () => undefined });

  return {
    put,
    find,
    drop,
    all,
    async [Symbol.asyncDispose](): Promise<void> {
      await loop[Symbol.asyncDispose]();
      for (const { file } of all()) await file[Symbol.asyncDispose]();
    },
  };
}

/** The files that are kept, within their number. */
function createPlaces({ config, store: { time } }: Shelf) {
  const kept = new Map<string, Kept>();
  const all = () => [...kept.values()];
  /** Uploads that are not among those kept yet. */
  let arriving = 0;

  /** PoSyncError `too-many-uploads`, `upload-empty`, `upload-not-stored`. */
  async function add({ source, name, content }: Received, who: string): Promise<Kept> {
    arriving += 1;
    try {
      if (kept.size + arriving > MOST_UPLOADS) throw tooMany();
      const file = await storeUpload(name, content, config);
      const [id, at] = [randomUUID(), time.now()];
      const facts = {
        id,
        name: file.name,
        source,
        who,
        at,
        until: at + KEPT,
        bytes: content.length,
        sha256: createHash('sha256').update(content).digest('hex'),
      };
      const one: Kept = { upload: { ...facts, state: 'checking' }, file };
      kept.set(id, one);
      return one;
    } finally {
      arriving -= 1;
    }
  }

  /** PoSyncError `upload-unknown`. */
  function find(id: string): Kept {
    const found = kept.get(id);
    if (found !== undefined) return found;
    throw uploadUnknown();
  }

  async function drop(id: string): Promise<void> {
    const { file } = find(id);
    kept.delete(id);
    await file[Symbol.asyncDispose]();
  }

  return { add, find, drop, all };
}

/** Stores a file in a private place. PoSyncError `upload-empty`, `upload-not-stored`. */
export async function storeUpload(
  name: string,
  content: Uint8Array,
  config: Shelf['config'],
): Promise<PrivateFile> {
  if (content.length === 0)
    throw new PoSyncError('upload-empty', 'The file is empty.', {
      remedy: 'Choose a file with orders.',
    });
  return openPrivateFile(cleanName(name), config, content).catch(notStored);
}

function notStored(error: unknown): never {
  throw new PoSyncError(
    'upload-not-stored',
    `The file could not be stored (${codeOf(error) ?? 'unknown'}).`,
    {
      remedy: 'Check the disk of the folder data.',
      cause: error,
    },
  );
}

/** How a file that cannot be uploaded is submitted. */
export function insteadOfUpload(config: Shelf['config']): string {
  if (hasInbox(config)) return 'Drop it into the inbox.';
  return 'Split it into smaller files. For your operator: a source of type inbox takes files of any size.';
}

function tooMany(): PoSyncError {
  return new PoSyncError('too-many-uploads', `${MOST_UPLOADS} files are uploaded and not sent.`, {
    remedy: 'Send or cancel some of them.',
  });
}

function uploadUnknown(): PoSyncError {
  return new PoSyncError('upload-unknown', 'Upload not found.', {
    remedy:
      'It was cancelled, is older than an hour, or the daemon was restarted. Upload the file again.',
  });
}
