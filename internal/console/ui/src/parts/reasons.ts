// Generated from the table of internal/refusal:
// go test ./internal/console -run TestUIReasons -update
export const reasons: Record<string, { stage: string; code: number; byRule: boolean }> = {
  PARSE_ERROR: { stage: 'decoding', code: -32700, byRule: false },
  INVALID_REQUEST: { stage: 'decoding', code: -32600, byRule: false },
  METHOD_NOT_FOUND: { stage: 'decoding', code: -32601, byRule: false },
  INVALID_PARAMS: { stage: 'decoding', code: -32602, byRule: false },
  INTERNAL_ERROR: { stage: 'gateway', code: -32603, byRule: false },
  TASK_NOT_FOUND: { stage: 'ownership', code: -32001, byRule: true },
  TASK_NOT_CANCELABLE: { stage: 'decoding', code: -32002, byRule: false },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { stage: 'decoding', code: -32003, byRule: false },
  UNSUPPORTED_OPERATION: { stage: 'decoding', code: -32004, byRule: false },
  CONTENT_TYPE_NOT_SUPPORTED: { stage: 'decoding', code: -32005, byRule: false },
  INVALID_AGENT_RESPONSE: { stage: 'forwarding', code: -32006, byRule: false },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: { stage: 'decoding', code: -32007, byRule: false },
  EXTENSION_SUPPORT_REQUIRED: { stage: 'negotiation', code: -32008, byRule: false },
  VERSION_NOT_SUPPORTED: { stage: 'negotiation', code: -32009, byRule: false },
  UNAUTHENTICATED: { stage: 'authentication', code: -31401, byRule: true },
  UNAUTHORIZED: { stage: 'policy', code: -31403, byRule: true },
  AGENT_NOT_FOUND: { stage: 'routing', code: -32601, byRule: true },
  DUPLICATE_MESSAGE: { stage: 'ownership', code: -32602, byRule: true },
  MALFORMED_REQUEST: { stage: 'decoding', code: -32600, byRule: false },
  MISDIRECTED_REQUEST: { stage: 'routing', code: -32600, byRule: true },
  METHOD_NOT_ALLOWED: { stage: 'routing', code: -32600, byRule: true },
  REQUEST_TOO_LARGE: { stage: 'decoding', code: -32600, byRule: false },
  URI_TOO_LONG: { stage: 'decoding', code: -32600, byRule: false },
  HEADER_FIELDS_TOO_LARGE: { stage: 'decoding', code: -32600, byRule: false },
  CONTENT_ENCODING_NOT_SUPPORTED: { stage: 'decoding', code: -32600, byRule: false },
  PAYMENT_REQUIRED: { stage: 'decoding', code: -32603, byRule: false },
  RATE_LIMITED: { stage: 'limits', code: -32603, byRule: false },
  LOOP_DETECTED: { stage: 'routing', code: -32603, byRule: true },
  UNAVAILABLE: { stage: 'forwarding', code: -32603, byRule: false },
  OUTCOME_UNKNOWN: { stage: 'forwarding', code: -32603, byRule: false },
  AGENT_TIMEOUT: { stage: 'forwarding', code: -32603, byRule: false },
};

// stages are those of the request path that can refuse a call, in their order.
export const stages = ['routing', 'authentication', 'decoding', 'ownership', 'policy', 'limits', 'negotiation', 'forwarding', 'gateway'] as const;
