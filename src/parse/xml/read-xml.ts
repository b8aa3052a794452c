import { SaxesParser } from 'saxes';
import { LIMITS } from '../../order/limits.ts';
import { unreadable } from '../unreadable.ts';

/** What a reader of XML gets, with names without their prefixes; an attribute keeps it if another has the same name. `line` and `column` are 1-based. */
export type XmlEvents = {
  onOpen(name: string, attributes: ReadonlyMap<string, string>, place: XmlPlace): void;
  onText?(text: string, place: XmlPlace): void;
  onClose(name: string, place: XmlPlace): void;
};

export type XmlPlace = { line: number; column: number };

export type XmlReader = { write(text: string): void; end(): void };

/** Elements within each other. */
const DEPTH = 64;

/**
 * Reads an XML document piece by piece. PoSyncError `unreadable-xml` with its place for what is not well-formed, for a
 * document type (it may define anything) and for nesting beyond the limit; `unreadable-too-large` for a token beyond it.
 */
export function createXmlReader(events: XmlEvents): XmlReader {
  const parser = new SaxesParser({ position: true, xmlns: false });
  let depth = 0;
  let pending = 0;
  let begin = place();

  function place(): XmlPlace {
    return { line: parser.line, column: parser.column + 1 };
  }

  parser.on('error', (error) => {
    throw notXml(place(), reasonOf(error));
  });
  parser.on('doctype', () => {
    throw notXml(place(), 'it has a document type (DOCTYPE)');
  });
  parser.on('opentagstart', () => {
    begin = place();
  });
  parser.on('opentag', ({ name, attributes }) => {
    pending = 0;
    depth += 1;
    if (depth > DEPTH) throw notXml(place(), `it nests deeper than ${DEPTH} elements`);
    events.onOpen(localName(name), localNames(attributes), begin);
  });
  parser.on('text', (text) => events.onText?.(text, place()));
  parser.on('cdata', (text) => events.onText?.(text, place()));
  parser.on('closetag', ({ name }) => {
    pending = 0;
    depth -= 1;
    events.onClose(localName(name), place());
  });

  return {
    write(text) {
      pending += text.length;
      parser.write(text);
      if (pending > LIMITS.recordBytes + text.length) throw tooLarge(place());
    },
    end() {
      parser.close();
    },
  };
}

/** Handling namespaces makes the parser three times slower; nothing here needs them. */
function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function localNames(attributes: Record<string, string>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [name, value] of Object.entries(attributes)) {
    const local = localName(name);
    const isOwn = !name.startsWith('xmlns') && !names.has(local);
    names.set(isOwn ? local : name, value);
  }
  return names;
}

/** The parser's own words begin with its place. */
function reasonOf(error: Error): string {
  return error.message.replace(/^\d+:\d+: /, '').replace(/\.$/, '');
}

function notXml({ line, column }: XmlPlace, reason: string) {
  const message = `Line ${line}, column ${column}: the XML cannot be read, ${reason}.`;
  return unreadable('xml', message, { line, column }, remedyOf(reason));
}

function remedyOf(reason: string): string {
  if (reason.includes('DOCTYPE'))
    return 'Remove the document type: it may change what every value means.';
  if (reason.includes('entity'))
    return 'Write the character itself, or its number (such as &#160;).';
  if (/only one root|XML declaration must|outside of root/.test(reason))
    return 'A file is one document: if these are several, drop each as a separate file.';
  return 'Drop the complete file again, or correct the XML there.';
}

function tooLarge({ line }: XmlPlace) {
  const message = `The value that begins on line ${line} is longer than ${LIMITS.recordBytes} characters.`;
  return unreadable('too-large', message, { line, limit: LIMITS.recordBytes });
}
