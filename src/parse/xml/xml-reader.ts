import { SaxesParser } from 'saxes';
import { LIMITS } from '../limits.ts';
import { cut, type Place, tooLarge, unreadable } from '../unreadable.ts';

/** What a reader of XML gets. Names have no prefix; `attributes` are by local name, those of namespaces left out. */
export type XmlEvents = {
  onOpen(name: string, attributes: readonly Attribute[], line: number): void;
  onText?(text: string): void;
  onClose(name: string): void;
};

/** `isNil`: `xsi:nil`, whichever its prefix. */
export type Attribute = { name: string; value: string; isNil: boolean };

export type XmlReader = { write(text: string): void; end(): void };

/**
 * Reads an XML document piece by piece. PoSyncError `unreadable-xml` with its place for what is not well-formed, for a
 * document type (it may define anything) and for nesting beyond the limit; `unreadable-incomplete` for a document that
 * ends too early; `unreadable-too-large` for a token beyond the limit.
 */
export function createXmlReader(events: XmlEvents): XmlReader {
  const parser = new SaxesParser({ position: true, xmlns: false });
  const open: string[] = [];
  let pending = 0;
  let line = 1;
  let isEnding = false;

  const place = (): Place => ({ line: parser.line, column: parser.column + 1 });
  const notXml = (reason: string) =>
    unreadable({ code: 'xml', reason: cut(reason, 200), ...place() });

  parser.on('error', (error) => {
    if (!isEnding) throw notXml(error.message.replace(/^\d+:\d+: /, '').replace(/\.$/, ''));
    const lacks = open.length === 0 ? 'its root element' : `the end of element ${open.at(-1)}`;
    throw unreadable({ code: 'incomplete', of: 'xml', lacks, ...place() });
  });
  parser.on('doctype', () => {
    throw notXml('a document type (DOCTYPE) is not allowed');
  });
  parser.on('opentagstart', () => {
    line = parser.line;
  });
  parser.on('opentag', ({ name, attributes }) => {
    pending = 0;
    open.push(localName(name));
    if (open.length > LIMITS.depth) throw notXml(`nested deeper than ${LIMITS.depth} elements`);
    events.onOpen(localName(name), localNames(attributes), line);
  });
  parser.on('text', (text) => events.onText?.(text));
  parser.on('cdata', (text) => events.onText?.(text));
  parser.on('closetag', () => {
    pending = 0;
    events.onClose(open.pop() ?? '');
  });

  return {
    write(text) {
      pending += text.length;
      parser.write(text);
      if (pending <= LIMITS.record + text.length) return;
      throw tooLarge('A value of the XML', LIMITS.record, 'characters', parser.line);
    },
    end() {
      isEnding = true;
      parser.close();
    },
  };
}

/** Handling namespaces makes the parser three times slower; nothing here needs them. */
function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function localNames(attributes: Record<string, string>): Attribute[] {
  return Object.entries(attributes)
    .filter(([name]) => name !== 'xmlns' && !name.startsWith('xmlns:'))
    .map(([name, value]) => ({ name: localName(name), value, isNil: name.endsWith(':nil') }));
}
