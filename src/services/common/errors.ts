// The catalogue of refusals: every code a client of any service can be told, with the sentence Azure says.
//
// A pure rule returns a code; an operation throws it as a StorageError, which aborts its transaction; a
// protocol turns it into bytes (src/http/status.ts has the status of each code).
//
// One code, several sentences. Where only the noun differs, the sentence has it in braces, `{blob}`, and
// the thrower names another: new StorageError('LeaseIdMissing', { resource: 'container' }). Where the whole
// sentence differs (InsufficientAccountPermissions), the thrower gives `message`.
//
// One code, several statuses. The usual one is in status.ts; the thrower gives `status` for the other:
// ConditionNotMet 412, and 304 for a read that found nothing newer; InvalidAuthenticationInfo 400, and 401
// for a bad bearer token; CannotVerifyCopySource 500, and whatever the source answered;
// FeatureVersionMismatch 409, and 400 in the file service. It is the one word of HTTP in the services.

import type { Result } from '../../base/result.js';

export const errors = {
  // Any service
  AccountAlreadyExists: 'The specified account already exists.',
  AccountBeingCreated: 'The specified account is in the process of being created.',
  AccountIsDisabled: 'The specified account is disabled.',
  AuthenticationFailed:
    'Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.',
  AuthorizationFailure: 'This request is not authorized to perform this operation.',
  AuthorizationPermissionMismatch:
    'This request is not authorized to perform this operation using this permission.',
  AuthorizationProtocolMismatch:
    'This request is not authorized to perform this operation using this protocol.',
  AuthorizationResourceTypeMismatch:
    'This request is not authorized to perform this operation using this resource type.',
  AuthorizationServiceMismatch:
    'This request is not authorized to perform this operation using this service.',
  AuthorizationSourceIPMismatch:
    'This request is not authorized to perform this operation using this source IP.',
  BothCrc64AndMd5HeaderPresent: 'Both x-ms-content-crc64 header and content-md5 header are present.',
  ConditionHeadersNotSupported: 'Condition headers are not supported.',
  ConditionNotMet: 'The condition specified using HTTP conditional header(s) is not met.',
  CorsPreflightFailure: 'CORS not enabled or no matching rule found for this request.',
  Crc64Mismatch:
    'The CRC64 value specified in the request did not match with the CRC64 value calculated by the server.',
  EmptyMetadataKey: 'The key for one of the metadata key-value pairs is empty.',
  FeatureVersionMismatch: 'Stored access policy contains a permission that is not supported by this version.',
  HostInformationNotPresent:
    'The required host information is not present in the request. You must send a non-empty Host header or include the absolute URI in the request line.',
  InsufficientAccountPermissions:
    'The account being accessed does not have sufficient permissions to execute this operation.',
  InternalError: 'Server encountered an internal error. Please try again after some time.',
  InvalidAuthenticationInfo:
    'Authentication information is not given in the correct format. Check the value of Authorization header.',
  InvalidHeaderValue: 'The value for one of the HTTP headers is not in the correct format.',
  InvalidHttpVerb: 'The HTTP verb specified was not recognized by the server.',
  InvalidInput: 'One of the request inputs is not valid.',
  InvalidMd5:
    'The MD5 value specified in the request is invalid. MD5 value must be 128 bits and base64 encoded.',
  InvalidMetadata: 'The metadata specified is invalid. It has characters that are not permitted.',
  InvalidQueryParameterValue:
    'Value for one of the query parameters specified in the request URI is invalid.',
  InvalidRange: 'The range specified is invalid for the current size of the resource.',
  InvalidResourceName: 'The specifed resource name contains invalid characters.', // sic
  InvalidUri: 'The requested URI does not represent any resource on the server.',
  InvalidXmlDocument: 'XML specified is not syntactically valid.',
  InvalidXmlNodeValue: 'The value for one of the XML nodes is not in the correct format.',
  Md5Mismatch:
    'The MD5 value specified in the request did not match with the MD5 value calculated by the server.',
  MetadataTooLarge: 'The size of the specified metadata exceeds the maximum size permitted.',
  MissingContentLengthHeader: 'The Content-Length header was not specified.',
  MissingRequiredHeader: "An HTTP header that's mandatory for this request is not specified.",
  MissingRequiredQueryParameter: "A query parameter that's mandatory for this request is not specified.",
  MissingRequiredXmlNode: 'A required XML node was not specified in the request body.',
  MultipleConditionHeadersNotSupported: 'Multiple condition headers are not supported.',
  MutuallyExclusiveQueryParameters: 'The specified query parameters cannot be used together.',
  NoAuthenticationInformation:
    'Server failed to authenticate the request. Please refer to the information in the www-authenticate header.',
  NotImplemented: 'The requested operation is not implemented on the specified resource.',
  OperationTimedOut: 'Operation could not be completed within the specified time.',
  OutOfRangeInput: 'One of the request inputs is out of range.',
  OutOfRangeQueryParameterValue:
    'One of the query parameters specified in the request URI is outside the permissible range.',
  PublicAccessNotPermitted: 'Public access is not permitted on this storage account.',
  RequestBodyTooLarge: 'The request body is too large and exceeds the maximum permissible limit.',
  RequestUrlFailedToParse: 'The url in the request could not be parsed.',
  ResourceAlreadyExists: 'The specified resource already exists.',
  ResourceNotFound: 'The specified resource does not exist.',
  ResourceTypeMismatch: 'The specified resource type does not match the type of the existing resource.',
  ServerBusy: 'The server is busy.',
  UnsatisfiableCondition: 'The request includes an unsatisfiable condition for this operation.',
  UnsupportedHeader: 'One of the HTTP headers specified in the request is not supported.',
  UnsupportedHttpVerb: "The resource doesn't support specified Http Verb.",
  UnsupportedQueryParameter: 'One of the query parameters specified in the request URI is not supported.',
  UnsupportedXmlNode: 'One of the XML nodes specified in the request body is not supported.',

  // Leases, of blobs and containers, files and shares
  InfiniteLeaseDurationRequired:
    'The lease ID matched, but the specified lease must be an infinite-duration lease.',
  LeaseAlreadyBroken: 'The lease has already been broken and cannot be broken again.',
  LeaseAlreadyPresent: 'There is already a lease present.',
  LeaseIdMismatchWithBlobOperation: 'The lease ID specified did not match the lease ID for the {blob}.',
  LeaseIdMismatchWithContainerOperation:
    'The lease ID specified did not match the lease ID for the {container}.',
  LeaseIdMismatchWithFileOperation: 'The lease ID specified did not match the lease ID for the {file}.',
  LeaseIdMismatchWithLeaseOperation: 'The lease ID specified did not match the lease ID for the {blob}.',
  LeaseIdMissing: 'There is currently a lease on the {blob} and no lease ID was specified in the request.',
  LeaseIsBreakingAndCannotBeAcquired:
    'The lease ID matched, but the lease is currently in breaking state and cannot be acquired until it is broken.',
  LeaseIsBreakingAndCannotBeChanged:
    'The lease ID matched, but the lease is currently in breaking state and cannot be changed.',
  LeaseIsBrokenAndCannotBeChanged:
    'The lease ID matched, but the lease has been broken explicitly and cannot be changed.',
  LeaseIsBrokenAndCannotBeRenewed:
    'The lease ID matched, but the lease has been broken explicitly and cannot be renewed.',
  LeaseLost: 'A lease ID was specified, but the lease for the {blob} has expired.',
  LeaseNotPresentWithBlobOperation: 'There is currently no lease on the {blob}.',
  LeaseNotPresentWithContainerOperation: 'There is currently no lease on the {container}.',
  LeaseNotPresentWithFileOperation: 'There is currently no lease on the {file}.',
  LeaseNotPresentWithLeaseOperation: 'There is currently no lease on the {blob}.',

  // Copies, of blobs and files
  CannotVerifyCopySource:
    'Could not verify the copy source within the specified time. Examine the HTTP status code and message for more information about the failure.',
  CopyAcrossAccountsNotSupported: 'The copy source account and destination account must be the same.',
  CopyIdMismatch: 'The specified copy ID did not match the copy ID for the pending copy operation.',
  NoPendingCopyOperation: 'There is currently no pending copy operation.',
  PendingCopyOperation: 'There is currently a pending copy operation.',
  PreviousSnapshotNotFound: 'The previous snapshot is not found.',
  SourceConditionNotMet: 'The source condition specified using HTTP conditional header(s) is not met.',
  TargetConditionNotMet: 'The target condition specified using HTTP conditional header(s) is not met.',

  // Blobs
  AppendPositionConditionNotMet: 'The append position condition specified was not met.',
  BlobAccessTierNotSupportedForAccountType: 'The access tier is not supported for this account type.',
  BlobAlreadyExists: 'The specified blob already exists.',
  BlobArchived: 'This operation is not permitted on an archived blob.',
  BlobBeingRehydrated: 'This operation is not permitted because the blob is being rehydrated.',
  BlobCustomerSpecifiedEncryptionMismatch:
    'The given customer specified encryption does not match the encryption used to encrypt the blob.',
  BlobDoesNotUseCustomerSpecifiedEncryption: 'The blob is not encrypted using customer specified encryption.',
  BlobImmutableDueToLegalHold:
    'This operation is not permitted as the blob is immutable due to one or more legal holds.',
  BlobImmutableDueToPolicy: 'This operation is not permitted as the blob is immutable due to a policy.',
  BlobIsSealed:
    "The specified blob is sealed and its contents can't be modified unless the blob is re-created after a delete.",
  BlobNotArchived: 'The blob is not currently in the archived tier.',
  BlobNotFound: 'The specified blob does not exist.',
  BlobOverwritten: 'The blob has been recreated since the previous snapshot was taken.',
  BlobTierInadequateForContentLength:
    'The specified blob tier size limit cannot be less than content length.',
  BlobUsesCustomerSpecifiedEncryption:
    'The blob is encrypted with customer specified encryption, but it was not provided in the request.',
  BlockCountExceedsLimit: 'The committed block count cannot exceed the maximum limit of 50,000 blocks.',
  BlockListTooLong: 'The blocklist may not contain more than 50,000 blocks.',
  CannotChangeToLowerTier: 'A higher blob tier has already been explicitly set.',
  ContainerAlreadyExists: 'The specified container already exists.',
  ContainerBeingDeleted: 'The specified container is being deleted. Try operation later.',
  ContainerDisabled: 'The specified container has been disabled by the administrator.',
  ContainerHasLegalHold:
    'The operation is not permitted on this container because it has one or more legal holds.',
  ContainerImmutabilityPolicyLocked:
    'The operation is not permitted on this container because its immutability policy is locked.',
  ContainerNotFound: 'The specified container does not exist.',
  ContentLengthLargerThanTierLimit: "The blob's content length cannot exceed its tier limit.",
  IncrementalCopyBlobMismatch:
    'The specified source blob is different than the copy source of the existing incremental copy blob.',
  IncrementalCopyOfEarlierVersionSnapshotNotAllowed:
    'The specified snapshot is earlier than the last snapshot copied into the incremental copy blob.',
  IncrementalCopySourceMustBeSnapshot: 'The source for incremental copy request must be a snapshot.',
  InvalidBlobOrBlock: 'The specified blob or block content is invalid.',
  InvalidBlobTier: 'The specified blob tier is invalid.',
  InvalidBlobType: 'The blob type is invalid for this operation.',
  InvalidBlockId: 'The specified block ID is invalid. The block ID must be Base64-encoded.',
  InvalidBlockList: 'The specified block list is invalid.',
  InvalidOperation: 'Invalid operation against a blob snapshot.',
  InvalidPageRange: 'The page range specified is invalid.',
  InvalidSourceBlobType: 'The copy source blob type is invalid for this operation.',
  InvalidSourceBlobUrl: 'The source URL for incremental copy request must be valid Azure Storage blob URL.',
  InvalidTag: 'The tags specified are invalid. It contains characters that are not permitted.',
  InvalidVersionForPageBlobOperation: 'All operations on page blobs require at least version 2009-09-19.',
  MaxBlobSizeConditionNotMet: 'The max blob size condition specified was not met.',
  OperationNotAllowedOnIncrementalCopyBlob:
    'The specified operation is not allowed on an incremental copy blob.',
  PreviousSnapshotCannotBeNewer:
    'The prevsnapshot query parameter value cannot be newer than snapshot query parameter value.',
  PreviousSnapshotOperationNotSupported:
    'Differential Get Page Ranges is not supported on the previous snapshot.',
  RequestForbiddenByContainerEncryptionPolicy:
    'The request is forbidden by the encryption policy of the container.',
  SequenceNumberConditionNotMet: 'The sequence number condition specified was not met.',
  SequenceNumberIncrementTooLarge:
    'The sequence number increment cannot be performed because it would result in overflow of the sequence number.',
  SnapshotCountExceeded: 'The snapshot count against this blob has been exceeded.',
  SnapshotOperationRateExceeded: 'The rate of snapshot operations against this blob has been exceeded.',
  SnapshotsPresent: 'This operation is not permitted while the blob has snapshots.',
  SystemInUse: 'This blob is in use by the system.',
  TagsTooLarge: 'The tags specified exceed the maximum permissible limit.',
  UnauthorizedBlobOverwrite: 'This request is not authorized to perform blob overwrites.',

  // Queues
  InvalidMarker: 'The specified marker is invalid.',
  MessageNotFound: 'The specified message does not exist.',
  MessageTooLarge: 'The message exceeds the maximum allowed size.',
  PopReceiptMismatch: 'The specified pop receipt did not match the pop receipt for a dequeued message.',
  QueueAlreadyExists: 'The specified queue already exists.',
  QueueBeingDeleted: 'The specified queue is being deleted.',
  QueueDisabled: 'The specified queue has been disabled by the administrator.',
  QueueNotEmpty: 'The specified queue is not empty.',
  QueueNotFound: 'The specified queue does not exist.',

  // Tables
  AtomFormatNotSupported: 'Atom format is not supported.',
  CommandsInBatchActOnDifferentPartitions: 'All commands in a batch must operate on same entity group.',
  DuplicatePropertiesSpecified: 'A property is specified more than one time.',
  EntityAlreadyExists: 'The specified entity already exists.',
  EntityNotFound: 'The specified entity does not exist.',
  EntityTooLarge: 'The entity is larger than the maximum allowed size (1MB).',
  InvalidDuplicateRow:
    'The batch request contains multiple changes with same row key. An entity can appear only once in a batch request.',
  InvalidValueType: 'The value specified is invalid.',
  JsonFormatNotSupported: 'JSON format is not supported.',
  KeyValueTooLarge: 'The value of PartitionKey or RowKey exceeds the maximum allowed size.',
  MediaTypeNotSupported: 'None of the provided media types are supported',
  MethodNotAllowed: 'The requested method is not allowed on the specified resource.',
  PropertiesNeedValue: 'The values are not specified for all properties in the entity.',
  PropertyNameInvalid: 'The property name is invalid.',
  PropertyNameTooLong: 'The property name exceeds the maximum allowed length (255).',
  PropertyValueTooLarge:
    'The property value exceeds the maximum allowed size (64KB). If the property value is a string, it is UTF-16 encoded and the maximum number of characters should be 32K or less.',
  TableAlreadyExists: 'The table specified already exists.',
  TableBeingDeleted: 'The specified table is being deleted. Try operation later.',
  TableNotFound: 'The table specified does not exist.',
  TooManyProperties:
    'The entity contains more properties than allowed. Each entity can include up to 252 properties to store data. Each entity also has 3 system properties.',
  UpdateConditionNotSatisfied: 'The update condition specified in the request was not satisfied.',
  XMethodIncorrectCount: 'More than one X-HTTP-Method is specified.',
  XMethodIncorrectValue: 'The specified X-HTTP-Method is invalid.',
  XMethodNotUsingPost: 'The request uses X-HTTP-Method with an HTTP verb other than POST.',

  // Files
  CannotConvertToSddlDueToCustomAce:
    "Permissions can't be converted to SDDL due to the presence of custom ACE in the ACLs.",
  CannotDeleteFileOrDirectory:
    "An attempt has been made to remove a file or directory that can't be deleted.",
  ClientCacheFlushDelay:
    'The specified resource state could not be flushed from an SMB client in the specified time.',
  ContainerQuotaDowngradeNotAllowed:
    'Cannot downgrade quota at this moment. Please check share properties for the next allowed quota downgrade time.',
  DeleteShareWhenSnapshotLeased:
    'Unable to delete share because one or more share snapshots have active leases.',
  DirectoryNotEmpty: 'The specified directory is not empty.',
  FileGenerationMismatch: 'The file has been recreated since the previous snapshot was taken.',
  FileInvalidPermission: 'The specified file permission is not valid.',
  FileInvalidPermissionKey: 'The specified file permission key does not exist in the share.',
  FileLockConflict: 'A portion of the specified file is locked by an SMB client.',
  FileOpenBySmbClient: 'The current file is open by an SMB client.',
  FileShareProvisionedBandwidthDowngradeNotAllowed:
    'Cannot downgrade provisioned bandwidth at this moment. Please check share properties for the next allowed downgrade time.',
  FileShareProvisionedIopsDowngradeNotAllowed:
    'Cannot downgrade provisioned IOPS at this moment. Please check share properties for the next allowed downgrade time.',
  HandleLimitExceeded: 'The total number of handles opened for the file is over the limit.',
  InvalidFileOrDirectoryPathName: 'File or directory path is too long.',
  ParentNotFound: 'The specified parent path does not exist.',
  ReadOnlyAttribute: 'The specified resource is read-only and cannot be modified at this time.',
  ShareAlreadyExists: 'The specified share already exists.',
  ShareBeingDeleted: 'The specified share is being deleted. Try operation later.',
  ShareDisabled: 'The specified share is disabled by the administrator.',
  ShareHasSnapshots: 'The share has snapshots and the operation requires no snapshots.',
  ShareNotFound: 'The specified share does not exist.',
  ShareSizeLimitReached: 'The specified share has reached its size limit.',
  ShareSnapshotCountExceeded: 'The total number of snapshots for the share is over the limit.',
  ShareSnapshotInProgress: 'Another Share Snapshot operation is in progress.',
  ShareSnapshotNotFound: 'The specified share snapshot does not exist.',
  ShareSnapshotOperationNotSupported: 'The operation is not supported on a share snapshot.',
  SharingViolation: 'The specified resource may be in use by an SMB client.',
  /** The protocol writes the name its configuration gives instead: some clients know only DeletePending. */
  SMBDeletePending: 'The specified resource is marked for deletion by an SMB client.',
  DeletePending: 'The specified resource is marked for deletion by an SMB client.',
} as const satisfies Record<string, string>;

