import { isKeyed, isList } from '../mapping/value.ts';
import { LIMITS } from '../parse/limits.ts';
import type { Value } from '../parse/record.ts';
import { rolesIn } from './names.ts';

/** What is at one path of documents: how many objects, the names of what is inside them, and whether they are in a list. */
type Place = { steps: readonly string[]; objects: number; names: Set<string>; isList: boolean };

type Places = ReadonlyMap<string, Place>;

const MOST_PLACES = 2_000;
const MOST_NAMES = 200;
/** Elements of one list whose names are looked at. */
const LOOKED_AT = 500;

/** All places of objects in documents; those in a list have the path of the list. */
function placesIn(documents: Iterable<Value>): Places {
  const places = new Map<string, Place>();
  function placeAt(steps: readonly string[]): Place | undefined {
    const key = keyOf(steps);
    const known = places.get(key);
    if (known !== undefined || places.size >= MOST_PLACES) return known;
    const place: Place = { steps, objects: 0, names: new Set(), isList: false };
    places.set(key, place);
    return place;
  }
  function look(value: Value, steps: readonly string[], around: readonly Place[]) {
    if (isList(value)) {
      const objects = value.filter(isKeyed);
      const place = objects.length > 0 || value.length === 0 ? placeAt(steps) : undefined;
      if (place === undefined) return;
      place.isList = true;
      for (const one of objects.slice(0, LOOKED_AT)) look(one, steps, around);
      place.objects += Math.max(0, objects.length - LOOKED_AT);
    } else if (isKeyed(value) && steps.length <= LIMITS.depth) {
      const place = placeAt(steps);
      if (place === undefined) return;
      place.objects += 1;
      const all = [...around, place];
      for (const [key, inner] of Object.entries(value)) {
        const path = [...steps, key];
        for (const { names, steps: of } of all)
          if (names.size < MOST_NAMES) names.add(path.slice(of.length).join('.'));
        look(inner, path, all);
      }
    }
  }
  for (const document of documents) look(document, [], []);
  return places;
}

function keyOf(steps: readonly string[]): string {
  return JSON.stringify(steps);
}

/** The place with the most of these roles, then with the most objects, then the innermost one. */
function best(places: readonly Place[], rank: (place: Place) => number): Place | undefined {
  const named = places.filter(
    ({ steps }) => !steps.some((step) => step === '' || step.includes('.')),
  );
  return named.toSorted(
    (a, b) => rank(b) - rank(a) || b.objects - a.objects || b.steps.length - a.steps.length,
  )[0];
}

/**
 * The path to the list of orders in a document, for `records`. Undefined where the document is a list itself, or nothing of
 * it can be read. The first step of XML is its root.
 */
export function findRecords(document: Value, isXml: boolean): string | undefined {
  const places = placesIn([document]);
  const isOnce = (steps: readonly string[]) =>
    steps.length === 0 || places.get(keyOf(steps.slice(0, -1)))?.objects === 1;
  const candidates = [...places.values()].filter(
    ({ steps, isList }) =>
      isOnce(steps) && (isXml ? steps.length > 0 : isList || steps.length === 0),
  );
  const found = best(candidates, ({ names }) => rolesIn(names));
  if (found === undefined || (found.isList && found.steps.length === 0)) return undefined;
  return found.steps.join('.');
}

const OF_ITEMS = ['article', 'quantity'] as const;

/** The path to the items in orders: a list, or in XML also a single element, that has more names of items than the rest. */
export function findItems(orders: Iterable<Value>, isXml: boolean): readonly string[] | undefined {
  const places = [...placesIn(orders).values()];
  const all = [...(places.find(({ steps }) => steps.length === 0)?.names ?? [])];
  const lists = places.filter(({ isList, steps }) => isList && steps.length > 0);
  const isIn = (name: string, { steps }: Place) => name.startsWith(`${steps.join('.')}.`);
  const plain = all.filter((name) => !lists.some((list) => isIn(name, list)));
  const rank = ({ names, isList }: Place) => 2 * rolesIn(names, OF_ITEMS) + Number(isList);
  const candidates = places.filter((place) => {
    const { steps, isList, names } = place;
    if (steps.length === 0 || !(isList || isXml)) return false;
    const outside = rolesIn(
      plain.filter((name) => !isIn(name, place)),
      OF_ITEMS,
    );
    return rolesIn(names, OF_ITEMS) > outside || (isList && outside === 0);
  });
  return best(candidates, rank)?.steps;
}
