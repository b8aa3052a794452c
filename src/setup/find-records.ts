import { openRegularFile, stampOf } from '../core/regular-file.ts';
import { isGzip, readStart } from '../parse/bytes.ts';
import { decodeStart, encodingOf } from '../parse/decoder.ts';
import { LIMITS } from '../parse/limits.ts';
import type { Declared } from '../parse/record.ts';
import { createXmlReader } from '../parse/xml/xml-reader.ts';
import { rolesIn } from './names.ts';

/** What is at one path of a document: how many objects, and the names of what is inside them. */
type Place = { steps: readonly string[]; objects: number; names: Set<string>; isList: boolean };

/**
 * The path to the list of orders in a document, for `records`: of those with the names that orders have, the one with the
 * most records, or the innermost one. Undefined where the document is a list itself, or nothing of it can be read.
 */
export async function findRecords(
  path: string,
  format: 'json' | 'xml',
  declared: Declared,
): Promise<string | undefined> {
  const places =
    format === 'xml' ? await placesOfXml(path, declared) : await placesOfJson(path, declared);
  const isOnce = (steps: readonly string[]) =>
    steps.length === 0 || (places.get(keyOf(steps.slice(0, -1)))?.objects ?? 1) === 1;
  const candidates = [...places.values()].filter(
    ({ steps, isList }) =>
      isOnce(steps) && (format === 'xml' ? steps.length > 0 : isList || steps.length === 0),
  );

  const [best] = candidates.toSorted(
    (a, b) =>
      rolesIn(b.names) - rolesIn(a.names) ||
      b.objects - a.objects ||
      b.steps.length - a.steps.length,
  );
  if (best === undefined || best.steps.some((step) => step === '' || step.includes('.')))
    return undefined;
  const isDocument = format === 'json' && best.steps.length === 0;
  return isDocument && best.isList ? undefined : best.steps.join('.');
}

function keyOf(steps: readonly string[]): string {
  return JSON.stringify(steps);
}

type Places = Map<string, Place>;

const MOST_PLACES = 2_000;
const MOST_NAMES = 200;

function placeAt(places: Places, steps: readonly string[]): Place | undefined {
  const key = keyOf(steps);
  const known = places.get(key);
  if (known !== undefined || places.size >= MOST_PLACES) return known;
  const place: Place = { steps, objects: 0, names: new Set(), isList: false };
  places.set(key, place);
  return place;
}

/** Adds a name to all places above it. */
function noteName(places: Places, steps: readonly string[], name: string) {
  for (let depth = 0; depth <= steps.length; depth++) {
    const names = places.get(keyOf(steps.slice(0, depth)))?.names;
    if (names !== undefined && names.size < MOST_NAMES)
      names.add([...steps.slice(depth), name].join('.'));
  }
}

async function placesOfXml(path: string, declared: Declared): Promise<Places> {
  const places: Places = new Map();
  const open: string[] = [];
  const reader = createXmlReader({
    onOpen(name, attributes) {
      if (open.length > 0) noteName(places, open, name);
      open.push(name);
      const place = placeAt(places, [...open]);
      if (place !== undefined) place.objects += 1;
      for (const one of attributes) noteName(places, open, one.name);
    },
    onClose: () => void open.pop(),
  });
  reader.write(await startOf(path, declared, LIMITS.head));

  // An element without anything inside is a value.
  for (const [key, { names }] of places) if (names.size === 0) places.delete(key);
  return places;
}

async function placesOfJson(path: string, declared: Declared): Promise<Places> {
  const places: Places = new Map();
  let document: unknown;
  try {
    document = JSON.parse(await startOf(path, declared, LIMITS.document));
  } catch {
    // The reader of the format says what is wrong with it.
    return places;
  }

  function look(value: unknown, steps: readonly string[], depth: number) {
    if (typeof value !== 'object' || value === null || depth > LIMITS.depth) return;
    const place = placeAt(places, steps);
    if (place === undefined) return;
    if (Array.isArray(value)) {
      const objects = value.filter((one) => typeof one === 'object' && !Array.isArray(one));
      place.isList = objects.length > 0 || value.length === 0;
      if (objects.length === 0) return void (steps.length > 0 && places.delete(keyOf(steps)));
      for (const one of objects.slice(0, LOOKED_AT)) look(one, steps, depth + 1);
      place.objects += Math.max(0, objects.length - LOOKED_AT);
      return;
    }
    place.objects += 1;
    for (const [key, inner] of Object.entries(value)) {
      noteName(places, steps, key);
      look(inner, [...steps, key], depth + 1);
    }
  }

  look(document, [], 0);
  return places;
}

/** Elements of a list whose names are looked at. */
const LOOKED_AT = 500;

async function startOf(path: string, declared: Declared, length: number): Promise<string> {
  await using handle = await openRegularFile(path);
  const bytes = await readStart(handle, await stampOf(handle), await isGzip(handle), length);
  const { encoding, mark } = encodingOf(bytes, declared.encoding);
  return decodeStart(bytes.subarray(mark), encoding);
}
