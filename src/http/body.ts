// The bytes a request carries.

export interface Body extends AsyncIterable<Buffer> {
  /** `Content-Length`; nothing if the request declared none. */
  readonly declaredLength: number | undefined;

  /**
   * The declared length, checked before a byte is read: 411 `MissingContentLengthHeader` if there is
   * none, 413 `RequestBodyTooLarge` if it is above the limit.
   */
  requireLength(limit: number): number;

  /** All of it; 413 `RequestBodyTooLarge` above the limit. A request without a body gives no bytes. */
  readAll(limit: number): Promise<Buffer>;

  // Iterating gives the chunks as they arrive, once, with back-pressure; it throws when the client goes
  // away before the declared length has come. `100 Continue` is sent when reading begins.
}
