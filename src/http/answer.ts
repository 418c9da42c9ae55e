// What a handler gives back. The headers every answer has (ids, version, Date, Server, CORS) are added
// when it is written; a handler names only its own.

export type AnswerBody = Buffer | string | AsyncIterable<Buffer> | undefined;

export interface Answer {
  readonly status: number;
  /** Name, value, name, value ...: written at once, in this order. */
  readonly headers: readonly string[];
  /**
   * `Content-Length` is added for a Buffer, a string and no body. A stream is sent with the
   * `Content-Length` among the headers, else chunked. An answer to HEAD carries the headers of the
   * body it does not send.
   */
  readonly body?: AnswerBody;
  /** Said in the status line instead of the usual words. */
  readonly reason?: string | undefined;
}

export function isStream(body: AnswerBody): body is AsyncIterable<Buffer> {
  return body !== undefined && typeof body !== 'string' && !Buffer.isBuffer(body);
}

/** The value of a header in a flat list; the name in any case. */
export function headerIn(headers: readonly string[], name: string): string | undefined {
  const wanted = name.toLowerCase();
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at]?.toLowerCase() === wanted) return headers[at + 1];
  }
  return undefined;
}
