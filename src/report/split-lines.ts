/**
 * Cuts text into lines, each with its end (LF, CRLF or CR). With `quotes` set, a line end between double quotes does
 * not end a line, as in CSV whose quotes are doubled within a quoted cell.
 */
export async function* splitLines(chunks: AsyncIterable<string>, quotes: boolean): AsyncGenerator<string> {
  const marks = quotes ? /["\r\n]/g : /[\r\n]/g;
  let line = '';
  let isQuoted = false;
  for await (const chunk of chunks) {
    const text = line + chunk;
    let start = 0;
    marks.lastIndex = line.length;
    // A CR at the very end may be the half of a CRLF: it is looked at again with what follows.
    if (line.endsWith('\r') && !isQuoted) marks.lastIndex -= 1;
    for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
      if (mark[0] === '"') isQuoted = !isQuoted;
      else if (!isQuoted && !(mark[0] === '\r' && mark.index === text.length - 1)) {
        if (mark[0] === '\r' && text[mark.index + 1] === '\n') marks.lastIndex += 1;
        yield text.slice(start, marks.lastIndex);
        start = marks.lastIndex;
      }
    }
    line = text.slice(start);
  }
  if (line !== '') yield line;
}
