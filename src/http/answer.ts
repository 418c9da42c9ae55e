// What a handler gives back. The headers every answer has (ids, version, Date, Server, CORS) are added
// when it is written; a handler names only its own.

export interface Answer {
  readonly status: number;
  /** Name, value, name, value ...: written at once, in this order. */
  readonly headers: readonly string[];
  /**
   * `Content-Length` is added for a Buffer, a string and no body. A stream is sent with the
   * `Content-Length` among the headers, else chunked. An answer to HEAD carries the headers of the
   * body it does not send.
   */
  readonly body?: Buffer | string | AsyncIterable<Buffer> | undefined;
}