export type ErrorCode = keyof typeof errors;

/** Elements beside code and message in the body, in this order: HeaderName, QueryParameterName, Reason ... */
export type ErrorDetails = Readonly<Record<string, string>>;

/** The noun in a sentence that several resources share. */
export type LeasedResource = 'blob' | 'container' | 'file' | 'share';

export type StorageErrorOptions = Readonly<{
  details?: ErrorDetails | undefined;
  /** Said instead of the catalogue's sentence. */
  message?: string | undefined;
  resource?: LeasedResource | undefined;
  /** Only for the codes named above. */
  status?: number | undefined;
  /** Which operation of a table transaction failed, from 0; the protocol writes it before the message. */
  index?: number | undefined;
  cause?: unknown;
}>;

export class StorageError extends Error {
  /** A refusal is an answer, not a bug, and a stack costs seven times the rest. Set it to look for one. */
  static keepsStack = false;

  override readonly name = 'StorageError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  readonly status: number | undefined;
  readonly index: number | undefined;

  constructor(code: ErrorCode, options: StorageErrorOptions = {}) {
    const limit = Error.stackTraceLimit;
    if (!StorageError.keepsStack) Error.stackTraceLimit = 0;
    const cause = options.cause === undefined ? undefined : { cause: options.cause };
    super(options.message ?? messageOf(code, options.resource), cause);
    Error.stackTraceLimit = limit;
    this.code = code;
    this.details = options.details ?? {};
    this.status = options.status;
    this.index = options.index;
  }
}

