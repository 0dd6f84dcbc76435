#ifndef TICKERTAPE_JSON_TEXT_H
#define TICKERTAPE_JSON_TEXT_H

#include <stddef.h>
#include <stdint.h>

// The escapes of JSON strings, sixty-four bytes per step. A recorded frame is JSON within JSON. Every sixth byte of it
// is a quotation mark, so a loop over bytes spends its time on unpredictable branches.
//
// Each function handles the common case, in which `"` and `\` occur only as `\"`. It stops at anything else: the caller
// handles that itself and may call again behind it. The functions stay within the given buffers.

// The progress of a call: the number of bytes read, and the number of bytes written.
struct tickertape_progress {
    size_t read;
    size_t written;
};

// Returns the length of a prefix, often all but the last 63 bytes, with no byte below 0x20, no `"` without a `\` before
// it, and no `\` without a `"` behind it. The prefix does not end within an escape. `*escapes` becomes 1 if the prefix
// may contain one.
size_t tickertape_usual_text(const void *text, size_t count, int *escapes);

// Copies `text` without the backslashes of `\"`, up to another escape or the end. `out` must have space for `count`
// bytes.
struct tickertape_progress tickertape_unescape_quotes(const void *text, size_t count, void *out);

// Copies `text` with a backslash before each `"`, up to a byte below 0x20, a `\`, or the end. `out` must have space for
// twice `count` bytes.
struct tickertape_progress tickertape_escape_quotes(const void *text, size_t count, void *out);

#endif
