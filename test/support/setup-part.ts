/** Loads a part of the set-up, which is plain JavaScript; the caller says what it exports. */
export async function loadSetupPart<Part>(name: string): Promise<Part> {
  return import(new URL(`../../bin/setup/${name}`, import.meta.url).href);
}