/** The sentence for a code; `{blob}` becomes the resource that is named, or blob. */
export function messageOf(code: ErrorCode, resource?: LeasedResource): string {
  const text: string = errors[code];
  return text.includes('{') ? text.replace(/\{(\w+)\}/, (_, usual: string) => resource ?? usual) : text;
}

/** What a rule gave back, in an operation: its value, or its refusal thrown. */
export function orThrow<Value>(result: Result<Value, ErrorCode>, options?: StorageErrorOptions): Value {
  if (!result.ok) throw new StorageError(result.code, options);
  return result.value;
}

export function invalidHeader(name: string, value: string | undefined, message?: string): StorageError {
  return new StorageError('InvalidHeaderValue', {
    details: { HeaderName: name, HeaderValue: value ?? '' },
    message,
  });
}

export function missingHeader(name: string): StorageError {
  return new StorageError('MissingRequiredHeader', { details: { HeaderName: name } });
}

export function invalidParameter(name: string, value: string, reason?: string): StorageError {
  return new StorageError('InvalidQueryParameterValue', {
    details: {
      QueryParameterName: name,
      QueryParameterValue: value,
      ...(reason === undefined ? {} : { Reason: reason }),
    },
  });
}

export function missingParameter(name: string): StorageError {
  return new StorageError('MissingRequiredQueryParameter', { details: { QueryParameterName: name } });
}

export function parameterOutOfRange(name: string, value: string, least: number, most: number): StorageError {
  return new StorageError('OutOfRangeQueryParameterValue', {
    details: {
      QueryParameterName: name,
      QueryParameterValue: value,
      MinimumAllowed: String(least),
      MaximumAllowed: String(most),
    },
  });
}

export function invalidXml(reason: string): StorageError {
  return new StorageError('InvalidXmlDocument', { details: { Reason: reason } });
}

export function invalidXmlValue(node: string, value: string): StorageError {
  return new StorageError('InvalidXmlNodeValue', { details: { XmlNodeName: node, XmlNodeValue: value } });
}
