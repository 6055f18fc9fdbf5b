// Detection of network errors in the messages of failed programs.

const NETWORK_WORDS =
  /connection error|connection (was )?(refused|reset|closed|timed out)|network (error|is unreachable|request failed)|request timed out|unable to connect|could ?n['o]t (connect|resolve)|fetch failed|socket hang up|\b(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN)\b/i;
/** Errors of the model's service itself, which count as unreachable. */
const SERVICE_WORDS = /API Error:.*(\b5\d\d\b|overloaded)/i;

export function isNetworkError(words: string): boolean {
  return NETWORK_WORDS.test(words) || SERVICE_WORDS.test(words);
}
